"""Commands over the run of several machines, and over that of one of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.several_machines import NAMES, machines_run
from typer.testing import CliRunner

from steelyard.cli.main import app
from steelyard.cli.planning.committing import tell_commitment
from steelyard.cli.session.measure import write_reports
from steelyard.judge.kinds.caveats import MachineMissing, WarnedTrials
from steelyard.judge.machines.missing import missing_machines
from steelyard.records.archive import Run, open_run
from steelyard.records.events import MachineLeft, SessionClosed, UndoPlanned
from steelyard.records.warnings import TrialWarning, WarningKind
from steelyard.report.formats.registry import FORMATS
from steelyard.report.from_run import find, stored


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Which no test changes."""
    return machines_run(tmp_path_factory.mktemp("several") / "results")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return machines_run(tmp_path / "results")


def asked(*words: object, code: int = 0) -> str:
    """What was said on both streams."""
    ended = CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})
    assert ended.exit_code == code, ended.output
    return ended.output


def test_every_form_that_needs_no_other_program_is_written_of_all_machines(
    kept: Run, tmp_path: Path
) -> None:
    forms = [name for name, form in FORMATS.items() if form.missing() is None]
    asked("report", kept.path, "--format", ",".join(forms), "--to", tmp_path)
    assert all((tmp_path / FORMATS[name].file).is_file() for name in forms)
    for name in NAMES:
        assert name in (tmp_path / FORMATS["tex"].file).read_text(encoding="utf-8")


def test_a_session_of_one_machine_writes_the_report_of_all_anew(run: Run) -> None:
    part = run.machines()[NAMES[1]]
    found = write_reports(part, ("md",))
    assert found == find(part)
    assert found == stored(part.report_path / "findings.json")
    assert stored(run.report_path / "findings.json") == find(run)
    assert (run.report_path / FORMATS["md"].file).is_file()


@pytest.mark.parametrize("of_one", [False, True])
@pytest.mark.parametrize("command", ["report", "publish"])
def test_nothing_is_anonymous_that_tells_machines_apart_by_name(
    kept: Run, tmp_path: Path, command: str, of_one: bool
) -> None:
    path = kept.path / "machines" / NAMES[0] if of_one else kept.path
    said = asked(command, path, "--anonymous", "--to", tmp_path / "new", code=3)
    assert "#run-of-several-machines" in said
    assert not (tmp_path / "new").exists()


def test_the_run_of_one_machine_is_published_and_verified_and_that_of_all_is_refused(
    kept: Run, tmp_path: Path
) -> None:
    assert "#run-of-several-machines" in asked("publish", kept.path, "--to", tmp_path / "x", code=3)
    asked("publish", kept.path / "machines" / NAMES[1], "--to", tmp_path / "published")
    found = json.loads(asked("verify", tmp_path / "published", "--json"))
    assert {check["state"] for check in found["checks"]} == {"ok"}
    assert "#not-a-publication" in asked("verify", kept.path, code=3)


def test_all_parts_are_packed_at_once_and_say_the_same(run: Run) -> None:
    before = find(run)
    packed = json.loads(asked("compact", run.path, "--json"))
    assert packed["attempts"] == 48
    assert not list(run.path.glob("machines/*/trials/*"))
    assert find(run) == before


def test_the_folder_of_machines_is_taken_for_the_run_of_all(kept: Run) -> None:
    assert open_run(kept.path / "machines") == kept


