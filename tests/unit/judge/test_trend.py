"""The slow trend that was removed from a comparison, by visit."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.unit.judge.quick import judge_study
from tests.unit.judge.studies import RESPONSES, a_study, measured

from steelyard.judge.findings import TrendFinding
from steelyard.plan.make import make_plan
from steelyard.plan.model import PlannedTrial
from steelyard.study.model import ResponseSpec

PER_VISIT_LOG = 0.02


def trends(visits: int, direction: str = "higher") -> tuple[TrendFinding, ...]:
    """Of a study whose machine gets 2 % faster with each visit, noise of 1 %."""
    rate = ResponseSpec(name="rate", label="r", unit="1/s", direction=direction, primary=True)  # type: ignore[arg-type] - as a parameter
    study = a_study(per_cell=12, responses={**RESPONSES, "rate": rate})
    plan = make_plan(study, seed=3)
    random = np.random.default_rng(5)

    def value(trial: PlannedTrial) -> float:
        size = 0.5 if trial.cell.system == "durable" else 1.0
        drift = PER_VISIT_LOG * trial.visit + random.normal(0, 0.01)
        return float(1000 * size * math.exp(drift))

    found = judge_study(study, plan, measured(plan, value, visits), run="r")
    return found.workloads[0].trends


@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_a_drift_is_given_in_the_raw_response_for_each_visit(direction: str) -> None:
    (found,) = trends(24, direction)
    assert (found.baseline, found.other, found.trends) == ("fast", "durable", 1)
    assert found.visits == tuple(range(1, 25))
    slope = np.polyfit(found.visits, found.trend_log, 1)[0]
    assert slope == pytest.approx(PER_VISIT_LOG, rel=0.1)
    assert sum(found.trend_log) == pytest.approx(0.0, abs=0.05)


def test_nothing_is_removed_from_fewer_than_twelve_visits() -> None:
    assert trends(10) == ()
