"""How many visits a time holds is set once, by what the first ones took."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.integration.conftest import STUDY
from tests.unit.judge.studies import a_study

from steelyard.cli.session.new_run import new_run
from steelyard.plan.extension import extended, lengthened
from steelyard.plan.make import make_plan
from steelyard.plan.model import Plan, PlannedVisit
from steelyard.records.events import AttemptFinished, AttemptStarted, Event, VisitsTimed
from steelyard.records.schema import Outcome
from steelyard.report.from_run import find
from steelyard.study.model import BudgetSpec, Study
from steelyard.study.read import read_study
from steelyard.trial import session
from steelyard.trial.session_state.interrupt import Interrupt
from steelyard.trial.session_state.pace import visits_by_pace
from steelyard.trial.session_state.watcher import Silence

NAMES = ("fast", "slow")


def timed(time_s: float = 600.0, names: tuple[str, ...] = NAMES) -> tuple[Study, Plan]:
    """A study of a time, with a plan that holds far fewer visits."""
    study = a_study(names, users=(1,))
    few = make_plan(study, seed=3)
    trials = study.trials.model_copy(update={"budget": BudgetSpec(time_s=time_s)})
    return study.model_copy(update={"trials": trials}), few


def ledger(
    visits: tuple[PlannedVisit, ...], taken_s: Callable[[PlannedVisit], float]
) -> Iterator[Event]:
    now_s = 0.0
    for visit in visits:
        for trial in visit.trials:
            yield AttemptStarted(at_unix_ns=round(now_s * 1e9), trial=trial.trial, attempt=1)
            now_s += taken_s(visit)
            ended = {"trial": trial.trial, "attempt": 1, "outcome": Outcome.OK}
            yield AttemptFinished(at_unix_ns=round(now_s * 1e9), **ended)
            now_s += 0.01


def first(plan: Plan, count: int = 8) -> tuple[PlannedVisit, ...]:
    return plan.visits[:count]


def test_a_time_that_holds_more_visits_than_were_planned_gets_them() -> None:
    study, plan = timed()
    events = list(ledger(first(plan), lambda _: 2.0))
    assert visits_by_pace(study, plan, events, left_s=120.0) == 8 + 60


def test_systems_count_alike_however_often_they_came_and_without_their_first_visit() -> None:
    study, plan = timed()
    seen: set[str] = set()

    def taken_s(visit: PlannedVisit) -> float:
        if visit.system not in seen:
            seen.add(visit.system)
            return 90.0
        return {"fast": 1.0, "slow": 3.0}[visit.system]

    events = list(ledger(first(plan), taken_s))
    assert visits_by_pace(study, plan, events, left_s=120.0) == 8 + 60


def test_fewer_visits_than_planned_are_never_made_of_it() -> None:
    study, plan = timed()
    events = list(ledger(first(plan), lambda _: 100.0))
    assert visits_by_pace(study, plan, events, left_s=120.0) is None


def test_the_trials_that_a_study_allows_stay_the_limit() -> None:
    study, plan = timed()
    events = list(ledger(first(plan), lambda _: 0.5))
    most = BudgetSpec(trials_per_cell=len(plan.visits) // 2, time_s=600.0)
    trials = study.trials.model_copy(update={"budget": most})
    bounded = study.model_copy(update={"trials": trials})
    assert visits_by_pace(bounded, plan, events, left_s=500.0) is None
    by_word = plan.model_copy(update={"budget_time_s": 600.0})
    assert visits_by_pace(bounded, by_word, events, left_s=500.0) == 1000


def test_three_systems_get_whole_blocks() -> None:
    study, plan = timed(names=("a", "b", "c"))
    events = list(ledger(first(plan, 12), lambda _: 2.0))
    found = visits_by_pace(study, plan, events, left_s=101.0)
    assert found == 60  # 12, and 50 of which 48 are whole blocks


def test_a_number_that_was_set_or_extended_stays() -> None:
    study, plan = timed()
    events = list(ledger(first(plan), lambda _: 1.0))
    for changed in (lengthened(plan, 30), extended(plan)):
        assert visits_by_pace(study, changed, events, left_s=500.0) is None


def test_nothing_is_set_while_a_system_was_not_measured() -> None:
    study, plan = timed()
    one = tuple(visit for visit in plan.visits if visit.system == "fast")
    assert visits_by_pace(study, plan, list(ledger(one, lambda _: 1.0)), left_s=500.0) is None


def test_a_session_measures_the_visits_that_are_added_and_its_report_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    undecidable = STUDY.replace("margin: 2 %", "margin: 0.01 %\n  alpha: 0.1 %\n  seed: 5")
    of_time = undecidable.replace("{trials: 6 per cell}", "{time: 1 h}")
    (tmp_path / "study.yaml").write_text(of_time, encoding="utf-8")
    study = read_study(tmp_path / "study.yaml")
    plan = make_plan(study, 5)
    short = plan.model_copy(update={"visits": plan.visits[:10]})
    run = new_run(tmp_path, study, short, tmp_path / "results")
    monkeypatch.setattr(session, "visits_by_pace", lambda *_: 14)

    ended = session.run_session(study, run, Silence(), Interrupt(lambda _: None))

    assert ended == "budget_visits"
    added = [event for event in run.events() if isinstance(event, VisitsTimed)]
    assert [(each.visits, each.visits_before) for each in added] == [(14, 10)]
    assert {record.visit for record in run.records()} == set(range(1, 15))
    stop = find(run).stop
    assert (stop.visits_done, stop.visits_planned, stop.visits_assumed) == (14, 14, 10)
