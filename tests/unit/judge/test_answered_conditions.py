"""A condition that is decided is measured no more, once all conditions together are decided."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.unit.judge.quick import judge_study, look
from tests.unit.judge.studies import a_record, a_study, noisy

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import VerdictFinding
from steelyard.plan.make import make_plan
from steelyard.plan.model import Plan, PlannedTrial
from steelyard.records.schema import TrialRecord
from steelyard.study.model import BudgetSpec, ClaimSpec, Study
from steelyard.trial.session_state.interim_looks import InterimLooks
from steelyard.trial.session_state.progress import Progress
from steelyard.trial.session_state.remaining import Remaining

ONE, FOUR = {"load.users": 1}, {"load.users": 4}
VISITS = 24


def halved_at_one_user(trial: PlannedTrial) -> float:
    """Durable has half of the rate at one user, and the same at four."""
    value = noisy(0.5 if trial.cell.conditions == ONE else 1.0, seed=trial.trial)(trial)
    assert value is not None
    return value


def records_of(
    plan: Plan, visits: int = VISITS, *, without_one_from: int | None = None
) -> list[TrialRecord]:
    return [
        a_record(trial, halved_at_one_user(trial))
        for visit in plan.visits[:visits]
        for trial in visit.trials
        if without_one_from is None
        or visit.visit < without_one_from
        or trial.cell.conditions != ONE
    ]


def studied(**changes: Any) -> tuple[Study, Plan]:
    given = {"margin_ratio": 0.002, "budget": BudgetSpec(trials_per_cell=24)} | changes
    study = a_study(**given)
    return study, make_plan(study, 3)


def answered(**changes: Any) -> tuple[dict[str, Any], ...]:
    study, plan = studied(**changes)
    return look(study, plan, records_of(plan)).answered


def verdicts(study: Study, plan: Plan, records: list[TrialRecord]) -> list[VerdictFinding]:
    (own,) = judge_study(study, plan, records, run="r").workloads
    return [each for each in own.verdicts if each.response == "rate"]


def test_a_decided_condition_is_answered_and_an_open_one_is_not() -> None:
    assert answered() == (ONE,)


def test_none_is_answered_while_all_conditions_together_are_open() -> None:
    study, plan = studied()
    assert look(study, plan, records_of(plan, visits=7)).answered == ()


@pytest.mark.parametrize(
    "more",
    [
        {"until": "overall"},
        {"span_s": 3600.0},
        {"claims": (ClaimSpec(id="c", kind="slower_than", subject="durable", other="fast"),)},
    ],
)
def test_none_is_answered_where_visits_are_wanted_for_more(more: dict[str, Any]) -> None:
    assert answered(**more) == ()


def test_words_are_the_same_when_an_answered_condition_is_left_out() -> None:
    study, plan = studied()
    whole = verdicts(study, plan, records_of(plan))
    decided = [each for each in whole if each.word is VerdictWord.SLOWER]
    assert [each.conditions for each in decided] == [None, ONE]
    last = max(each.decided_at_visit or 0 for each in decided)
    left = verdicts(study, plan, records_of(plan, without_one_from=last + 1))
    assert [(v.word, v.decided_at_visit) for v in left] == [
        (v.word, v.decided_at_visit) for v in whole
    ]
    assert [v.n_baseline + v.n_other for v in left] == [last, last, VISITS]


def test_a_session_leaves_answered_conditions_out_of_a_visit() -> None:
    study, plan = studied()
    everything = {"smtp": frozenset(plan.systems)}
    progress = Progress(study.trials.retry, [])
    remaining = Remaining(
        cast(Any, SimpleNamespace(study=study, plan=plan)),
        progress,
        InterimLooks(),
        cast(Any, None),
        answered=(ONE,),
        _measured={visit.block: everything for visit in plan.visits},
    )
    visit = plan.visits[0]
    assert not remaining.is_needless(visit)
    left = [trial.cell.conditions for trial in visit.trials if progress.finished(trial)]
    assert left == [ONE]
    remaining.answered = (ONE, FOUR)
    assert remaining.is_needless(visit)
