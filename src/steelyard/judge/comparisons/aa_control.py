"""The A/A control: the baseline, measured twice under two names, must be equal to itself.

A difference between the two is a defect of the study, not of a system: something else than the
systems decides, and every decision is withheld.
"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.inference.assumption import assumption_of
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.comparisons.comparison import Judged, judge
from steelyard.judge.comparisons.families import Comparison, Family
from steelyard.judge.kinds.verdict_notes import AaControlDiffers
from steelyard.judge.visits.readings import Readings
from steelyard.judge.visits.series import EFFORT, Effort, Pair
from steelyard.plan.model import Plan
from steelyard.records.schema import TrialRecord
from steelyard.study.workload_study import WorkloadStudy

_DIFFERENT = {VerdictWord.FASTER, VerdictWord.SLOWER}


def readings_of(
    study: WorkloadStudy, plan: Plan, records: Sequence[TrialRecord], effort: Effort = EFFORT
) -> Readings:
    """The records, distrusted where the A/A control differs."""
    readings = Readings(
        plan,
        records,
        assumption=assumption_of(study.judge.engine, effort.memory),
        paths=effort.paths,
        reference_kernel=study.trials.reference_kernel_s is not None,
    )
    found = judged_control(study, readings)
    if found is not None and _DIFFERENT & set(found.decision.words):
        pair = found.comparison.pair
        readings.distrusted = AaControlDiffers(baseline=pair.baseline, other=pair.other)
    return readings


def judged_control(study: WorkloadStudy, readings: Readings) -> Judged | None:
    """The comparison over all conditions at a whole error rate; ``None`` without a control."""
    control = study.trials.aa_control
    if control is None:
        return None
    alpha = study.trials.alpha
    comparison = Comparison(
        response=study.primary.model_copy(update={"primary": False}),
        pair=Pair(study.baseline, control),
        conditions=None,
        alpha=alpha,
        share=alpha,
        family=Family(response=study.primary.label, scope="aa_control", baseline=study.baseline),
    )
    return judge(comparison, readings, study.trials.margin_log)
