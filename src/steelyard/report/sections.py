"""The sections of a report: the author's note, means and single conditions of each level."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.sections.findings import MeanFinding, SectionFinding
from steelyard.plan.model import Cell
from steelyard.report.effects import interval, signed_effect
from steelyard.report.figures import Scale, fixed, percent, scale_for, significant, span
from steelyard.report.tables.responses import response_table
from steelyard.report.view import NONE, Table, View
from steelyard.report.vocabulary import family_text, response_of, said_word

AUTHOR = "The author's note"
ALL = "All together"
_DIGITS = 2


@dataclass(frozen=True)
class Section:
    """One section, ready to be set. ``note`` is the author's, ``None`` without one."""

    title: str
    note: str | None
    means: Table
    single: Table


def sections(view: View) -> list[Section]:
    """Every section of the report, in the order of the study."""
    return [_section(each, view) for each in view.own.sections]


def paragraphs(written: str) -> list[str]:
    """A note as the author parted it, by empty lines; line breaks within are spaces."""
    return [" ".join(part.split()) for part in written.split("\n\n") if part.strip()]


def _section(found: SectionFinding, view: View) -> Section:
    name = None if found.level is None else view.run.labels.level(found.level, found.by or "")
    return Section(
        title="Means" if name is None else name,
        note=None if name is None else view.run.author_notes.get(name),
        means=means_table(found, view),
        single=_single(found, view),
    )


def means_table(found: SectionFinding, view: View) -> Table:
    """Each group of conditions: both systems, the difference in the unit and as a ratio."""
    middles = [
        m
        for each in found.means
        for m in (each.baseline_middle, each.other_middle)
        if m is not None
    ]
    scale = scale_for(middles, found.unit)
    unit = f", {scale.unit}" if scale.unit else ""
    several = len({each.other for each in found.means}) > 1
    level = next((percent(each.interval_level) for each in found.means), "95 %")
    head = (
        "Mean of",
        f"{view.run.baseline}{unit}",
        "Compared with it" if several else f"{found.means[0].other}{unit}",
        f"Difference{unit}",
        f"{level} interval",
        "Ratio",
        f"{level} interval",
        "Verdict",
        "Visits",
    )
    rows = tuple(_mean_texts(each, found, view, scale, several=several) for each in found.means)
    note = (
        f"Every visit gives one mean over the conditions of its row; the middle of all visits is "
        f"shown. Differences and ratios are those of typical visits (Hodges-Lehmann), and not of "
        f"the two figures beside them. Error rate {percent(found.alpha)} for "
        f"{family_text(found.family)}."
    )
    return Table("Means", head, rows, frozenset({1, 2, 3, 5, 8}), (note,))


def _mean_texts(
    each: MeanFinding, found: SectionFinding, view: View, scale: Scale, *, several: bool
) -> tuple[str, ...]:
    response = response_of(view, found.response)
    middles = [_in(scale, middle) for middle in (each.baseline_middle, each.other_middle)]
    low, high = each.low_log, each.high_log
    ratio = each.estimate_log
    return (
        ALL if each.level is None else view.run.labels.level(each.level, found.means_by or ""),
        middles[0],
        f"{each.other} {middles[1]}" if several else middles[1],
        *_difference_texts(each, scale),
        NONE if ratio is None else signed_effect(ratio, beside=(low, high)),
        NONE if ratio is None else interval(low, high, estimate_log=ratio),
        said_word(VerdictWord(each.word), ratio, response),
        str(each.n_baseline + each.n_other),
    )


def _difference_texts(each: MeanFinding, scale: Scale) -> tuple[str, str]:
    if each.difference is None:
        return NONE, NONE
    ends = [end for end in (each.difference_low, each.difference_high) if end is not None]
    figures = [value / scale.divisor for value in (each.difference, *ends)]
    decimals = _decimals(figures)
    shown = fixed(figures[0], decimals, signed=True)
    low, high = (
        None if end is None else fixed(end / scale.divisor, decimals, signed=True)
        for end in (each.difference_low, each.difference_high)
    )
    return shown, _span(low, high)


def _span(low: str | None, high: str | None) -> str:
    if low is None and high is None:
        return "not bounded on either side"
    if high is None:
        return f"above {low}, not bounded above"
    return f"below {high}, not bounded below" if low is None else span(low, high)


def _decimals(figures: list[float]) -> int:
    """As many as leave the smallest of the figures two digits, at most four."""
    least = min((abs(value) for value in figures if value), default=1.0)
    return next((n for n in range(5) if least * 10**n >= 10 ** (_DIGITS - 1)), 4)


def _in(scale: Scale, value: float | None) -> str:
    return NONE if value is None else significant(value / scale.divisor)


def _single(found: SectionFinding, view: View) -> Table:
    """The cells of the section, one row for each, with the verdict on it."""
    compared = {each.other for each in found.means} | {view.run.baseline}

    def belongs(cell: Cell) -> bool:
        at = cell.conditions.get(found.by or "", found.level)
        return cell.system in compared and at == found.level

    return response_table(view, response_of(view, found.response), keep=belongs)
