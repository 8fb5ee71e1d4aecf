"""Differences in the unit of a response: their intervals hold the truth as often as they say."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.judge.studies import a_study, measured
from tests.unit.judge.test_sections import TIME

from steelyard.judge.analyses.sections.cut import section_findings
from steelyard.judge.visits.readings import Readings
from steelyard.judge.visits.series import Paths
from steelyard.plan.make import make_plan
from steelyard.plan.model import PlannedTrial
from steelyard.study.model import ReportSpec
from steelyard.study.workload_study import studies

STUDIES = 120
SHIFT_S = 1.5
LEVELS = {"ext4": 10.0, "xfs": 25.0}


def interval(seed: int) -> tuple[float | None, float | None]:
    """Of one study of 24 visits whose profile takes 1.5 s longer on every filesystem."""
    study = a_study(("off", "balanced"), responses={"rate": TIME}, margin_ratio=0.03).model_copy(
        update={
            "compare": "settings.tuned",
            "factors": {"fs": tuple(LEVELS)},
            "report": ReportSpec(sections_by="settings.tuned"),
        }
    )
    plan, random = make_plan(study, seed=seed), np.random.default_rng(seed)

    def value(trial: PlannedTrial) -> float:
        level = LEVELS[str(trial.cell.conditions["fs"])]
        slower = SHIFT_S if trial.cell.system == "balanced" else 0.0
        return float(level + slower + 0.8 * random.standard_t(4))

    readings = Readings(plan, measured(plan, value), paths=Paths(600, 600))
    (section,) = section_findings(studies(study)[0], plan, readings)
    return section.means[-1].difference_low, section.means[-1].difference_high


@pytest.mark.validate
def test_the_interval_of_a_difference_in_seconds_holds_the_truth_as_often_as_it_says() -> None:
    missed = bounded = 0
    for seed in range(1, STUDIES + 1):
        low, high = interval(seed)
        bounded += low is not None and high is not None
        missed += (low is not None and low > SHIFT_S) or (high is not None and high < SHIFT_S)
    # 5 % of 120 are 6; more than 13 has a chance of 1 in 400 if the level holds.
    assert missed <= 13
    assert bounded >= STUDIES * 0.9
