"""From a study file to a report, with the real engine."""

from __future__ import annotations

import json
import shutil
import signal
import time

from steelyard.records.archive import open_run
from steelyard.records.events import AttemptFinished, MachineLeased, Undone, UndoPlanned
from steelyard.report.kept import SAID
from tests.integration.conftest import (
    LONGEST_S,
    Finished,
    Steelyard,
    assert_each_ended_well,
)


def test_a_study_runs_to_its_report_and_leaves_only_results(finished: Finished) -> None:
    run = open_run(finished.folder / "results" / "tiny")
    assert_each_ended_well(run.records())
    assert {path.name for path in finished.folder.iterdir()} == {"study.yaml", "results"}
    assert not (run.path / "scratch").exists()
    assert "report: " in finished.done.stdout.splitlines()[-1]
    assert (run.report_path / "report.html").is_file()


def test_a_session_keeps_its_agents_and_its_lease_until_its_end(finished: Finished) -> None:
    events = open_run(finished.folder / "results" / "tiny").events()
    assert [type(event) for event in events].count(MachineLeased) == 1
    agent = next(e.undo for e in events if isinstance(e, UndoPlanned) and is_agent(e))
    ended = next(n for n, e in enumerate(events) if isinstance(e, Undone) and e.undo == agent)
    last = max(n for n, event in enumerate(events) if isinstance(event, AttemptFinished))
    assert ended > last, "the session undid what it had just planned"


def is_agent(event: UndoPlanned) -> bool:
    return event.inverse["kind"] == "end_process" and event.inverse["what"] == "agent"


def test_every_trial_keeps_raw_output_series_and_facts(finished: Finished) -> None:
    run = open_run(finished.folder / "results" / "tiny")
    series = {each.attempt: each.counters for each in run.samples() if each.machine == "system"}
    for record in run.records():
        folder = run.path / "trials" / f"{record.trial:04d}-{record.attempt}"
        load = json.loads((folder / "load.json").read_text(encoding="utf-8"))
        counts = load["counts"]
        assert counts["sent"] == counts["ok"] + counts["errors"] + counts["inflight_at_stop"]
        assert counts["intended"] == counts["unsent"] + counts["sent"]
        assert len(series[folder.name]) >= 2
        assert record.facts["system"]["service.use"] == "sink-smtp"
        assert record.facts["system"]["kernel.release"]


def test_the_report_can_be_made_again_from_the_records_alone(
    after_a_run: Steelyard, finished: Finished
) -> None:
    (run,) = (after_a_run.folder / "results" / "tiny").iterdir()
    shutil.rmtree(run / "report")
    again = after_a_run.run("report", "results/tiny", "--format", "html,md,csv,json")
    assert again.returncode == 0, again.stderr
    verdicts = [
        line for line in finished.done.stdout.splitlines() if not line.startswith("report: ")
    ]
    assert again.stdout.splitlines()[: len(verdicts)] == verdicts
    assert again.stdout.count("report: ") >= 4
    assert SAID not in again.stdout


def test_a_report_after_a_run_is_drawn_from_its_findings(after_a_run: Steelyard) -> None:
    again = after_a_run.run("report", "results/tiny", "--format", "md")
    assert again.returncode == 0, again.stderr
    assert again.stdout.splitlines()[-1] == SAID


def test_ctrl_c_marks_the_attempt_undoes_everything_and_offers_resume(
    steelyard: Steelyard,
) -> None:
    process = steelyard.start("run", ".")
    trials = steelyard.folder / "results" / "tiny"
    while process.poll() is None and not list(trials.glob("*/trials/0002-1")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 130, stderr
    assert "steelyard resume results/tiny/" in stderr
    run = open_run(trials)
    assert not (run.path / "scratch").exists()
    assert run.events()[-1].reason == "interrupted"
    resumed = steelyard.run("resume", "results/tiny")
    assert resumed.returncode == 0, resumed.stderr
    assert "recorded already" in resumed.stderr
    assert stdout is not None


def test_two_controllers_on_one_run_are_refused(steelyard: Steelyard) -> None:
    process = steelyard.start("run", ".")
    trials = steelyard.folder / "results" / "tiny"
    while process.poll() is None and not list(trials.glob("*/trials/0001-1")):
        time.sleep(0.01)
    process.send_signal(signal.SIGSTOP)  # or it may have ended before the second looks
    try:
        second = steelyard.run("resume", "results/tiny")
    finally:
        process.send_signal(signal.SIGCONT)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=LONGEST_S)
    assert second.returncode == 3
    assert "is being written by another steelyard" in second.stderr


def test_a_finished_run_is_not_measured_again_by_resume(after_a_run: Steelyard) -> None:
    run = open_run(after_a_run.folder / "results" / "tiny")
    before = [record.trial for record in run.records()]
    done = after_a_run.run("resume", "results/tiny")
    assert done.returncode == 0, done.stderr
    assert [record.trial for record in run.records()] == before
