"""From the courses of trials to what is said of each cell, and of the study as a whole."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.judge.analyses.steadiness.findings import NoOperations, Steadiness, SteadyFinding
from steelyard.judge.analyses.steadiness.steady import Steady, steady
from steelyard.judge.kinds.caveats import Caveat, NeverSteady, SteadinessUnknown, SteadyLater
from steelyard.judge.visits.attempts import good_by_cell, place_of
from steelyard.plan.model import Cell, Plan
from steelyard.records.attempt_folder import attempt_key
from steelyard.records.load_results import Course
from steelyard.records.schema import TrialRecord
from steelyard.study.ending import extent_of
from steelyard.study.model import BYTES
from steelyard.study.workload_study import WorkloadStudy


def steady_findings(
    study: WorkloadStudy, plan: Plan, records: Sequence[TrialRecord], courses: Mapping[str, Course]
) -> Iterator[SteadyFinding]:
    """One for each cell whose good trials have courses; ``courses`` are by attempt key.

    Where the study has events, of the time before the first.
    """
    first_s = min((event.at_s for event in study.events.values()), default=math.inf)
    good = good_by_cell(records)
    for conditions in plan.conditions:
        for system in plan.systems:
            cell = Cell(system=system, conditions=conditions)
            own = [
                _until(courses[key], first_s)
                for record in good[place_of(cell)]
                if (key := attempt_key(record.trial, record.attempt)) in courses
            ]
            if own:
                yield _finding(cell, own, study)


def _until(course: Course, end_s: float) -> Course:
    """The intervals that end by then."""
    whole = math.floor(min(end_s / course.interval_s, len(course.per_s)))
    return Course(course.interval_s, course.per_s[:whole])


def _finding(cell: Cell, courses: Sequence[Course], study: WorkloadStudy) -> SteadyFinding:
    series, interval_s = mean_course(courses)
    found = steady(series, study.trials.margin_log)
    if study.workload.operation == BYTES:
        found = Steady(Steadiness.UNKNOWN, len(series), reason=NoOperations())
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
        reason=found.reason,
    )


def mean_course(courses: Sequence[Course]) -> tuple[Floats, float]:
    """The mean over trials, each relative to its own mean: what warms up does so in every one.

    Trials in which nothing was answered do not count.
    """
    length = min(len(course.per_s) for course in courses)
    rows = [np.array(course.per_s[:length]) for course in courses]
    relative = [row / row.mean() for row in rows if row.mean() > 0]
    mean = np.mean(relative, axis=0) if relative else np.zeros(length)
    return np.asarray(mean), courses[0].interval_s


def steadiness_caveats(study: WorkloadStudy, found: Sequence[SteadyFinding]) -> Iterator[Caveat]:
    """What the windows do not show. A warm-up must be the same for all systems, and declared."""
    never = [each for each in found if each.state is Steadiness.NEVER]
    if never:
        yield NeverSteady(cells=_cells(never), extent=extent_of(study))
    later = [each for each in found if each.state is Steadiness.STEADY_LATER]
    if later:
        cut_s = max(each.cut_s or 0.0 for each in later)
        yield SteadyLater(
            cells=_cells(later),
            extent=extent_of(study),
            bias_log=max((each.bias_log or 0.0 for each in later), key=abs),
            warmup_s=math.ceil(10 * (study.trials.warmup_s + cut_s)) / 10,
        )
    unknown = [each for each in found if each.state is Steadiness.UNKNOWN]
    if unknown:
        yield SteadinessUnknown(cells=_cells(unknown), reason=unknown[0].reason)


def _cells(found: Sequence[SteadyFinding]) -> tuple[Cell, ...]:
    return tuple(each.cell for each in found)
