"""A run is packed byte for byte: whatever is read of it is the same, before and after."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.unit.publication.conftest import KEPT, recorded
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.errors import RecordError
from steelyard.records import compaction
from steelyard.records.archive import Run, open_run
from steelyard.records.compaction import compact
from steelyard.records.deletion import delete_spare
from steelyard.records.events import AttemptFinished, AttemptStarted
from steelyard.records.files.packed import PACKED, packed_bytes, packed_files, read_all_packed
from steelyard.records.ledger import Ledger
from steelyard.report.from_run import find


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return recorded(tmp_path / "own")


def folders(run: Run) -> list[str]:
    return sorted(path.name for path in (run.path / "trials").iterdir())


def all_bytes(run: Run) -> dict[str, dict[str, bytes]]:
    """Of every file of every attempt, wherever it lies."""
    found: dict[str, dict[str, bytes]] = {}
    for path in packed_files(run.path):
        found |= read_all_packed(path)
    for folder in (run.path / "trials").iterdir():
        found[folder.name] = {path.name: path.read_bytes() for path in folder.iterdir()}
    return found


def everything(run: Run) -> list[object]:
    samples = [(each.attempt, each.machine, dict(each.counters.columns))
               for each in run.samples()]  # fmt: skip
    return [run.records(), list(run.loads()), samples,
            run.attempt_keys()]  # fmt: skip


@pytest.mark.parametrize("most_bytes", [1, 200_000, compaction.MOST_BYTES])
def test_all_that_is_read_of_a_run_is_the_same_packed(run: Run, most_bytes: int) -> None:
    before, stored = everything(run), all_bytes(run)
    done = compact(run, most_bytes)
    assert done.attempts == len(stored) == 12
    assert folders(run) == []
    assert (len(packed_files(run.path)) == 1) is (most_bytes == compaction.MOST_BYTES)
    assert all_bytes(run) == stored
    assert everything(run) == before


def test_findings_are_the_same_field_by_field(run: Run) -> None:
    before = find(run).model_dump()
    compact(run)
    after = find(run).model_dump()
    assert list(after) == list(before)
    for field, value in before.items():
        assert after[field] == value, field


def test_a_run_without_checksums_is_packed_as_it_is(tmp_path: Path) -> None:
    run = open_run(Path(shutil.copytree(KEPT, tmp_path / "run")))
    before = everything(run)
    compact(run)
    assert everything(run) == before


def test_a_packed_run_takes_a_fraction_and_a_second_call_changes_nothing(run: Run) -> None:
    done = compact(run)
    assert done.bytes_after < done.bytes_before / 2
    before = [path.read_bytes() for path in packed_files(run.path)]
    assert compact(run).attempts == 0
    assert [path.read_bytes() for path in packed_files(run.path)] == before


def test_attempts_that_come_later_are_read_in_their_order(run: Run, tmp_path: Path) -> None:
    before = everything(run)
    for key in ("0005-1", "0011-1"):
        shutil.move(run.path / "trials" / key, tmp_path / key)
    with pytest.raises(RecordError):
        compact(run)
    for key in ("0005-1", "0011-1"):
        shutil.move(tmp_path / key, run.path / "trials" / key)
    compact(run)
    record = run.records()[4].model_copy(update={"attempt": 2})
    with Ledger(run.ledger_path) as ledger:
        ledger.append(AttemptStarted(trial=5, attempt=2))
        run.write_attempt(record, documents={}, samples={})
        ledger.append(AttemptFinished(trial=5, attempt=2, outcome=record.outcome))
    records = run.records()
    assert [(r.trial, r.attempt) for r in records][4:6] == [(5, 1), (5, 2)]
    assert compact(run).attempts == 1
    assert run.records() == records
    assert run.records()[:5] == before[0][:5]  # type: ignore[index]


def test_what_a_crash_left_in_both_places_is_read_once_and_then_deleted(
    run: Run, tmp_path: Path
) -> None:
    shutil.copytree(run.path / "trials" / "0002-1", tmp_path / "0002-1")
    before = everything(run)
    compact(run)
    shutil.copytree(tmp_path / "0002-1", run.path / "trials" / "0002-1")
    shutil.copytree(tmp_path / "0002-1", run.path / "trials" / ".new-0003-1")
    assert everything(run) == before
    assert compact(run).attempts == 0
    assert (folders(run), everything(run)) == ([], before)


def test_a_folder_that_is_not_what_is_packed_of_it_is_kept(run: Run, tmp_path: Path) -> None:
    shutil.copytree(run.path / "trials" / "0002-1", tmp_path / "0002-1")
    (tmp_path / "0002-1" / "more.txt").write_text("more")
    compact(run)
    shutil.copytree(tmp_path / "0002-1", run.path / "trials" / "0002-1")
    with pytest.raises(RecordError) as refused:
        compact(run)
    assert refused.value.slug == "record-is-damaged"
    assert folders(run) == ["0002-1"]


def test_nothing_is_deleted_that_cannot_be_read_back(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "steelyard.records.compaction.packed_bytes",
        lambda attempts: packed_bytes(dict(list(attempts.items())[1:])),
    )
    with pytest.raises(RecordError) as refused:
        compact(run)
    assert "not what was packed" in refused.value.message
    assert len(folders(run)) == 12
    assert packed_files(run.path) == []


def _flipped(data: bytes) -> bytes:
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 0xFF]) + data[middle + 1 :]


@pytest.mark.parametrize(
    "fault", [lambda data: data[:-100], _flipped, lambda _: b"", lambda _: b"x" * 1000]
)
def test_damage_to_what_is_packed_is_named(run: Run, fault: Callable[[bytes], bytes]) -> None:
    compact(run)
    (path,) = packed_files(run.path)
    path.write_bytes(fault(path.read_bytes()))
    with pytest.raises(RecordError) as refused:
        everything(run)
        assert not list(run.samples(pytest.fail))
    assert refused.value.slug == "record-is-damaged"
    assert PACKED in refused.value.message


def packed_with_another(run: Run, begin: str) -> str:
    """The name of a file of an attempt that has the bytes of another; those of the table fit it."""
    compact(run)
    (path,) = packed_files(run.path)
    attempts = read_all_packed(path)
    files = [(key, name) for key, of in attempts.items() for name in of if name.startswith(begin)]
    (key, name), (other, of_other), *_ = sorted(files)
    attempts[key][name] = attempts[other][of_other]
    path.write_bytes(packed_bytes(attempts))
    return f"{key}/{name}"


@pytest.mark.parametrize("begin", ["record", "load"])
def test_bytes_that_do_not_fit_the_checksums_of_their_attempt_are_named(
    run: Run, begin: str
) -> None:
    name = packed_with_another(run, begin)
    with pytest.raises(RecordError, match=f"{name} is not what was written: .*SHA256SUMS"):
        everything(run)


def test_samples_that_do_not_fit_the_checksums_of_their_attempt_are_left_out(run: Run) -> None:
    before = len(list(run.samples()))
    name = packed_with_another(run, "samples")
    damaged: list[str] = []
    assert len(list(run.samples(damaged.append))) == before - 1
    assert damaged == [name]


def test_a_file_of_packed_that_is_missing_or_of_another_table_is_named(run: Run) -> None:
    compact(run)
    (path,) = packed_files(run.path)
    path.rename(path.with_name("away"))
    with pytest.raises(RecordError):
        run.records()
    pl.DataFrame({"attempt": [1], "name": ["x"]}).write_parquet(path)
    with pytest.raises(RecordError):
        run.records()


def test_a_damaged_run_is_not_packed(run: Run) -> None:
    (run.path / "trials" / "0003-1" / "record.json").write_text("{}")
    with pytest.raises(RecordError):
        compact(run)
    assert len(folders(run)) == 12


def test_a_run_that_is_being_measured_is_not_packed(run: Run) -> None:
    with Ledger(run.ledger_path), pytest.raises(RecordError) as refused:
        compact(run)
    assert refused.value.slug == "run-is-in-use"


def test_what_was_deleted_before_stays_deleted(run: Run) -> None:
    delete_spare(run)
    before = find(run)
    compact(run)
    assert find(run) == before


def test_the_command_says_the_sizes_and_the_list_counts_packed_trials(run: Run) -> None:
    done = CliRunner().invoke(app, ["compact", str(run.path), "--json"])
    assert done.exit_code == 0, done.output
    listed = CliRunner().invoke(app, ["runs", "--results", str(run.path.parents[1]), "--json"])
    assert '"trials": 12' in listed.stdout
