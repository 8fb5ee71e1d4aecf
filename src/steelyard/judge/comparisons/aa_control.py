"""The A/A control: the baseline, measured twice under two names, must be equal to itself.

A difference between the two is a defect of the study, not of a system: something else than the
systems decides, and no decision is announced from there on.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from steelyard.inference.sequential import Memory, VerdictWord
from steelyard.judge.comparisons.comparison import Judged, judge
from steelyard.judge.comparisons.families import Comparison, Family
from steelyard.judge.kinds.verdict_notes import CAUSES, AaControlDiffers
from steelyard.judge.visits.pairs import Pair
from steelyard.judge.visits.readings import Readings
from steelyard.judge.visits.series import EFFORT, Effort
from steelyard.plan.model import Plan
from steelyard.records.schema import TrialRecord
from steelyard.study.workload_study import WorkloadStudy

_DIFFERENT = {VerdictWord.FASTER, VerdictWord.SLOWER}


def readings_of(
    study: WorkloadStudy, plan: Plan, records: Sequence[TrialRecord], effort: Effort = EFFORT
) -> Readings:
    """The records, distrusted where the A/A control differs."""
    return Readings(
        plan,
        records,
        memory=effort.memory or Memory(),
        paths=effort.paths,
        reference_kernel=study.trials.reference_kernel_s is not None,
        control=None if study.trials.aa_control is None else partial(_control_differs, study),
        accepted=frozenset(study.accepted_differences) & frozenset(CAUSES),
    )


def _control_differs(study: WorkloadStudy, readings: Readings) -> AaControlDiffers | None:
    found = judged_control(study, readings)
    if found is None or not _DIFFERENT & set(found.present.decision.words):
        return None
    pair = found.comparison.pair
    return AaControlDiffers(baseline=pair.baseline, other=pair.other)


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
