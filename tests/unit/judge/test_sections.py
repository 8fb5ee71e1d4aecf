from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.unit.judge.quick import judge_study
from tests.unit.judge.studies import a_study, measured

from steelyard.judge.analyses.sections.findings import MeanFinding
from steelyard.judge.findings import RunFindings
from steelyard.plan.make import make_plan
from steelyard.plan.model import PlannedTrial
from steelyard.study.model import ReportSpec, ResponseSpec

TIME = ResponseSpec(name="rate", label="run time", unit="s", direction="lower", primary=True)
SECONDS = {"ext4": 10.0, "xfs": 20.0}
LAYOUT = {"single": 1.0, "raid0": 0.5}


def found(
    report: ReportSpec,
    slower: Callable[[PlannedTrial], float],
    noise: float = 0.01,
    names: tuple[str, ...] = ("off", "balanced"),
    **changes: Any,
) -> RunFindings:
    """A study of profiles over filesystems and layouts, whose run times are known."""
    study = a_study(names, per_cell=8, responses={"rate": TIME}, margin_ratio=0.03).model_copy(
        update={
            "compare": "settings.tuned",
            "factors": {"fs": tuple(SECONDS), "layout": tuple(LAYOUT)},
            "report": report,
            **changes,
        }
    )
    plan, random = make_plan(study, seed=7), np.random.default_rng(3)

    def value(trial: PlannedTrial) -> float:
        at = trial.cell.conditions
        level = SECONDS[str(at["fs"])] * LAYOUT[str(at["layout"])]
        factor = 1.0 if trial.cell.system == "off" else slower(trial)
        return float(level * factor * math.exp(random.normal(0, noise)))

    return judge_study(study, plan, measured(plan, value), run="mail/r1")


BY_PROFILE = ReportSpec(sections_by="settings.tuned", means_by="fs", notes="notes/")


def means_of(findings: RunFindings) -> dict[object, MeanFinding]:
    (section,) = findings.workloads[0].sections
    return {mean.level: mean for mean in section.means}


def test_means_by_filesystem_and_over_all_hold_the_true_difference_in_seconds() -> None:
    means = means_of(found(BY_PROFILE, lambda _: 1.1))
    # ext4: mean of 10 and 5 s; xfs: mean of 20 and 10 s; all: mean of the four.
    for level, baseline in (("ext4", 7.5), ("xfs", 15.0), (None, 11.25)):
        mean = means[level]
        assert mean.baseline_middle == pytest.approx(baseline, rel=0.02)
        assert mean.other_middle == pytest.approx(1.1 * baseline, rel=0.02)
        assert mean.difference == pytest.approx(0.1 * baseline, rel=0.15)
        assert mean.difference_low is not None
        assert mean.difference_high is not None
        assert mean.difference_low < 0.1 * baseline < mean.difference_high
        assert mean.estimate_log == pytest.approx(math.log(1.1), abs=0.01)
        assert mean.word == "slower"


def test_a_profile_that_helps_one_filesystem_and_harms_the_other_has_two_words() -> None:
    means = means_of(
        found(BY_PROFILE, lambda t: 0.8 if t.cell.conditions["fs"] == "ext4" else 1.25)
    )
    assert (means["ext4"].word, means["xfs"].word) == ("faster", "slower")
    assert (means["ext4"].difference or 0) < 0 < (means["xfs"].difference or 0)
    # in seconds the slow filesystem weighs more; as a ratio the two cancel
    assert (means[None].difference or 0) > 0
    assert means[None].estimate_log == pytest.approx(0.0, abs=0.01)


def test_all_means_of_all_sections_share_one_error_rate() -> None:
    findings = found(BY_PROFILE, lambda _: 1.5, names=("off", "balanced", "powersave"))
    assert [section.level for section in findings.workloads[0].sections] == [
        "balanced",
        "powersave",
    ]
    levels = {
        mean.interval_level for section in findings.workloads[0].sections for mean in section.means
    }
    assert levels == {1 - 0.05 / 6}


def test_a_report_may_be_cut_by_a_condition() -> None:
    report = ReportSpec(sections_by="layout", means_by="fs")
    findings = found(report, lambda t: 1.2 if t.cell.conditions["layout"] == "raid0" else 1.0)
    assert [section.level for section in findings.workloads[0].sections] == ["single", "raid0"]
    single, striped = (section.means[-1] for section in findings.workloads[0].sections)
    assert single.conditions == striped.conditions == 2
    assert single.baseline_middle == pytest.approx(15.0, rel=0.02)
    assert striped.difference == pytest.approx(1.5, rel=0.15)


def test_means_without_sections_and_a_study_that_asks_for_neither() -> None:
    (section,) = found(ReportSpec(means_by="fs"), lambda _: 1.0).workloads[0].sections
    assert (section.by, section.level, len(section.means)) == (None, None, 3)
    assert found(ReportSpec(), lambda _: 1.0).workloads[0].sections == ()


def test_too_few_visits_give_a_difference_without_an_interval() -> None:
    study = a_study(("off", "balanced"), responses={"rate": TIME}).model_copy(
        update={"compare": "settings.tuned", "factors": {"fs": ("ext4", "xfs")},
                "report": ReportSpec(sections_by="settings.tuned")},
    )  # fmt: skip
    plan = make_plan(study, seed=7)
    judged = judge_study(study, plan, measured(plan, lambda t: 10.0 + t.trial, 4), run="m/r")
    (mean,) = judged.workloads[0].sections[0].means
    assert mean.difference is not None
    assert (mean.difference_low, mean.difference_high) == (None, None)
    assert mean.word == "undecided" or mean.notes
