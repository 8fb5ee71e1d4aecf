"""Which runs a folder holds: foreign, torn, newer and huge files are named and skipped."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest
from tests.unit.several_machines import NAMES, machines_run
from tests.unit.web.conftest import KEY, LOOK, STUDY, add_run

from steelyard.errors import RecordError
from steelyard.report.formats.registry import FORMATS
from steelyard.report.from_run import find
from steelyard.web.index import Index
from steelyard.web.reading import MOST_DOCUMENT_BYTES, inside, refuse_unreadable, results_folder

OPENED = {"event": "session_opened", "at_unix_ns": 1}
CLOSED = {"event": "session_closed", "at_unix_ns": 9, "reason": "decided"}


def skipped(results: Path) -> dict[str, str]:
    return {each.place: each.why for each in Index(results).listing().skipped}


def test_runs_are_found_newest_first(results: Path) -> None:
    add_run(results, "other/later", study="other", created_unix_ns=2 * 10**18)
    add_run(results, "other/earlier", study="other", created_unix_ns=10**18)
    assert [*Index(results).listing().runs] == ["other/later", KEY, "other/earlier"]


def test_what_is_no_run_is_named_and_the_rest_is_shown(results: Path, tmp_path: Path) -> None:
    (results / "notes.txt").write_text("mine")
    (results / STUDY / "plot.png").write_bytes(b"\x89PNG")
    (results / "foreign" / "data").mkdir(parents=True)
    (results / "torn" / "run").mkdir(parents=True)
    (results / "torn" / "run" / "run.json").write_text('{"schema_version": 2, "tool_')
    newer = add_run(results, "newer/run")
    document = json.loads((newer / "run.json").read_text())
    (newer / "run.json").write_text(json.dumps({**document, "schema_version": 3}))
    huge = add_run(results, "huge/run")
    os.truncate(huge / "run.json", MOST_DOCUMENT_BYTES + 1)
    deep = add_run(results, "deep/run")
    (deep / "run.json").write_text("[" * 200_000)
    pipe = add_run(results, "pipe/run")
    (pipe / "run.json").unlink()
    os.mkfifo(pipe / "run.json")
    found = skipped(results)
    assert set(found) == {
        "notes.txt", f"{STUDY}/plot.png", "foreign/data", "torn/run", "newer/run", "huge/run",
        "deep/run", "pipe/run",
    }  # fmt: skip
    assert "schema version 3" in found["newer/run"]
    assert str(MOST_DOCUMENT_BYTES + 1)[-3:] in found["huge/run"]
    assert [*Index(results).listing().runs] == [KEY]
    assert str(tmp_path) not in " ".join(found.values())


@pytest.mark.parametrize("what", ["study", "run", "run.json", "ledger.jsonl"])
def test_links_that_lead_out_are_not_followed(results: Path, tmp_path: Path, what: str) -> None:
    outside = add_run(tmp_path / "outside", "secret/run", study="secret", events=[OPENED, LOOK])
    if what == "study":
        (results / "linked").symlink_to(outside.parent)
    elif what == "run":
        (results / "linked").mkdir()
        (results / "linked" / "run").symlink_to(outside)
    else:
        linked = add_run(results, "linked/run")
        (linked / what).unlink()
        (linked / what).symlink_to(outside / what)
    assert [*Index(results).listing().runs] == [KEY]
    assert len(skipped(results)) == 1


def test_a_run_is_read_again_when_its_ledger_has_grown(results: Path) -> None:
    run = add_run(results, "live/run", events=[OPENED])
    index = Index(results)
    assert index.listing().runs["live/run"].status == "open"
    with (run / "ledger.jsonl").open("a") as ledger:
        ledger.write(json.dumps(LOOK) + "\n" + json.dumps(CLOSED) + "\n")
    assert index.listing().runs["live/run"].status == "open"  # within the same second
    index.forget_when()
    found = index.listing().runs["live/run"]
    assert (found.status, found.state.visits, found.state.decided) == ("decided", 12, 1)


def test_a_run_is_running_while_a_process_holds_its_ledger(results: Path) -> None:
    run = add_run(results, "live/run", events=[OPENED])
    index = Index(results)
    with (run / "ledger.jsonl").open("rb") as ledger:
        fcntl.flock(ledger, fcntl.LOCK_EX)
        assert index.listing().runs["live/run"].status == "running"
    index.forget_when()
    assert index.listing().runs["live/run"].status == "open"


def test_looking_takes_no_lock(results: Path) -> None:
    run = add_run(results, "live/run", events=[OPENED])
    Index(results).listing()
    with (run / "ledger.jsonl").open("rb") as ledger:
        fcntl.flock(ledger, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_a_resumed_run_is_open_again(results: Path) -> None:
    add_run(results, "a/run", events=[OPENED, CLOSED, OPENED])
    assert Index(results).listing().runs["a/run"].status == "open"


def test_lines_that_are_no_events_do_not_hide_how_a_run_stands(results: Path) -> None:
    run = add_run(results, "a/run", events=[OPENED, LOOK, CLOSED])
    with (run / "ledger.jsonl").open("ab") as ledger:
        ledger.write(b'"session_\xff\n{"event":"session_closed","at_un')
    found = Index(results).listing().runs["a/run"]
    assert (found.status, found.state.visits) == ("decided", 12)


@pytest.mark.parametrize(
    "path", ["../x", "trials/../../x", "/etc/passwd", "trials//0001-1", "./run.json", "a\0b", ".."]
)
def test_no_path_leaves_a_run(results: Path, path: str) -> None:
    assert inside(results / KEY, path) is None


def test_a_link_within_a_run_leads_nowhere_outside(results: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (results / KEY / "linked").symlink_to(tmp_path / "secret")
    assert inside(results / KEY, "linked") is None
    with pytest.raises(RecordError, match="linked"):
        refuse_unreadable(results / KEY)


def test_files_of_a_run_are_found(results: Path) -> None:
    assert inside(results / KEY, "trials/0001-1/record.json") is not None
    assert inside(results / KEY, "") == results / KEY


def test_the_folder_of_a_run_and_what_is_none_are_refused(results: Path) -> None:
    for path in (results / KEY, results / "none", results / KEY / "run.json"):
        with pytest.raises(RecordError) as refused:
            results_folder(path)
        assert refused.value.slug == "no-results"


def test_a_folder_that_goes_while_it_is_served_is_named(tmp_path: Path) -> None:
    found = Index(tmp_path / "gone").listing()
    assert (found.runs, len(found.skipped)) == ({}, 1)


def test_the_verdict_on_all_machines_is_listed_until_one_of_them_is_measured_again(
    results: Path,
) -> None:
    run = machines_run(results)
    before = Index(results).listing().runs[run.key].state
    assert (before.lead, before.words) == (None, ())
    run.report_path.mkdir()
    (run.report_path / "findings.json").write_text(FORMATS["json"].text(find(run)))
    index = Index(results)
    found = index.listing().runs[run.key]
    assert found.status == "budget_visits"
    assert found.state.lead is not None
    assert (found.state.lead.other, found.state.lead.conditions) == ("300", None)
    assert (found.state.words, found.state.decided, found.state.open) == (("faster",), 4, 0)
    later = (run.report_path / "findings.json").stat().st_mtime_ns + 10**9
    os.utime(run.machines()[NAMES[1]].ledger_path, ns=(later, later))
    index.forget_when()
    assert index.listing().runs[run.key].state.lead is None
