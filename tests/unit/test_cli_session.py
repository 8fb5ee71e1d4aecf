"""What a person and a program see of a session while it runs, from the events of one."""

from __future__ import annotations

import io
import json
import math
import os
import shlex
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from rich.console import Console
from tests.unit.judge import several_workloads
from tests.unit.judge.studies import a_record, a_study, measured, noisy

from steelyard.cli.console import Telling, command
from steelyard.cli.session import display, stream
from steelyard.cli.session.block import block
from steelyard.cli.session.display import Display, tell_at_once
from steelyard.cli.session.state import SessionState
from steelyard.cli.session.stream import EventStream
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.stopping.interim import Look
from steelyard.judge.verdict import look
from steelyard.plan.make import make_plan
from steelyard.records.archive import RunFacts
from steelyard.records.creation import create_run
from steelyard.records.events import SessionOpened
from steelyard.records.schema import AttemptFailure, Outcome, TrialRecord
from steelyard.records.stream import AttemptMeasured, RunPlanned, stream_adapter
from steelyard.records.warnings import TrialWarning, WarningKind
from steelyard.report.sentences.terminal.interim import size_texts
from steelyard.report.view import NONE

STUDY = a_study()
PLAN = make_plan(STUDY, 3)
VISITS = 16


@cache
def records() -> list[TrialRecord]:
    return measured(PLAN, noisy(0.5), VISITS)


@cache
def last_look() -> Look:
    return look(STUDY, PLAN, records(), sized=True)


def watched(shown: Display, **changes: object) -> None:
    """The events of a session of some visits, with a look after the last."""
    trials = {trial.trial: trial for visit in PLAN.visits for trial in visit.trials}
    shown.starts(PLAN, 0)
    shown.calibrating()
    for record in records():
        shown.attempt_starts(trials[record.trial], 1)
        shown.attempt_ends(record.model_copy(update=changes))
    shown.looked(last_look(), VISITS)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(display, "tell", lines.append)
    return lines


def screen_of(state: SessionState, height: int = 24, width: int = 80) -> list[str]:
    """The block as a terminal of this size shows it."""
    console = Console(file=io.StringIO(), force_terminal=True, width=width, color_system=None)
    with console.capture() as seen:
        console.print(block(state, height))
    return seen.get().splitlines()


def test_a_block_shows_the_trial_what_is_done_what_is_left_and_each_verdict() -> None:
    shown = Display(STUDY)
    watched(shown)
    lines = screen_of(shown.state)
    facts = {line.split()[0]: line for line in lines}
    last = records()[-1]
    assert f"trial {last.trial} (visit {last.visit}): {last.cell.system} at " in facts["now"]
    assert f"{len(records())} of {sum(len(v.trials) for v in PLAN.visits)} trials" in facts["done"]
    assert f"{VISITS} of {len(PLAN.visits)} visits" in facts["done"]
    assert facts["left"].strip().endswith("more")
    rows = lines[next(i for i, line in enumerate(lines) if line.startswith("Comparison")) + 1 :]
    words = last_look().words
    assert len(rows) == len(words) == 3
    for row, word in zip(rows, words, strict=True):
        assert word.word is VerdictWord.SLOWER
        assert word.size is not None
        assert f"{100 * math.expm1(word.size.estimate_log):+.1f} %" in row
        assert " to " in row
        assert row.split()[-1] == str(word.n_baseline + word.n_other)
    assert max(map(len, lines)) <= 80


def test_the_interval_beside_a_word_never_denies_it_also_when_later_visits_do() -> None:
    """An effect that turns: what was decided stands, with the interval that it was decided by."""
    before, after = noisy(0.5), noisy(2.0)
    visits = measured(PLAN, lambda t: (before if t.visit <= VISITS else after)(t))
    every = look(STUDY, PLAN, visits, sized=True).words
    assert {each.word for each in every} == {VerdictWord.SLOWER}
    for each in every:
        assert each.size is not None
        assert each.size.high_log is not None
        assert each.size.high_log <= 0
        texts = size_texts(each)
        assert texts is not None
        assert "+" not in texts[1]


def test_a_block_is_no_higher_than_the_screen_and_counts_what_it_leaves_out() -> None:
    study = a_study(users=tuple(range(1, 25)), per_cell=4)
    plan, state = make_plan(study, 3), SessionState(study)
    state.starts(plan, 0)
    seen = look(study, plan, [])
    state.looked(seen, 0)
    words = len(seen.words)
    lines = screen_of(state, height=20)
    assert len(lines) < 20
    left_out = words - sum(
        " users " in line or "overall" in line or "1 user " in line for line in lines
    )
    assert lines[-1].strip() == f"and {left_out} more"


def test_a_look_without_sizes_keeps_those_of_the_look_before_while_the_word_holds() -> None:
    state, seen = SessionState(STUDY), last_look()
    state.looked(seen, VISITS)
    before = state.verdicts()
    words = [replace(word, size=None, n_other=99) for word in seen.words]
    state.looked(replace(seen, words=tuple(words)), VISITS)
    assert before is not None
    assert state.verdicts() == before
    changed = [replace(word, word=VerdictWord.TRADE_OFF) for word in words]
    state.looked(replace(seen, words=tuple(changed)), VISITS)
    after = state.verdicts()
    assert after is not None
    assert {row[2:4] for row in after.rows} == {(NONE, NONE)}


