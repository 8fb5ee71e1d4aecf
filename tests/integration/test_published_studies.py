"""``make studies-full`` on a list of tiny studies: finished, broken off, failing, not possible."""

from __future__ import annotations

import signal
import subprocess
import sys
import tarfile
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from steelyard.records.archive import Run, runs_of
from steelyard.records.events import SessionOpened
from steelyard.records.schema import Outcome
from tests.integration.conftest import LONG_STUDY, LONGEST_S, STUDY, Steelyard
from tests.integration.test_kill import finished_trials

ROOT = Path(__file__).parents[2]
COMMAND = """\
study: command
question: Do two equal commands take equally long?
systems:
  one: {platform: native}
  two: {platform: native}
workload: {command: [COMMAND]}
trials: {margin: 20 %, budget: {trials: 6 per cell}}
"""


@dataclass
class Series:
    """The studies of a folder, of which all are listed."""

    steelyard: Steelyard

    @property
    def folder(self) -> Path:
        return self.steelyard.folder

    @property
    def archive(self) -> Path:
        return self.folder / "made" / "all.tar.gz"

    def has(self, **studies: str) -> None:
        for name, text in studies.items():
            named = f"study: {name}\n{text.partition(chr(10))[2]}"
            (self.folder / f"{name}.yaml").write_text(named, encoding="utf-8")
        rows = [f"{name}: {{source: S1, study: {name}.yaml}}\n" for name in studies]
        (self.folder / "list.yaml").write_text("".join(rows), encoding="utf-8")

    def start(self, *words: str) -> subprocess.Popen[str]:
        places = {
            "--list": self.folder / "list.yaml",
            "--studies": self.folder,
            "--results": self.folder / "results",
            "--archive": self.archive,
        }
        options = [str(word) for pair in places.items() for word in pair]
        return subprocess.Popen(
            [sys.executable, "-m", "bench.published", *options, *words],
            cwd=ROOT,
            env=self.steelyard.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def ended(self, *words: str) -> tuple[int, str]:
        process = self.start(*words)
        printed, _ = process.communicate(timeout=LONGEST_S)
        return process.returncode, printed

    def the_run(self, study: str) -> Run:
        """Of a study that has one run and no more."""
        (run,) = runs_of(self.folder / "results" / study)
        return run

    def archived(self) -> set[str]:
        with tarfile.open(self.archive) as tar:
            return set(tar.getnames())


@pytest.fixture
def series(steelyard: Steelyard) -> Series:
    return Series(steelyard)


def sessions(run: Run) -> int:
    return sum(isinstance(event, SessionOpened) for event in run.events())


def test_what_is_finished_is_not_run_again_and_what_broke_off_goes_on(series: Series) -> None:
    series.has(first=STUDY, second=LONG_STUDY)
    process = series.start()
    results = series.folder / "results"
    while not list(results.glob("second/*/trials/0*")):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 130
    assert series.steelyard.wait_until_no_process() == []
    assert not series.archive.exists()
    runs = [series.the_run(name) for name in ("first", "second")]
    before = [finished_trials(run) for run in runs]
    code, printed = series.ended()
    assert code == 0, printed
    assert [sessions(series.the_run(run.path.parent.name)) for run in runs] == [1, 2]
    good = [[each.trial for each in run.records() if each.outcome is Outcome.OK] for run in runs]
    assert [len(set(each)) for each in good] == [len(each) for each in good]
    found = series.archived()
    for run, earlier in zip(runs, before, strict=True):
        assert earlier, "a trial was finished before the signal"
        name = run.path.parent.name
        assert {f"examples/{name}/findings.json", f"examples/{name}/report.md"} <= found
        assert f"runs/{run.key}/ledger.jsonl" in found
        kept = {(each.trial, each.attempt): each for each in run.records()}
        assert all(
            kept[int(key[:4]), int(key[5:])].model_dump_json(indent=1).encode() + b"\n" == raw
            for key, raw in earlier.items()
        )


def test_nothing_starts_where_one_study_lacks_something(series: Series) -> None:
    series.has(good=STUDY, lacking=COMMAND.replace("COMMAND", "no-such-program"))
    code, printed = series.ended()
    assert code == 3
    assert "no-such-program" in printed
    assert not list((series.folder / "results").glob("*/*"))
    assert not series.archive.exists()


def test_a_plan_starts_nothing_whatever_is_missing(series: Series) -> None:
    series.has(good=STUDY, lacking=COMMAND.replace("COMMAND", "no-such-program"))
    code, printed = series.ended("--dry")
    assert code == 0
    assert "no-such-program" in printed
    assert not (series.folder / "results").exists()


def test_a_study_that_fails_does_not_stop_the_others(series: Series) -> None:
    series.has(failing=COMMAND.replace("COMMAND", "'false'"), good=STUDY)
    code, printed = series.ended()
    assert code == 1, printed
    found = series.archived()
    assert "examples/good/findings.json" in found
    assert series.ended()[0] == 1
    assert [sessions(series.the_run(name)) for name in ("failing", "good")] == [1, 1]
