"""A calibration that a trial exceeds is repeated before the next visit, at most twice in a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from tests.unit.judge.studies import a_record, a_study

from steelyard.plan.make import make_plan
from steelyard.plan.model import Cell, Plan
from steelyard.records.events import GeneratorCalibrated
from steelyard.records.ledger import Ledger
from steelyard.records.missing import Reason
from steelyard.records.schema import Calibration, TrialRecord
from steelyard.trial.session_state import recalibrate
from steelyard.trial.session_state.calibrate import cell_key
from steelyard.trial.session_state.context import SessionContext
from steelyard.trial.session_state.recalibrate import MOST, calibrate_anew, calibrate_cells
from steelyard.trial.session_state.watcher import Silence

PLAN = make_plan(a_study(users=(1, 4)), 3)


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SessionContext]:
    """One calibration for each number of users; each measurement finds ten more than the last."""
    capacities = iter(range(100, 1000, 10))

    def measured(_: SessionContext, cells: Iterable[Cell]) -> dict[str, Calibration]:
        by_users = {
            users: Calibration(sink="sink-http", capacity_per_s=next(capacities))
            for users in dict.fromkeys(cell.conditions["load.users"] for cell in cells)
        }
        return {cell_key(cell): by_users[cell.conditions["load.users"]] for cell in cells}

    monkeypatch.setattr(recalibrate, "calibrate", measured)
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        of = cast("SessionContext", SimpleNamespace(plan=PLAN, ledger=ledger, calibrations={}))
        calibrate_cells(of, PLAN.every_cell)
        yield of


def trials(session: SessionContext, visit: int, ratio: float) -> list[TrialRecord]:
    """Those of one visit: the one of a single user reached so much of its capacity."""
    found = []
    for trial in PLAN.visits[visit - 1].trials:
        held = session.calibrations[cell_key(trial.cell)]
        reached = ratio if trial.cell.conditions["load.users"] == 1 else 0.5
        held = held.model_copy(update={"ratio": reached})
        found.append(a_record(trial, 100.0, calibration=held))
    return found


def repeated(session: SessionContext) -> list[GeneratorCalibrated]:
    events = [e for e in session.ledger.events() if isinstance(e, GeneratorCalibrated)]
    return [event for event in events if event.after_visit is not None]


def capacities(session: SessionContext, plan: Plan = PLAN) -> set[tuple[object, float | None]]:
    return {
        (cell.conditions["load.users"], session.calibrations[cell_key(cell)].capacity_per_s)
        for cell in plan.every_cell
    }


def test_only_the_calibration_that_was_exceeded_is_repeated_for_all_its_cells(
    session: SessionContext,
) -> None:
    calibrate_anew(session, trials(session, 1, 1.3), Silence())
    (event,) = repeated(session)
    assert event.after_visit == 1
    assert {cell.cell.conditions["load.users"] for cell in event.cells} == {1}
    assert {cell.cell.system for cell in event.cells} == {"fast", "durable"}
    assert capacities(session) == {(1, 120.0), (4, 110.0)}


@pytest.mark.parametrize("ratio", [0.4, 1.0, 1.05])
def test_up_to_five_percent_above_it_stays(session: SessionContext, ratio: float) -> None:
    calibrate_anew(session, trials(session, 1, ratio), Silence())
    assert repeated(session) == []


def test_a_calibration_that_was_replaced_is_not_repeated_for_its_old_trials(
    session: SessionContext,
) -> None:
    before = trials(session, 1, 1.3)
    calibrate_anew(session, before, Silence())
    calibrate_anew(session, before, Silence())
    assert len(repeated(session)) == 1


def test_no_more_than_twice_in_a_run(session: SessionContext) -> None:
    for visit in range(1, 6):
        calibrate_anew(session, trials(session, visit, 1.3), Silence())
    assert [event.after_visit for event in repeated(session)] == [1, 2]
    assert len(repeated(session)) == MOST


def test_a_repeated_calibration_keeps_the_larger_capacity(
    session: SessionContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    lower = Calibration(sink="sink-http", capacity_per_s=7.0)
    failed = Calibration(sink="sink-http", not_calibrated=Reason(kind="calibration_timed_out"))
    for found in (lower, failed):
        again = {cell_key(cell): found for cell in PLAN.every_cell}
        monkeypatch.setattr(recalibrate, "calibrate", lambda *_, again=again: again)
        calibrate_cells(session, PLAN.every_cell)
        assert capacities(session) == {(1, 100.0), (4, 110.0)}
        assert all(each.not_calibrated is None for each in session.calibrations.values())
