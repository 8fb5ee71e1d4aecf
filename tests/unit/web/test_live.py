"""How a live run is followed: torn lines, lines that are no events, a ledger that was cut."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.unit.several_machines import NAMES, machines_run
from tests.unit.web.conftest import LOOK, add_run

from steelyard.errors import RecordError
from steelyard.records.events import InterimLook, SessionClosed, SessionOpened
from steelyard.records.ledger import Ledger
from steelyard.web.live.following import Follower
from steelyard.web.live.progress import Progress, funnel
from steelyard.web.live.state import document_of, parts_of, stops_when
from steelyard.web.run_state import state_of

OPENED = {"event": "session_opened", "at_unix_ns": 10**18}


def started(trial: int) -> dict[str, Any]:
    return {"event": "attempt_started", "at_unix_ns": 10**18 + trial, "trial": trial, "attempt": 1}


def finished(trial: int) -> dict[str, Any]:
    return {"event": "attempt_finished", "at_unix_ns": 10**18 + trial, "trial": trial,
            "attempt": 1, "outcome": "ok"}  # fmt: skip


def append(run: Path, *events: dict[str, Any], torn: str = "") -> None:
    with (run / "ledger.jsonl").open("a") as ledger:
        ledger.write("".join(f"{json.dumps(event)}\n" for event in events) + torn)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return add_run(tmp_path, "live/run", events=[OPENED])


def test_events_and_trials_are_read_as_they_come(run: Path) -> None:
    follower = Follower(run)
    assert follower.look()
    assert not follower.look(), "nothing has come since"
    append(run, started(1))
    assert follower.look()
    assert follower.progress.phase == "trial"
    append(run, finished(1), LOOK)
    assert follower.look()
    landed = follower.progress.landed[0]
    assert (landed.trial, landed.value is not None) == (1, True)
    assert {use.machine for use in landed.cpu} >= {"system"}
    assert follower.progress.visits_done == 12


def test_lines_with_a_checksum_are_read(run: Path) -> None:
    begun = SessionOpened()
    with Ledger(run / "ledger.jsonl") as ledger:
        ledger.append(begun)
        ledger.append(InterimLook.model_validate(LOOK))
        ledger.append(SessionClosed(reason="decided"))
    follower = Follower(run)
    follower.look()
    assert follower.progress.damaged_lines == []
    assert (follower.progress.phase, follower.progress.visits_done) == ("ended", 12)
    state = state_of(run / "ledger.jsonl")
    assert (state.ended, state.visits) == ("decided", 12)


def test_a_torn_line_is_read_when_it_is_whole(run: Path) -> None:
    follower = Follower(run)
    follower.look()
    text = json.dumps(started(1))
    append(run, torn=text[:20])
    assert not follower.look()
    append(run, torn=text[20:] + "\n")
    assert follower.look()
    assert follower.progress.phase == "trial"


def test_a_line_that_is_no_event_is_named_with_its_number(run: Path) -> None:
    append(run, {"event": "of the future"}, started(1), torn="\x00\xff{\n")
    follower = Follower(run)
    follower.look()
    assert follower.progress.damaged_lines == [2, 4]
    assert follower.progress.phase == "trial"
    assert "2, 4" in parts_of(follower, running=True, chosen=1)["now"]


def test_a_ledger_whose_torn_line_was_cut_is_read_from_the_start(run: Path) -> None:
    append(run, started(1), finished(1))
    follower = Follower(run)
    follower.look()
    os.truncate(run / "ledger.jsonl", len(json.dumps(OPENED)) + 1)
    append(run, started(2))
    follower.look()
    assert (len(follower.progress.landed), follower.progress.trial) != (1, None)
    assert follower.progress.trial is not None
    assert follower.progress.trial.trial == 2


def test_a_trial_whose_record_is_missing_does_not_end_the_rest(run: Path) -> None:
    append(run, finished(99), started(1))
    follower = Follower(run)
    follower.look()
    assert (len(follower.progress.landed), follower.progress.phase) == (0, "trial")


def test_what_would_stop_a_run_has_forecast_claims_and_budget(run: Path) -> None:
    append(run, started(1), finished(1), LOOK)
    follower = Follower(run)
    follower.look()
    said = " ".join(stops_when(follower))
    for word in ("2 to 6 more visits", "keeps-up", "12 are done"):
        assert word in said
    document = document_of(follower, running=True)
    assert document["forecast_visits_more"] == {"least": 2, "most": 6}
    assert json.loads(json.dumps(document)) == document


def test_the_interval_is_drawn_at_every_look_that_gave_one(run: Path) -> None:
    unsized = {**LOOK, "comparisons": [{**LOOK["comparisons"][0], "estimate_log": None}]}  # type: ignore[index]
    append(run, {**unsized, "visits_done": 1}, LOOK, {**LOOK, "visits_done": 13})
    follower = Follower(run)
    follower.look()
    lead = follower.progress.last_look
    assert isinstance(lead, InterimLook)
    assert [v for v, _ in funnel(follower.progress.looks, lead.comparisons[0])] == [12, 13]
    assert "<svg" in parts_of(follower, running=True, chosen=99)["closing"]


def test_the_last_size_stays_beside_the_words_of_later_looks(run: Path) -> None:
    lead = LOOK["comparisons"][0]  # type: ignore[index]
    nothing = {"estimate_log": None, "low_log": None, "high_log": None}
    later = {**LOOK, "comparisons": [{**lead, **nothing, "word": "undecided", "n_other": 7}]}
    append(run, LOOK, *[{**later, "visits_done": 13 + n} for n in range(300)])
    state = state_of(run / "ledger.jsonl")
    assert state.lead is not None
    assert (state.visits, state.lead.word, state.lead.n_other) == (312, "undecided", 7)
    assert (state.lead.estimate_log, state.lead.low_log, state.lead.high_log) == (-0.5, -0.7, -0.3)
    follower = Follower(run)
    follower.look()
    assert follower.progress.comparisons == (state.lead,)
    assert "-39.3" in parts_of(follower, running=False, chosen=1)["verdicts"].replace("\u2212", "-")


def test_nothing_is_known_of_a_run_that_has_not_begun() -> None:
    progress = Progress(None, None)
    assert (progress.left_s, progress.visits_planned, progress.visits_done) == (None, 0, 0)


def test_a_run_of_several_machines_is_refused_in_words_and_that_of_one_is_followed(
    tmp_path: Path,
) -> None:
    run = machines_run(tmp_path / "results")
    with pytest.raises(RecordError) as refused:
        Follower(run.path).look()
    assert refused.value.slug == "run-of-several-machines"
    one = Follower(run.machines()[NAMES[0]].path)
    assert one.look()
    assert len(one.progress.landed) == 16
