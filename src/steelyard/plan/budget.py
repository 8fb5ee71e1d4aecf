"""What a study may cost and what its plan will take: visits, time, disk; and what is left of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from statistics import fmean

from steelyard.plan.model import Forecast, Plan, PlannedTrial
from steelyard.study import screening, timing
from steelyard.study.model import BudgetSpec, Study
from steelyard.study.timing import MOST_VISITS_OF_ONE
from steelyard.study.workload_study import conditions_count

# Visits before the judge looks for the first time, of two systems.
FIRST_LOOK_VISITS = 8
# On disk: the record, the result of the load and its histograms; then each sample of a machine.
TRIAL_BYTES = 64 * 1024
SAMPLE_BYTES = 2 * 1024


def with_time(study: Study, time_s: float) -> Study:
    """The study with so much time instead of its budget."""
    trials = study.trials.model_copy(update={"budget": BudgetSpec(time_s=time_s)})
    return study.model_copy(update={"trials": trials})


def time_s(study: Study, plan: Plan) -> float | None:
    """How long a run may take; ``None`` where its visits alone are limited."""
    return study.trials.budget.time_s if plan.budget_time_s is None else plan.budget_time_s


def visits_within(study: Study) -> int:
    """How many visits the plan holds, over all compared systems.

    ``trials per cell`` gives so many visits of each system; ``time`` as many as fit; both, the
    fewer; neither, ``DEFAULT_VISITS`` of two systems. Reading the study has refused a budget
    with fewer visits than a verdict needs; here they are the floor.
    """
    if not timing.compares(study):
        return 0
    return max(timing.affordable_visits(study), timing.least_visits(study))


def first_look(study: Study) -> int:
    """Visits after which a verdict is possible at the earliest."""
    return FIRST_LOOK_VISITS // 2 * len(study.compared)


def visits_in_time(
    study: Study, plan: Plan, visits_done: int, visit_s: float, left_s: float
) -> int:
    """How many visits the plan holds at this pace with so much time left; those it has at least."""
    systems = len(plan.systems)
    most = MOST_VISITS_OF_ONE
    per_cell = study.trials.budget.trials_per_cell
    if per_cell is not None and plan.budget_time_s is None:
        most = min(most, per_cell)
    visits = min(visits_done + int(left_s / visit_s), most * systems)
    return max(timing.whole_blocks(visits, systems), len(plan.visits))


def forecast(study: Study, visits: int) -> Forecast:
    """What calibration and ``visits`` visits take, and the earliest that a verdict can come."""
    visit_s, calibration_s = timing.visit_s(study), timing.calibration_s(study)
    trials = visits * conditions_count(study)
    total_s, earliest_s = visits * visit_s, min(first_look(study), visits) * visit_s
    asked = screening.screened(study)
    if asked is not None:
        replicates = screening.replicates_within(study)
        replicate_s = screening.replicate_s(study, asked)
        trials += replicates * asked.cells
        total_s += replicates * replicate_s
        earliest_s = earliest_s or min(asked.first_answer, replicates) * replicate_s
    window_s = study.trials.warmup_s + study.trials.window_s
    samples = math.ceil(window_s / study.sample.every_s) * len(study.sample.where)
    return Forecast(
        trial_s=timing.trial_s(study),
        visit_s=visit_s,
        calibration_s=calibration_s,
        total_s=calibration_s + total_s,
        earliest_verdict_s=calibration_s + earliest_s,
        disk_bytes=trials * (TRIAL_BYTES + samples * SAMPLE_BYTES),
    )


def retimed(plan: Plan, trial_s: Mapping[str, float]) -> Plan:
    """The plan with a forecast from what a trial of each system took, instead of allowances."""
    planned = plan.forecast
    more_s = fmean(trial_s.values()) - planned.trial_s
    visits = plan.every_visit
    trials = sum(len(visit.trials) for visit in visits)
    visits_s = planned.total_s - planned.calibration_s
    longer = (visits_s + more_s * trials) / visits_s
    earliest_s = (planned.earliest_verdict_s - planned.calibration_s) * longer
    found = {
        "trial_s": planned.trial_s + more_s,
        "visit_s": planned.visit_s * longer,
        "total_s": planned.calibration_s + visits_s * longer,
        "earliest_verdict_s": planned.calibration_s + earliest_s,
        "timed_trial_s": dict(trial_s),
    }
    return plan.model_copy(update={"forecast": planned.model_copy(update=found)})


Taken = Mapping[str, Mapping[int, float]]
"""Seconds by system and number of the trial, in the order of the trials."""


def remaining_s(trials: Iterable[PlannedTrial], taken_s: Taken) -> float | None:
    """Of these trials, each as long as those of its system; ``None`` while one of these systems was
    not timed: a guest may take a hundred times as long as the container before it.
    """
    means = {system: _one_trial_s(list(of.values())) for system, of in taken_s.items() if of}
    systems = [trial.cell.system for trial in trials]
    if not means or not means.keys() >= set(systems):
        return None
    return sum(means[system] for system in systems)


def _one_trial_s(taken_s: list[float]) -> float:
    """The first trial of a system may make its image or start its machine: others do not."""
    return fmean(taken_s[1:] or taken_s)
