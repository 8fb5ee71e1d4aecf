"""What one section of a report says: means over conditions, and what they differ by."""

from __future__ import annotations

from steelyard.judge.comparisons.families import Family
from steelyard.judge.kinds.verdict_notes import VerdictNote
from steelyard.plan.model import Frozen
from steelyard.study.model import Level


class MeanFinding(Frozen):
    """A system against the baseline, over a group of conditions.

    Each visit gives the arithmetic mean of its trials in the group, in the unit of the response:
    ``baseline_middle`` and ``other_middle`` are the medians of these over visits. ``difference``,
    other minus baseline in that unit, and the ratio ``estimate_log`` (mean of the logarithms over
    the group) are typical ones (Hodges-Lehmann), each with an interval at ``interval_level`` that
    is valid at the stop; ends are ``None`` where not bounded. ``level`` is what the group shares,
    of the section's ``means_by``; ``None`` for all conditions of the section.
    """

    baseline: str
    other: str
    level: Level | None
    conditions: int
    n_baseline: int
    n_other: int
    baseline_middle: float | None
    other_middle: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    estimate_log: float | None
    low_log: float | None
    high_log: float | None
    interval_level: float
    word: str
    notes: tuple[VerdictNote, ...] = ()


class SectionFinding(Frozen):
    """The section of one ``level`` of ``by``, the factor that the report is cut by.

    Both are ``None`` in a report that has means and is not cut. ``means_by`` is the factor over
    whose levels there are means.
    """

    by: str | None
    level: Level | None
    means_by: str | None
    response: str
    unit: str
    alpha: float
    family: Family
    means: tuple[MeanFinding, ...]
