"""Sections by one factor and means by another, as ``report`` of the study asks for them.

A mean over a group of conditions is judged as the overall verdict is, with the conditions of the
group alone; all groups of a section's kind share one error rate in equal parts. Differences in
the unit of the response are judged by the same tests on the values themselves, which are first
divided by the baseline's median so that the tests meet numbers of the size they are made for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median

from steelyard.inference.spending import FIRST_LOOK
from steelyard.judge.analyses.sections.findings import MeanFinding, SectionFinding
from steelyard.judge.comparisons.comparison import judge
from steelyard.judge.comparisons.families import Comparison, Family, pairs
from steelyard.judge.comparisons.verdict_finding import finding
from steelyard.judge.visits.pairs import Conditions, Pair
from steelyard.judge.visits.readings import Readings
from steelyard.judge.visits.series import Series
from steelyard.plan.model import Plan
from steelyard.study.model import Level
from steelyard.study.workload_study import WorkloadStudy


@dataclass(frozen=True)
class _Group:
    """The conditions that one mean is over, and the level of ``means_by`` they share."""

    pair: Pair
    shared: Conditions
    level: Level | None


@dataclass(frozen=True)
class _Difference:
    """In the unit of the response; the ends are ``None`` where not bounded."""

    size: float | None = None
    low: float | None = None
    high: float | None = None


def section_findings(
    study: WorkloadStudy, plan: Plan, readings: Readings
) -> Iterator[SectionFinding]:
    """One for each level of the factor that the report is cut by; none where it is not cut."""
    cut = _sections(study, plan)
    family, share = _family(study, cut)
    for level, groups in cut:
        yield SectionFinding(
            by=study.report.sections_by,
            level=level,
            means_by=study.report.means_by,
            response=study.primary.name,
            unit=study.primary.unit,
            alpha=study.trials.alpha,
            family=family,
            means=tuple(_mean(study, plan, readings, each, (family, share)) for each in groups),
        )


def _sections(study: WorkloadStudy, plan: Plan) -> list[tuple[Level | None, list[_Group]]]:
    by, compared = study.report.sections_by, pairs(study, plan)
    if not plan.visits or (by is None and study.report.means_by is None):
        return []
    if by is None:
        return [(None, _groups(study, plan, compared, {}))]
    if by == study.compare:
        return [(pair.other, _groups(study, plan, [pair], {})) for pair in compared]
    levels = dict.fromkeys(each[by] for each in plan.conditions)
    return [(level, _groups(study, plan, compared, {by: level})) for level in levels]


def _groups(study: WorkloadStudy, plan: Plan, compared: list[Pair], at: Conditions) -> list[_Group]:
    """Pair by pair: one group for each level of ``means_by``, then all of the section."""
    by = study.report.means_by
    levels = dict.fromkeys(each[by] for each in plan.conditions) if by else ()
    groups = []
    for pair in compared:
        groups += [_Group(pair, {**at, by: level}, level) for level in levels if by]
        groups.append(_Group(pair, at, None))
    return groups


def _family(
    study: WorkloadStudy, cut: list[tuple[Level | None, list[_Group]]]
) -> tuple[Family, float]:
    count = sum(len(groups) for _, groups in cut)
    family = Family(response=study.primary.label, scope="section_means", places=count)
    return family, study.trials.alpha / max(count, 1)


def _mean(
    study: WorkloadStudy,
    plan: Plan,
    readings: Readings,
    group: _Group,
    family: tuple[Family, float],
) -> MeanFinding:
    margin, name = study.trials.margin_log, study.primary
    alpha = study.trials.alpha
    comparison = Comparison(
        name,
        group.pair,
        group.shared,
        alpha,
        family[1],
        family[0],
        span_s=study.trials.span_s,
    )
    ratio = finding(judge(comparison, readings, margin), readings, margin)
    plain = readings.series(group.pair, name, group.shared, scale="plain")
    difference = _difference(comparison, plain, readings, margin)
    sign = -1.0 if name.direction == "lower" else 1.0
    return MeanFinding(
        baseline=group.pair.baseline,
        other=group.pair.other,
        level=group.level,
        conditions=sum(group.shared.items() <= each.items() for each in plan.conditions),
        n_baseline=ratio.n_baseline,
        n_other=ratio.n_other,
        baseline_middle=_middle(plain, sign, other=False),
        other_middle=_middle(plain, sign, other=True),
        difference=difference.size,
        difference_low=difference.low,
        difference_high=difference.high,
        estimate_log=ratio.estimate_log,
        low_log=ratio.low_log,
        high_log=ratio.high_log,
        interval_level=ratio.interval_level,
        word=ratio.word.value,
        notes=ratio.reasons,
    )


def _middle(plain: Series, sign: float, *, other: bool) -> float | None:
    values = plain.values[plain.other == other]
    return sign * median(float(value) for value in values) if len(values) else None


def _difference(
    comparison: Comparison, plain: Series, readings: Readings, margin_log: float
) -> _Difference:
    """The typical difference, other minus baseline in the raw response, with its interval."""
    own = plain.values[~plain.other]
    unit = abs(float(median(own))) if len(own) else 0.0
    if plain.problems or unit == 0 or not plain.n_other:
        return _Difference()
    scaled = replace(plain, values=plain.values / unit)
    tests = readings.tests(scaled, comparison.pair, exploratory=comparison.exploratory)
    found = tests.estimate()
    if found is None:
        return _Difference()
    raw = unit * (-1 if comparison.response.direction == "lower" else 1)
    if len(scaled.values) < FIRST_LOOK:
        return _Difference(raw * found.ratio_log)
    level = comparison.share / 2
    [(interval, _)] = tests.sizes(margin_log, [level], found.ratio_log)
    ends = [None if end is None else raw * end for end in interval]
    ends = ends if raw > 0 else ends[::-1]
    return _Difference(raw * found.ratio_log, ends[0], ends[1])
