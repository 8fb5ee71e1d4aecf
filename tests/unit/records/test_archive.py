"""A run on disk: named, whole, readable, and refused when it is not."""

from __future__ import annotations

import gc
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.unit.trial.test_state import plan, record

from steelyard.errors import RecordError
from steelyard.records import archive
from steelyard.records.archive import Run, RunFacts, open_run, runs_below
from steelyard.records.counters import Counters
from steelyard.records.creation import create_run
from steelyard.records.events import AttemptFinished, AttemptStarted
from steelyard.records.files.checksums import SUMS, refuse_unlike_the_ledger
from steelyard.records.files.documents import VERSION, parsed
from steelyard.records.ledger import Ledger
from steelyard.records.schema import Outcome, TrialRecord

FACTS = RunFacts(
    tool_version="0.1.0",
    study="tiny",
    study_file="study.yaml",
    study_sha256="0",
    variant=None,
    seed=1,
    created_unix_ns=1_800_000_000 * 10**9,
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return create_run(tmp_path, FACTS, b"study: tiny\n", plan("abab"))


def write(run: Run, attempt: TrialRecord, samples: Counters | None = None) -> None:
    kept = {} if samples is None else {"samples.json.gz": samples}
    with Ledger(run.ledger_path) as ledger:
        ledger.append(AttemptStarted(trial=attempt.trial, attempt=attempt.attempt))
        run.write_attempt(attempt, documents={"load.json": b'{"latency_ns": {}}'}, samples=kept)
        ledger.append(
            AttemptFinished(trial=attempt.trial, attempt=attempt.attempt, outcome=attempt.outcome)
        )


def written_so(path: Path, text: str) -> None:
    """The file as another version would have written it, with its checksum."""
    before, sums = path.read_bytes(), path.with_name(SUMS)
    old, new = (hashlib.sha256(data).hexdigest() for data in (before, text.encode()))
    path.write_text(text)
    sums.write_text(sums.read_text().replace(old, new))


def test_a_run_is_named_by_its_time_and_a_second_one_of_that_second_is_distinguished(
    tmp_path: Path,
) -> None:
    names = [create_run(tmp_path, FACTS, b"", plan("ab")).name for _ in range(3)]
    assert names == ["2027-01-15T08-00-00Z", "2027-01-15T08-00-00Z-2", "2027-01-15T08-00-00Z-3"]


def test_what_was_written_is_read_again(run: Run) -> None:
    assert run.facts() == FACTS
    assert run.plan() == plan("abab")
    assert run.study_path.read_bytes() == b"study: tiny\n"
    assert run.events() == []
    assert run.records() == []


@pytest.mark.parametrize("collects", [True, False])
def test_a_plan_is_read_without_looking_for_cycles(
    run: Run, monkeypatch: pytest.MonkeyPatch, collects: bool
) -> None:
    meanwhile = []

    def looked(*given: Any) -> Any:
        meanwhile.append(gc.isenabled())
        return parsed(*given)

    monkeypatch.setattr(archive, "parsed", looked)
    before = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        run.planned()
        assert (meanwhile, gc.isenabled()) == ([False], collects)
    finally:
        (gc.enable if before else gc.disable)()


def test_who_opens_a_run_loads_nothing_that_computes() -> None:
    words = "import sys, steelyard.records.archive; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", words], capture_output=True, check=True).stdout
    assert not {b"numpy", b"ruamel.yaml", b"polars"} & set(loaded.split())


def test_attempts_come_back_by_trial_and_attempt_not_by_name(run: Run) -> None:
    for trial, attempt in ((10_000, 1), (2, 10), (2, 9), (1, 1)):
        write(run, record(trial, Outcome.OK, attempt))
    assert [(r.trial, r.attempt) for r in run.records()] == [(1, 1), (2, 9), (2, 10), (10_000, 1)]


def test_an_attempt_is_never_written_twice(run: Run) -> None:
    write(run, record(1, Outcome.OK))
    with pytest.raises(FileExistsError):
        write(run, record(1, Outcome.OK))


