"""What was known after some visits is the beginning of what is known after all."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.judge.studies import RESPONSES, a_record, a_study, noisy

from steelyard.judge.visits import readings as module
from steelyard.judge.visits.pairs import Pair
from steelyard.judge.visits.readings import Readings
from steelyard.judge.visits.series import Series
from steelyard.plan.make import make_plan
from steelyard.plan.model import Plan
from steelyard.records.schema import Measured, TrialRecord
from steelyard.study.model import ResponseSpec

PAIR = Pair("fast", "durable")


def a_plan_and_records(
    names: tuple[str, ...] = ("fast", "durable"), lost: int = 0
) -> tuple[Plan, list[TrialRecord], ResponseSpec]:
    """``lost``: so many of the first visits bring no value."""
    study = a_study(names)
    plan = make_plan(study, 3)
    value = noisy(1.05)
    records = [
        a_record(trial, None if visit.visit <= lost else value(trial))
        for visit in plan.visits
        for trial in visit.trials
    ]
    return plan, records, RESPONSES["rate"]


def assert_same(one: Series, another: Series) -> None:
    assert (one.visits, one.slots, one.before) == (another.visits, another.slots, another.before)
    assert (one.problems, one.parts, one.whole) == (another.problems, another.parts, another.whole)
    assert np.array_equal(one.values, another.values)
    assert np.array_equal(one.other, another.other)


@pytest.mark.parametrize("names", [("fast", "durable"), ("fast", "durable", "third")])
@pytest.mark.parametrize("lost", [0, 3])
def test_visits_are_known_as_if_no_later_one_had_been_measured(
    names: tuple[str, ...], lost: int
) -> None:
    plan, records, response = a_plan_and_records(names, lost)
    whole = Readings(plan, records)
    for visit in range(1, len(plan.visits) + 1):
        alone = Readings(plan, [record for record in records if record.visit <= visit])
        earlier = whole.until(visit)
        assert_same(earlier.series(PAIR, response, None), alone.series(PAIR, response, None))
        assert earlier.invalid(PAIR) == alone.invalid(PAIR)
        assert earlier.span_s(1, visit) == alone.span_s(1, visit)
        assert [earlier.met(each, PAIR) for each in range(1, visit + 1)] == [
            alone.met(each, PAIR) for each in range(1, visit + 1)
        ]


def test_every_value_is_read_once_however_many_looks_ask_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plan, records, response = a_plan_and_records()
    read: list[Measured | None] = []

    def log_of(measured: Measured | None) -> float:
        read.append(measured)
        return 1.0

    monkeypatch.setitem(module.SCALES, "log", log_of)
    whole = Readings(plan, records)
    for visit in range(1, len(plan.visits) + 1):
        whole.until(visit).series(PAIR, response, None)
    assert len(read) == len(records)
