"""From records and courses to when each event happened and what became of the answers then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

import numpy as np

from steelyard.judge.analyses.events.findings import EventFinding
from steelyard.judge.analyses.resources.findings import ResourceFinding
from steelyard.judge.visits.attempts import good_by_cell, place_of
from steelyard.plan.model import Cell, Plan
from steelyard.records.attempt_folder import attempt_key
from steelyard.records.load_results import Course
from steelyard.records.schema import TrialRecord
from steelyard.study.workload_study import WorkloadStudy

_INTERVALS_SHOWN = 100
_SPREAD = (0.1, 0.5, 0.9)
_NS_PER_S = 1e9


def event_findings(
    study: WorkloadStudy, plan: Plan, records: Sequence[TrialRecord]
) -> Iterator[EventFinding]:
    """One for each event and cell, in the order of their moments."""
    for cell, good in _by_cell(study, plan, records):
        for name in study.events:
            moments = [moment for record in good if (moment := _moment(record, name))]
            if moments:
                yield EventFinding(
                    cell=cell,
                    event=name,
                    machine=study.events[name].on,
                    trials=len(moments),
                    began_s=median(began for began, _ in moments),
                    ended_s=median(ended for _, ended in moments),
                )


def rate_findings(
    study: WorkloadStudy, plan: Plan, records: Sequence[TrialRecord], courses: Mapping[str, Course]
) -> Iterator[ResourceFinding]:
    """The answers a second over the windows of each cell of a study with events."""
    for cell, good in _by_cell(study, plan, records):
        keys = [attempt_key(record.trial, record.attempt) for record in good]
        own = [courses[key] for key in keys if key in courses]
        if own:
            yield _rate(study, cell, own)


def _rate(study: WorkloadStudy, cell: Cell, courses: Sequence[Course]) -> ResourceFinding:
    intervals = min(len(course.per_s) for course in courses)
    each = max(1, intervals // _INTERVALS_SHOWN)
    shown = intervals // each
    rows = np.array([course.per_s[: shown * each] for course in courses])
    low, middle, high = np.quantile(rows.reshape(-1, shown, each).mean(axis=2), _SPREAD, axis=0)
    width_s = each * courses[0].interval_s
    return ResourceFinding(
        cell=cell,
        resource="answers",
        unit=f"{study.workload.operation}/s",
        limit=None,
        trials=len(courses),
        refused=0,
        window_s=study.trials.window_s,
        at_s=tuple(_short((place + 0.5) * width_s) for place in range(shown)),
        median=tuple(map(_short, middle)),
        low=tuple(map(_short, low)),
        high=tuple(map(_short, high)),
    )


def _by_cell(
    study: WorkloadStudy, plan: Plan, records: Sequence[TrialRecord]
) -> Iterator[tuple[Cell, list[TrialRecord]]]:
    """The good trials of every cell; none of a study without events."""
    good = good_by_cell(records) if study.events else {}
    for cell in plan.every_cell if study.events else ():
        yield cell, good[place_of(cell)]


def _moment(record: TrialRecord, name: str) -> tuple[float, float] | None:
    """From the start of the window of the first instance."""
    starts = [each.started_ns for each in record.instances if each.started_ns is not None]
    found = next((event for event in record.events if event.event == name), None)
    if found is None or not starts:
        return None
    began, ended = found.began_ns - starts[0], found.ended_ns - starts[0]
    return began / _NS_PER_S, ended / _NS_PER_S


def _short(value: float) -> float:
    """Four digits: a drawing shows three."""
    return float(f"{value:.4g}")