def test_of_several_workloads_each_comparison_is_in_the_words_of_its_response() -> None:
    study = several_workloads.a_study()
    plan, state = make_plan(study, 3), SessionState(study)
    state.starts(plan, 0)
    seen = look(study, plan, [])
    slower = [replace(word, word=VerdictWord.SLOWER) for word in seen.words]
    state.looked(replace(seen, words=tuple(slower)), 0)
    table = state.verdicts()
    assert table is not None
    assert {row[0].split()[0].rstrip(",") for row in table.rows} >= {"cpu", "disk"}
    assert {row[1] for row in table.rows} == {"slower"}


def test_without_a_terminal_there_is_a_line_for_each_trial_and_each_look(told: list[str]) -> None:
    watched(Display(STUDY))
    trials = [line for line in told if line.startswith("trial ")]
    assert len(trials) == len(records())
    assert all(": ok, throughput " in line for line in trials)
    (looked,) = [line for line in told if line.startswith("after ")]
    assert looked.startswith(f"after {VISITS} visits: overall slower (-")
    assert "\x1b" not in "".join(told)


def test_where_nothing_is_left_no_forecast_is_made(
    told: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SessionState, "left_s", lambda _: 0.0)
    shown = Display(STUDY)
    watched(shown)
    assert not [line for line in told if "0 s" in line and line.startswith("after ")]
    assert not [line for line in screen_of(shown.state) if line.startswith("left")]


def test_a_warning_is_reported_once_by_kind_and_then_counted(told: list[str]) -> None:
    steal = TrialWarning(kind=WarningKind.STEAL, figures={"steal_ratio": 0.25})
    swapped = TrialWarning(kind=WarningKind.SWAPPED)
    shown = Display(STUDY)
    watched(shown, warnings=(steal, swapped))
    warned = [line for line in told if ": warning: " in line]
    assert len(warned) == 2
    assert "25.0%" in warned[0]
    assert dict(shown.state.warnings) == {"steal": len(records()), "swapped": len(records())}
    facts = next(line for line in screen_of(shown.state) if line.startswith("warnings"))
    assert f"steal {len(records())}, swapped {len(records())}" in facts


def test_quiet_tells_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Telling, "quiet", True)
    watched(Display(STUDY), warnings=(TrialWarning(kind=WarningKind.SWAPPED),))
    tell_at_once(1)
    assert capsys.readouterr().err == ""


@pytest.fixture
def events(tmp_path: Path) -> EventStream:
    facts = RunFacts(
        tool_version="0.1.0", study=STUDY.name, study_file="study.yaml",
        study_sha256=STUDY.sha256, variant=None, seed=3, created_unix_ns=1, command=(),
    )  # fmt: skip
    run = create_run(tmp_path / "results", facts, b"", PLAN, {})
    return EventStream(STUDY, run, "results/mail")


def test_a_program_gets_one_event_a_line(
    events: EventStream, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = Display(STUDY, None, events)
    shown.recorded(SessionOpened())
    watched(shown)
    lines = capsys.readouterr().out.splitlines()
    read = [stream_adapter().validate_json(line) for line in lines]
    assert isinstance(read[0], SessionOpened)
    planned, found = read[1], read[2:]
    assert isinstance(planned, RunPlanned)
    assert (planned.seed, planned.run, planned.systems) == (3, "results/mail", PLAN.systems)
    assert planned.trials == sum(len(visit.trials) for visit in PLAN.visits)
    assert [type(event) for event in found] == [AttemptMeasured] * len(records())
    values = [event.value for event in found if isinstance(event, AttemptMeasured)]
    assert values == [record.value("rate") for record in records()]
    assert all("at_unix_ns" in json.loads(line) for line in lines)


def test_a_reader_that_has_gone_does_not_end_the_session(
    events: EventStream, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        monkeypatch.setattr(stream.sys, "stdout", pipe)
        watched(Display(STUDY, None, events))


def test_failures_are_reported_with_what_to_do(
    told: list[str], failing: Callable[[], TrialRecord]
) -> None:
    shown = Display(STUDY)
    shown.starts(PLAN, 0)
    shown.attempt_ends(failing())
    assert "0001-1 " in told[0]
    assert told[0].endswith("service_died: it died")
    assert told[1].strip() == "hint: start it by hand"
    assert shown.state.trials_done == 0


@pytest.fixture
def failing() -> Callable[[], TrialRecord]:

    trial = PLAN.visits[0].trials[0]
    failure = AttemptFailure(phase="measure", message="it died", hint="start it by hand")
    return lambda: a_record(trial, None, outcome=Outcome.SERVICE_DIED, failure=failure)


def test_a_command_to_copy_names_its_path_as_one_word() -> None:
    path = Path("/sp ace/ü/re s/it's")
    assert shlex.split(command("resume", path)) == ["steelyard", "resume", str(path)]
    assert command("resume", Path("/results/a-study")) == "steelyard resume /results/a-study"
