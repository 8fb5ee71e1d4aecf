"""Studies of two systems as records, for what the judge does with more than one response.

Noise of the primary response goes by the clock, as in the cells of ``cells.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from tests.calibration.cells import generator_of
from tests.calibration.noises import NOISES
from tests.unit.judge.studies import RESPONSES, a_record, a_study

from steelyard.judge.visits.series import Paths
from steelyard.plan.make import make_plan
from steelyard.plan.model import Plan
from steelyard.records.schema import Measured, TrialRecord
from steelyard.study.model import Study

BASE, OTHER = "one", "two"
VISITS_EACH = 24
PATHS = Paths(1_000, 1_000)
"""Orders that are simulated for each study: fewer are as valid and see less."""
Beside = Callable[[str, np.random.Generator], Mapping[str, Measured]]
"""Responses of one visit beside the rate, by its system."""


def study_of(**changes: Any) -> Study:
    """Two systems, one condition, 24 visits of each, margin 2 %."""
    given: dict[str, Any] = {"responses": RESPONSES} | changes
    return a_study((BASE, OTHER), (1,), VISITS_EACH, **given)


def nothing_beside(_system: str, _rng: np.random.Generator) -> Mapping[str, Measured]:
    """For studies of one response."""
    return {}


def measured(
    study: Study, name: str, number: int, *, noise: str, effect: float, beside: Beside
) -> tuple[Plan, list[TrialRecord]]:
    """One study of a population, measured to the end of its budget.

    ``name`` and ``number`` give its seed; ``effect`` is the true ratio of the other system's rate
    as a natural logarithm.
    """
    rng = generator_of(name, number)
    plan = make_plan(study, int(rng.integers(1, 2**31)))
    values = iter(NOISES[noise](rng, len(plan.visits)))
    records = []
    for visit in plan.visits:
        other = visit.system == OTHER
        rate = 1_000 * float(np.exp(next(values) + effect * other))
        seen = {"rate": Measured(value=rate, unit="1/s"), **beside(visit.system, rng)}
        records += [a_record(trial, None, responses=seen) for trial in visit.trials]
    return plan, records
