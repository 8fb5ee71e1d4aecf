"""What a command makes on a cluster is what it makes in one process, though workers are killed."""

from __future__ import annotations

import multiprocessing
import os
import random
import shutil
import signal
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.unit.publication.conftest import recorded
from typer.testing import CliRunner

from steelyard import cluster
from steelyard.cli.main import app
from steelyard.errors import SteelyardError
from steelyard.imports.kind import kind
from steelyard.imports.reading import read_file
from steelyard.records.archive import Run
from steelyard.report.made import Made, made

FIO = Path(__file__).parents[1] / "cases" / "imports" / "fio"


@pytest.fixture
def runs(tmp_path: Path) -> list[Run]:
    """Three of them, of which the second is damaged."""
    first = recorded(tmp_path / "results")
    others = [first.path.with_name(name) for name in ("second", "third")]
    found = [first, *(Run(Path(shutil.copytree(first.path, path))) for path in others)]
    found[1].ledger_path.unlink()
    return found


def with_kills(work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
    """The results; after each of the first two a worker is killed, in an order that is drawn."""
    found = []
    with cluster.opened("local:2") as mapped:
        workers = [each.pid for each in multiprocessing.active_children() if each.pid is not None]
        random.Random(3).shuffle(workers)
        for result in mapped(work, items):
            found.append(result)
            if workers and len(found) <= 2:
                os.kill(workers.pop(), signal.SIGKILL)
    return found


def test_reports_and_imports_are_the_same_bytes_though_workers_are_killed(runs: list[Run]) -> None:
    pytest.importorskip("distributed")
    report = partial(made, formats=("json", "md"))
    read = partial(read_file, kind_name="fio", kind=kind("fio"))
    files = sorted(FIO.glob("*.json"))[:1] * 3
    assert with_kills(read, files) == [read(path) for path in files]
    for one, run in zip(with_kills(report, runs), runs, strict=True):
        here = report(run)
        if isinstance(here, SteelyardError):
            assert isinstance(one, SteelyardError)
            assert (one.message, one.slug) == (here.message, here.slug)
        else:
            assert one == here


def test_reports_of_many_runs_are_written_and_one_that_is_damaged_is_named(
    runs: list[Run],
) -> None:
    words = ["report", *(str(run.path) for run in runs), "--format", "json"]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "300"})
    assert done.exit_code == 3
    assert "second" in done.stderr
    assert [line.partition(": ")[0] for line in done.stdout.splitlines()] == [
        runs[0].key,
        runs[2].key,
    ]
    for run in runs:
        path = run.report_path / "findings.json"
        alone = made(run, ("json",))
        assert path.is_file() == isinstance(alone, Made)
        assert not isinstance(alone, Made) or path.read_text("utf-8") == alone.files[path.name]


def test_reports_of_many_findings_are_written_beside_them(runs: list[Run], tmp_path: Path) -> None:
    alone = made(runs[0], ("json",))
    assert isinstance(alone, Made)
    files = [tmp_path / name / "findings.json" for name in ("one", "two")]
    for file in files:
        file.parent.mkdir()
        file.write_text(str(alone.files["findings.json"]), encoding="utf-8")
    files[1].write_text("{", encoding="utf-8")
    words = ["report", *map(str, files), "--format", "md"]
    done = CliRunner().invoke(app, words, env={"COLUMNS": "300"})
    assert done.exit_code == 3
    assert str(files[1]) in done.stderr
    assert [file.with_name("report.md").is_file() for file in files] == [True, False]


@pytest.mark.parametrize("word", ["--to", "--notes"])
def test_what_is_of_one_run_is_refused_for_many(runs: list[Run], tmp_path: Path, word: str) -> None:
    words = ["report", *(str(run.path) for run in runs), word, str(tmp_path)]
    assert CliRunner().invoke(app, words).exit_code == 2
