"""From the courses of trials to what is said of each cell, and of the study as a whole."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from steelyard.judge.analyses.steadiness.findings import SteadyFinding
from steelyard.judge.analyses.steadiness.steady import Floats, Steadiness, steady
from steelyard.judge.series import key_of
from steelyard.plan.model import Cell, Plan
from steelyard.records.archive import attempt_key
from steelyard.records.courses import Course
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.study.ending import measured
from steelyard.study.labels import Labels
from steelyard.study.model import Study


def steady_findings(
    study: Study, plan: Plan, records: Sequence[TrialRecord], courses: Mapping[str, Course]
) -> Iterator[SteadyFinding]:
    """One for each cell whose good trials have courses; ``courses`` are by attempt key."""
    for conditions in plan.conditions:
        for system in plan.systems:
            cell = Cell(system=system, conditions=conditions)
            own = [
                courses[key]
                for record in records
                if record.outcome is Outcome.OK
                and record.cell.system == system
                and key_of(record.cell.conditions) == key_of(conditions)
                and (key := attempt_key(record.trial, record.attempt)) in courses
            ]
            if own:
                yield _finding(cell, own, study.trials.margin_log)


def _finding(cell: Cell, courses: Sequence[Course], margin_log: float) -> SteadyFinding:
    series, interval_s = mean_course(courses)
    found = steady(series, margin_log)
    return SteadyFinding(
        cell=cell,
        state=found.state,
        trials=len(courses),
        intervals=found.bins,
        interval_s=interval_s,
        cut_s=None if found.drift_low_log is None else found.cut * interval_s,
        bias_log=found.bias_log,
        drift_low_log=found.drift_low_log,
        drift_high_log=found.drift_high_log,
        why=found.why,
    )


def mean_course(courses: Sequence[Course]) -> tuple[Floats, float]:
    """The mean over trials, each relative to its own mean: what warms up does so in every one.

    Trials in which nothing was answered tell nothing of it.
    """
    length = min(len(course.per_s) for course in courses)
    rows = [np.array(course.per_s[:length]) for course in courses]
    relative = [row / row.mean() for row in rows if row.mean() > 0]
    mean = np.mean(relative, axis=0) if relative else np.zeros(length)
    return np.asarray(mean), courses[0].interval_s


def steadiness_limits(study: Study, found: Sequence[SteadyFinding]) -> Iterator[str]:
    """What the windows do not allow to say. The cut must be one for all systems, and declared."""
    labels = Labels.of(study)
    window = f"the declared window, {measured(study)}"
    never = [each for each in found if each.state is Steadiness.NEVER]
    if never:
        yield (
            f"Throughput is not steady within the window in {_cells(never, labels)}: there, what "
            f"is said holds for {window}, and not for longer runs."
        )
    later = [each for each in found if each.state is Steadiness.STEADY_LATER]
    if later:
        cut_s = max(each.cut_s or 0.0 for each in later)
        most = max((each.bias_log or 0.0 for each in later), key=abs)
        warmup_s = math.ceil(10 * (study.trials.warmup_s + cut_s)) / 10
        yield (
            f"Throughput becomes steady only within the window in {_cells(later, labels)}, which "
            f"moves its mean by up to {math.expm1(most):+.1%}: what is said holds for {window}. "
            f"Declare `warmup: {warmup_s:g} s`, the same for all systems, to leave that out."
        )
    unknown = [each for each in found if each.state is Steadiness.UNKNOWN]
    if unknown:
        why = unknown[0].why or "too little is known"
        yield f"Whether throughput was steady cannot be told in {_cells(unknown, labels)}: {why}."


def _cells(found: Sequence[SteadyFinding], labels: Labels) -> str:
    first = found[0].cell
    name = labels.place(first.system, first.conditions)
    more = len(found) - 1
    return name if not more else f"{name} and {more} more {'cell' if more == 1 else 'cells'}"
