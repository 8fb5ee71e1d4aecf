"""``steelyard runs``: the list, and deleting what no verdict reads; never a run in use."""

from __future__ import annotations

import fcntl
import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.unit.imports.test_importing import HYPERFINE
from tests.unit.web.conftest import KEY, LOOK, STUDY, add_run
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.cli.runs import deleting
from steelyard.cli.runs.command import STATES
from steelyard.errors import RecordError
from steelyard.queue.answers import QueueState
from steelyard.records.archive import Run
from steelyard.records.deletion import delete_spare, delete_whole
from steelyard.records.events import SessionEnd
from steelyard.report.from_run import find

OPENED = {"event": "session_opened", "at_unix_ns": 1}
CLOSED = {"event": "session_closed", "at_unix_ns": 9, "reason": "decided"}
NOW_NS = time.time_ns()


@pytest.fixture
def results(tmp_path: Path) -> Path:
    folder = tmp_path / "results"
    add_run(folder, KEY)
    add_run(folder, "web/new", study="web", created_unix_ns=NOW_NS, events=[OPENED, LOOK, CLOSED])
    add_run(folder, "web/killed", study="web", created_unix_ns=NOW_NS - 1, events=[OPENED])
    return folder


def asked(results: Path, *words: str, code: int = 0) -> tuple[str, str]:
    words = ("runs", "--results", str(results), *words)
    ended = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
    assert ended.exit_code == code, ended.output
    return ended.stdout, ended.stderr


def listed(results: Path, *words: str) -> list[str]:
    return [run["run"] for run in document(results, *words)["runs"]]


def document(results: Path, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(asked(results, "--json", *words)[0])
    return found


def test_a_row_says_state_trials_words_and_size(results: Path) -> None:
    run = next(each for each in document(results)["runs"] if each["run"] == "web/new")
    trials = len([*(results / "web" / "new" / "trials").iterdir()])
    assert (run["status"], run["words"], run["trials"]) == ("decided", ["slower"], trials)
    assert run["size_bytes"] >= (results / "web" / "new" / "plan.json").stat().st_size
    assert "web/new" in asked(results)[0]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ((), ["web/new", "web/killed", KEY]),
        (("--reverse",), [KEY, "web/killed", "web/new"]),
        (("--study", "web"), ["web/new", "web/killed"]),
        (("--study", STUDY, "--study", "web"), ["web/new", "web/killed", KEY]),
        (("--study", "web", "--state", "open"), ["web/killed"]),
        (("--study", "web", "--verdict", "slower"), ["web/new"]),
        (("--newer", "1 h"), ["web/new", "web/killed"]),
        (("--newer", "1 h", "--older", "1 h"), []),
        (("--sort", "study"), [KEY, "web/new", "web/killed"]),
        (("--study", "web", "--sort", "state"), ["web/new", "web/killed"]),
    ],
)
def test_the_list_is_filtered_and_sorted(
    results: Path, words: tuple[str, ...], found: list[str]
) -> None:
    assert listed(results, *words) == found


def test_an_import_has_its_trials_and_the_words_of_its_report(tmp_path: Path) -> None:
    results = tmp_path / "results"
    words = ("import", "hyperfine", str(HYPERFINE), "--as", "system=one,two", "--format", "json")
    done = CliRunner().invoke(app, [*words, "--results", str(results)])
    assert done.exit_code == 0, done.output
    (row,) = document(results)["runs"]
    assert (row["status"], row["trials"], len(row["words"])) == ("imported", 20, 1)
    assert row["said"].startswith(f"two against one: {row['words'][0].replace('_', ' ')}, ")
    assert row["lead"]["low_log"] < row["lead"]["estimate_log"] < row["lead"]["high_log"]
    assert row["comparisons_decided"] + row["comparisons_open"] == 1


def test_the_largest_comes_first_by_size(results: Path) -> None:
    (results / "web" / "killed" / "trials" / "0001-1" / "stdout.txt").write_bytes(b"x" * 2**20)
    assert listed(results, "--sort", "size")[0] == "web/killed"


def test_every_state_of_a_run_and_of_a_job_can_be_asked_for() -> None:
    assert {*get_args(SessionEnd), *get_args(QueueState)} < {*STATES}
    assert {*STATES} <= {word.strip(",;") for word in asked(Path(), "--help")[0].split()}


