"""One curve judged: the law fitted or refused with its reasons, peak, knee and fall."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.judge.analyses.scaling import usl
from steelyard.judge.analyses.scaling.findings import (
    CurveRefusal,
    FewLevels,
    FewVisitsPerLevel,
    LackOfFit,
    LevelFinding,
    LittlesLawBroken,
    NoFall,
    NoPeak,
    PeakFinding,
    ScalingFinding,
    SuperLinear,
)
from steelyard.judge.analyses.scaling.readings import Axis, Course, axis_of, courses
from steelyard.judge.analyses.scaling.shape import fall, knee, super_linear, umbrella
from steelyard.judge.analyses.scaling.table import Table
from steelyard.plan.model import Plan
from steelyard.records.schema import TrialRecord
from steelyard.study.workload_study import WorkloadStudy

LEVELS_NEEDED, VISITS_NEEDED = 6, 3
POOR_FIT = 0.05
BEYOND = 1.5
_DRAWN = 49


def scaling_findings(
    study: WorkloadStudy, plan: Plan, records: Sequence[TrialRecord]
) -> Iterator[ScalingFinding]:
    """Every curve of a study whose load has at least three levels; none otherwise."""
    axis = axis_of(study, plan)
    if axis is not None:
        for course in courses(axis, plan, records):
            yield curve_of(course, axis, study.trials.margin_log)


def curve_of(course: Course, axis: Axis, margin_log: float) -> ScalingFinding:
    """All that is said of one system over the levels."""
    table, unit = course.table, _unit(axis)
    found = ScalingFinding(
        system=course.system,
        response=axis.response.name,
        unit=axis.response.unit,
        factor=axis.factor,
        conditions=course.conditions,
        levels=(),
        dropped=course.dropped,
        visits=0 if table is None else table.visits,
        gamma=None,
        alpha=None,
        beta=None,
        noise_log=None,
        lack_of_fit_p=None,
        refusals=tuple(_too_few(table)),
        peak=None,
        peak_stated=False,
        knee=None,
        fall=None,
    )
    if table is None or len(table.levels) < 2:
        return found
    form = table.form
    smooth = umbrella(form.means, table.known.sum(axis=0).astype(float))
    shown = found.model_copy(
        update={
            "levels": _levels(table, smooth, None),
            "noise_log": form.noise_log,
            "knee": knee(table, smooth, margin_log),
            "fall": fall(table, margin_log),
        }
    )
    return shown if shown.refusals else _fitted(shown, course, table, smooth, unit)


def _fitted(
    found: ScalingFinding, course: Course, table: Table, smooth: Floats, unit: float
) -> ScalingFinding:
    scaled = replace(table, levels=table.levels / unit)
    best = usl.fit(scaled)
    p = usl.lack_of_fit(scaled.form, best)
    refusals = tuple(_unfit(table, course, p))
    if refusals:
        return found.model_copy(update={"lack_of_fit_p": p, "refusals": refusals})
    peak = _peak(scaled, best, unit)
    no_peak = tuple(_beyond(found, peak))
    return found.model_copy(
        update={
            "levels": _levels(table, smooth, best.log_curve(scaled.levels)),
            "gamma": math.exp(best.log_gain),
            "alpha": best.contention,
            "beta": best.coherence,
            "drawn": _drawn(scaled, best, unit),
            "lack_of_fit_p": p,
            "refusals": no_peak,
            "peak": peak,
            "peak_stated": not no_peak,
        }
    )


def _too_few(table: Table | None) -> Iterator[CurveRefusal]:
    levels = 0 if table is None else len(table.levels)
    visits = 0 if table is None else int(table.known.sum(axis=0).min())
    if levels < LEVELS_NEEDED:
        yield FewLevels(levels=levels, needed=LEVELS_NEEDED)
    if visits < VISITS_NEEDED:
        yield FewVisitsPerLevel(visits=visits, needed=VISITS_NEEDED)


def _unfit(table: Table, course: Course, p: float | None) -> Iterator[CurveRefusal]:
    if course.broken:
        yield LittlesLawBroken(levels=course.broken)
    steep = super_linear(table)
    if steep is not None:
        first, second = (float(level) for level in table.levels[:2])
        yield SuperLinear(excess_log=steep.estimate_log, first_level=first, second_level=second)
    if p is not None and p < POOR_FIT:
        yield LackOfFit(p=p)


def _beyond(found: ScalingFinding, peak: PeakFinding) -> Iterator[CurveRefusal]:
    """A peak must be bounded by the data, and seen from behind: a fall that needs no curve."""
    last = found.levels[-1].level
    if peak.at_high is None or peak.at_high > BEYOND * last:
        yield NoPeak(last_level=last)
    elif found.fall is None or not found.fall.falls:
        yield NoFall(last_level=last)


def _peak(table: Table, best: usl.Fit, unit: float) -> PeakFinding:
    at, height = usl.peak_interval(table, best), usl.height_interval(table, best)
    top = None
    if math.isfinite(best.peak_at):
        top = math.exp(float(best.log_curve(np.array([best.peak_at]))[0]))
    return PeakFinding(
        at=best.peak_at * unit if math.isfinite(best.peak_at) else None,
        at_low=at.low * unit,
        at_high=at.high * unit if math.isfinite(at.high) else None,
        throughput=top,
        throughput_low=math.exp(height.low),
        throughput_high=math.exp(height.high) if math.isfinite(height.high) else None,
        interval_level=usl.LEVEL,
    )


def _levels(table: Table, smooth: Floats, fitted: Floats | None) -> tuple[LevelFinding, ...]:
    return tuple(
        LevelFinding(
            level=float(level),
            throughput=math.exp(table.form.means[place]),
            smooth=math.exp(smooth[place]),
            fitted=None if fitted is None else math.exp(fitted[place]),
            visits=int(table.known[:, place].sum()),
        )
        for place, level in enumerate(table.levels)
    )


def _drawn(table: Table, best: usl.Fit, unit: float) -> tuple[tuple[float, float], ...]:
    """Places along the curve, within the levels that were measured and never beyond."""
    places = np.geomspace(table.levels[0], table.levels[-1], _DRAWN)
    heights = np.exp(best.log_curve(places))
    return tuple((float(at * unit), float(high)) for at, high in zip(places, heights, strict=True))


def _unit(axis: Axis) -> float:
    """The law counts users; a rate is reported in multiples of its smallest level."""
    return axis.levels[0] if axis.factor.endswith(".rate") else 1.0