def test_a_path_that_climbs_or_has_one_name_is_the_run_itself(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(run, record(1, Outcome.OK))
    monkeypatch.chdir(run.path)
    for path in (Path(), Path("..") / run.name, run.path / ".." / run.name):
        assert Run(path).path == run.path
    monkeypatch.chdir(run.path.parent)
    assert (Run(Path(run.name)).key, len(Run(Path(run.name)).records())) == (run.key, 1)


def test_attempts_that_end_while_a_run_is_read_are_none_that_is_missing(run: Run) -> None:
    write(run, record(1, Outcome.OK))
    reading = run.each_record()
    next(reading)
    write(run, record(2, Outcome.OK))
    assert list(reading) == []


def test_an_attempt_that_begins_while_a_run_is_read_is_in_its_ledger(run: Run) -> None:
    write(run, record(1, Outcome.OK))
    write(run, record(2, Outcome.OK))
    events = run.events()
    refuse_unlike_the_ledger(run.path, events[:2], ["0001-1", "0002-1"], lambda: events)
    with pytest.raises(RecordError):
        refuse_unlike_the_ledger(run.path, events[:2], ["0001-1", "0003-1"], lambda: events)


def test_a_folder_that_a_crash_left_is_no_attempt(run: Run) -> None:
    (run.path / "trials" / ".new-0001-1").mkdir()
    assert run.records() == []


def test_series_keep_a_missing_counter_missing(run: Run) -> None:
    samples = Counters({"monotonic_ns": [1, 2], "disk.store.writes": [5, None]})
    write(run, record(1, Outcome.OK), samples)
    write(run, record(2, Outcome.SERVICE_DIED))
    seen = [(each.attempt, each.machine, list(each.counters.rows())) for each in run.samples()]
    assert seen == [("0001-1", "system", [(1, 5), (2, None)])]


def test_a_damaged_record_names_its_file_and_field(run: Run) -> None:
    write(run, record(1, Outcome.OK))
    path = run.path / "trials" / "0001-1" / "record.json"
    written_so(path, path.read_text().replace('"trial": 1', '"trial": "one"'))
    with pytest.raises(RecordError, match=r"0001-1/record\.json: trial: "):
        run.records()


def test_a_record_of_a_later_version_is_refused_with_both_versions(run: Run) -> None:
    write(run, record(1, Outcome.OK))
    path = run.path / "trials" / "0001-1" / "record.json"
    written_so(path, json.dumps(json.loads(path.read_text()) | {"schema_version": VERSION + 1}))
    with pytest.raises(RecordError) as caught:
        run.records()
    assert caught.value.slug == "record-version-unknown"
    assert str(VERSION) in caught.value.message
    assert str(VERSION + 1) in caught.value.message


@pytest.mark.parametrize("text", ['{"schema_version": 1}', "[1]", '{"schema_version": "two"}'])
def test_what_is_no_record_of_any_version_is_called_damaged(run: Run, text: str) -> None:
    write(run, record(1, Outcome.OK))
    written_so(run.path / "trials" / "0001-1" / "record.json", text)
    with pytest.raises(RecordError) as caught:
        run.records()
    assert caught.value.slug == "record-is-damaged"


def test_a_missing_plan_is_said_to_be_missing(run: Run) -> None:
    (run.path / "plan.json").unlink()
    with pytest.raises(RecordError, match=r"plan\.json is missing"):
        run.plan()


def test_the_newest_run_of_a_study_is_opened_by_the_studys_folder(tmp_path: Path) -> None:
    runs = [create_run(tmp_path, FACTS, b"", plan("ab")) for _ in range(2)]
    assert open_run(tmp_path / "tiny") == runs[-1]
    assert open_run(runs[0].path) == runs[0]


@pytest.mark.parametrize("folder", [".", "nothing-here"])
def test_a_folder_without_a_run_is_refused(tmp_path: Path, folder: str) -> None:
    with pytest.raises(RecordError, match="is not the folder of a run"):
        open_run(tmp_path / folder)


@pytest.fixture
def finished(run: Run) -> Run:
    samples = Counters({"monotonic_ns": [1, 2]})
    for trial in (1, 2, 3):
        write(run, record(trial, Outcome.OK), samples)
    return run


def read_all(run: Run) -> None:
    run.facts()
    run.plan()
    run.records()
    list(run.loads())


def flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.parametrize(
    "damage",
    [flipped, lambda data: data[: len(data) // 2], lambda _: b"", lambda data: bytes(len(data))],
    ids=["one bit", "cut", "emptied", "zeros"],
)
@pytest.mark.parametrize(
    "name", ["run.json", "plan.json", "trials/0002-1/record.json", "trials/0002-1/load.json"]
)
def test_a_file_that_is_not_what_was_written_is_named(
    finished: Run, name: str, damage: Callable[[bytes], bytes]
) -> None:
    read_all(finished)
    path = finished.path / name
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(RecordError, match=name.replace(".", r"\.")) as caught:
        read_all(finished)
    assert caught.value.slug == "record-is-damaged"


@pytest.mark.parametrize("name", ["record.json", "load.json"])
def test_a_file_that_is_gone_is_named(finished: Run, name: str) -> None:
    (finished.path / "trials" / "0002-1" / name).unlink()
    with pytest.raises(RecordError, match=f"0002-1/{name}.* is missing"):
        read_all(finished)


def test_a_trial_that_is_gone_is_named(finished: Run) -> None:
    shutil.rmtree(finished.path / "trials" / "0002-1")
    with pytest.raises(RecordError, match=r"0002-1 is missing"):
        read_all(finished)


def test_a_trial_in_the_place_of_another_is_named(finished: Run) -> None:
    shutil.rmtree(finished.path / "trials" / "0002-1")
    shutil.copytree(finished.path / "trials" / "0001-1", finished.path / "trials" / "0002-1")
    with pytest.raises(RecordError, match=r"0002-1/record\.json: it is of 0001-1"):
        read_all(finished)


@pytest.mark.parametrize("kept", range(4))
def test_a_ledger_that_was_cut_between_two_lines_is_named(finished: Run, kept: int) -> None:
    lines = finished.ledger_path.read_bytes().splitlines(keepends=True)
    finished.ledger_path.write_bytes(b"".join(lines[:kept]))
    with pytest.raises(RecordError, match=r"ledger\.jsonl"):
        read_all(finished)


@pytest.mark.parametrize("damage", [flipped, lambda _: b"", None], ids=["bit", "emptied", "gone"])
def test_samples_that_are_damaged_are_left_out_and_named(
    finished: Run, damage: Callable[[bytes], bytes] | None
) -> None:
    path = finished.path / "trials" / "0002-1" / "samples.json.gz"
    if damage is None:
        path.unlink()
    else:
        path.write_bytes(damage(path.read_bytes()))
    read_all(finished)
    damaged: list[str] = []
    assert [each.attempt for each in finished.samples(damaged.append)] == ["0001-1", "0003-1"]
    assert damaged == ["0002-1/samples.json.gz"]


def test_a_run_that_a_crash_left_unfinished_is_none(run: Run) -> None:
    run.path.rename(run.path.with_name(f".new-{run.name}"))
    with pytest.raises(RecordError, match="is not the folder of a run"):
        open_run(run.path.parent)
    assert runs_below(run.path.parent.parent) == []