def test_what_is_no_run_is_named_and_skipped(results: Path) -> None:
    (results / "notes.txt").write_text("mine")
    (results / "web" / "torn").mkdir()
    (results / "web" / "torn" / "run.json").write_text('{"schema_version": 2, "to')
    newer = add_run(results, "web/newer")
    facts = json.loads((newer / "run.json").read_text())
    (newer / "run.json").write_text(json.dumps({**facts, "schema_version": 9}))
    skipped = {each["place"] for each in document(results)["skipped"]}
    assert skipped == {"notes.txt", "web/torn", "web/newer"}
    assert all(place in asked(results)[1] for place in skipped)


@pytest.mark.parametrize(
    "words", [("--sort", "colour"), ("--older", "tomorrow"), ("--state", "foo")]
)
def test_a_wrong_word_is_refused(results: Path, words: tuple[str, ...]) -> None:
    asked(results, *words, code=2)


def test_a_report_without_samples_has_the_same_verdicts_and_says_what_was_deleted(
    results: Path,
) -> None:
    run = Run(results / KEY)
    for attempt in (run.path / "trials").iterdir():
        _with_sums(attempt)
    before = find(run)
    out, _ = asked(results, "delete", KEY, "--yes", "--json")
    assert json.loads(out)[0]["freed_bytes"] > 0
    after = find(run)
    kinds = {note.kind for note in after.caveats}
    assert "samples_deleted" in kinds
    assert "samples_damaged" not in kinds
    assert [own.verdicts for own in after.workloads] == [own.verdicts for own in before.workloads]
    assert [*run.path.glob("trials/*/samples*")] == []


def _with_sums(attempt: Path) -> None:
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n"
             for file in sorted(attempt.iterdir())]  # fmt: skip
    (attempt / "SHA256SUMS").write_text("".join(lines))


def test_scratch_files_go_and_a_link_in_them_is_not_followed(results: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "kept.txt").write_text("kept")
    scratch = results / KEY / "scratch"
    scratch.mkdir()
    (scratch / "link").symlink_to(mine)
    delete_spare(Run(results / KEY))
    assert not scratch.exists()
    assert (mine / "kept.txt").read_text() == "kept"


def test_all_deletes_the_run_and_no_other(results: Path) -> None:
    asked(results, "delete", "web/killed", "--all", "--yes")
    assert listed(results) == ["web/new", KEY]
    assert [each.name for each in (results / "web").iterdir()] == ["new"]


@pytest.mark.parametrize("delete", [delete_spare, delete_whole])
def test_a_run_that_is_being_measured_is_kept(results: Path, delete: Callable[[Run], int]) -> None:
    run = Run(results / KEY)
    before = sorted(run.path.rglob("*"))
    with run.ledger_path.open("rb") as ledger:
        fcntl.flock(ledger, fcntl.LOCK_EX)
        with pytest.raises(RecordError) as refused:
            delete(run)
    assert refused.value.slug == "run-is-in-use"
    assert sorted(run.path.rglob("*")) == before


def test_a_run_with_changes_to_undo_is_kept_with_its_ledger(results: Path) -> None:
    planned = {"event": "undo_planned", "at_unix_ns": 2, "undo": 1, "host": "system",
               "removes": None, "inverse": {"kind": "remove_tree", "path": "/run/x"}}  # fmt: skip
    run = add_run(results, "web/left", events=[OPENED, planned])
    _, said = asked(results, "delete", "web/left", "--all", "--yes", code=3)
    assert "#run-left-changes" in said
    assert (run / "ledger.jsonl").exists()
    with (run / "ledger.jsonl").open("rb") as ledger:  # the session that made them goes on
        fcntl.flock(ledger, fcntl.LOCK_EX)
        assert "#run-is-in-use" in asked(results, "delete", "web/left", "--all", "--yes", code=3)[1]


def test_nothing_is_deleted_where_one_of_the_names_is_no_run(results: Path) -> None:
    asked(results, "delete", KEY, "web", "--all", "--yes", code=3)
    asked(results, "delete", KEY, "web/none", "--all", "--yes", code=3)
    (results / "web" / "link").symlink_to(results / KEY)
    asked(results, "delete", KEY, "web/link", "--all", "--yes", code=3)
    assert len(listed(results)) == 3


def test_without_a_terminal_it_asks_for_yes(results: Path) -> None:
    asked(results, "delete", KEY, "--all", code=2)
    assert KEY in listed(results)


@pytest.mark.parametrize(("answer", "left"), [("y\n", 2), ("n\n", 3)])
def test_a_terminal_is_asked(
    results: Path, monkeypatch: pytest.MonkeyPatch, answer: str, left: int
) -> None:
    monkeypatch.setattr(deleting, "_can_answer", lambda: True)
    words = ["runs", "delete", KEY, "--all", "--results", str(results)]
    assert CliRunner().invoke(app, words, input=answer).exit_code == 0
    assert len(listed(results)) == left