def test_the_commitment_of_each_machine_is_said_after_its_name(
    kept: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, part in kept.machines().items():
        tell_commitment(part)
        made = part.commitment()
        assert made is not None
        assert capsys.readouterr().err == f"{name}: commitment: {made.digest}\n"


def test_query_names_the_run_of_each_machine_and_runs_lists_the_whole(kept: Run) -> None:
    results = kept.path.parents[1]
    rows = asked("query", "select run, count(*) from trials group by run order by run", results)
    assert rows.splitlines()[1:] == [f"{kept.name}/machines/{name},16" for name in sorted(NAMES)]
    listed = json.loads(asked("runs", "--results", results, "--json"))["runs"]
    assert [(row["run"], row["trials"]) for row in listed] == [(kept.key, 48)]


def test_a_run_is_kept_whose_machines_have_changes_to_undo(tmp_path: Path) -> None:
    inverse = {"kind": "remove_tree", "path": "/run/x"}
    left = UndoPlanned(undo=1, host=f"ssh://{NAMES[1]}", inverse=inverse)  # type: ignore[arg-type]
    run = machines_run(tmp_path / "results", {NAMES[1]: (left,)})
    said = asked("runs", "delete", run.path, "--all", "--yes", code=3)
    assert "#run-left-changes" in said
    assert run.has_machines


def test_a_part_is_not_deleted_by_itself(run: Run) -> None:
    part = run.machines()[NAMES[0]]
    said = asked("runs", "delete", part.path, "--all", "--yes", code=3)
    assert "#run-of-several-machines" in said
    asked("runs", "delete", part.path, "--yes")
    assert find(run).stop.trials_done == 48
    asked("runs", "delete", run.path, "--all", "--yes")
    assert not run.path.exists()


def test_a_machine_that_has_left_is_missing_until_the_last_event_of_the_others(
    tmp_path: Path,
) -> None:
    left = MachineLeft(message="ssh://two.example cannot be reached: timed out\nits last words")
    run = machines_run(tmp_path / "results", {NAMES[1]: (left,)})
    (missing,) = (each for each in find(run).caveats if isinstance(each, MachineMissing))
    last_ns = run.machines()[NAMES[2]].events()[-1].at_unix_ns
    assert missing.missing_s == pytest.approx((last_ns - left.at_unix_ns) / 1e9)
    assert (missing.machine, missing.visits, missing.visits_most) == (NAMES[1], 16, 16)
    assert missing.error.endswith("timed out")
    assert find(run).stop.reason == "interrupted"
    assert f"{NAMES[1]} is missing" in asked("report", run.path, "--to", tmp_path / "report")


def test_a_machine_is_not_missing_for_less_than_no_time_where_a_clock_was_set_back() -> None:
    left = MachineLeft(at_unix_ns=9 * 10**9, message="gone")
    closed = SessionClosed(at_unix_ns=4 * 10**9, reason="interrupted")
    (missing,) = missing_machines({"one": (left, closed), "two": (closed,)}, {"one": 3, "two": 5})
    assert missing.missing_s == 0


def test_a_caveat_names_the_machines_that_it_is_about_unless_it_is_about_all(
    tmp_path: Path,
) -> None:
    steal = TrialWarning(kind=WarningKind.STEAL, figures={"machine": "system", "steal_ratio": 0.2})
    swap = TrialWarning(kind=WarningKind.SWAPPED, figures={"machine": "system"})
    warned = {NAMES[0]: swap, NAMES[1]: steal, NAMES[2]: steal}
    run = machines_run(tmp_path / "results", warned=warned)
    (own,) = find(run).workloads
    on = {each.warning: each.on for each in own.caveats if isinstance(each, WarnedTrials)}
    assert on == {"steal": NAMES[1:], "swapped": NAMES[:1]}
    assert {each.on for each in own.caveats if not isinstance(each, WarnedTrials)} == {()}
    asked("report", run.path, "--format", "json,md", "--to", tmp_path / "report")
    kept = json.loads((tmp_path / "report" / "findings.json").read_text("utf-8"))
    told = [each for each in kept["workloads"][0]["caveats"] if "on" in each]
    assert [each["text"].partition(": ")[0] for each in told] == [
        ", ".join(each["on"]) for each in told
    ]
    page = (tmp_path / "report" / "report.md").read_text("utf-8")
    assert all(each["text"] in page for each in told)
    assert stored(tmp_path / "report" / "findings.json").workloads[0].caveats == own.caveats
    (part,) = find(run.machines()[NAMES[0]]).workloads
    assert {each.on for each in part.caveats} == {()}, "its own report is about it anyway"
