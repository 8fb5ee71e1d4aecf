"""Where throughput peaks, saturates or falls back, in words, rows and one table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from steelyard.judge.analyses.scaling.findings import CapacityFinding, FallFinding, ScalingFinding
from steelyard.judge.findings import ResponseFinding
from steelyard.report import notes
from steelyard.report.effects import interval, signed_effect
from steelyard.report.figures import counted, listed, percent, quantity, significant
from steelyard.report.sentences import verdict_sentence
from steelyard.report.tables.table import NONE, Table
from steelyard.report.view import View
from steelyard.report.vocabulary import noun_of, response_of
from steelyard.study.labels import Labels

TITLE = "Where it saturates"
_MOST_SAID = 3


def saturation_lines(view: View) -> list[str]:
    """A sentence for each curve, then system against system on the most that each reached."""
    lines = [_curve_sentence(each, view) for each in view.own.scaling]
    for verdict in view.own.peaks:
        noun = noun_of(response_of(view, verdict.response))
        lines.append(f"The most {noun} at any level. {verdict_sentence(verdict, view)}")
    lines += [_capacity_sentence(each, view.run.labels) for each in view.own.capacities]
    known = _with_capacity(view)
    lines += [str(verdict_sentence(each, known)) for each in view.own.capacity_verdicts]
    return lines


def _with_capacity(view: View) -> View:
    """The view with what searches give among the responses, so that words know them."""
    more = {
        each.name: ResponseFinding(
            name=each.name, label=each.name, unit=each.unit, direction="higher", primary=False
        )
        for each in view.own.capacities
    }
    return view.with_own(responses=(*view.own.responses, *more.values()))


def _capacity_sentence(found: CapacityFinding, labels: Labels) -> str:
    who = labels.place(found.system, found.conditions)
    target = listed([f"{each.response} {each.limit}" for each in found.targets])
    return (
        f"{who}: {found.name} under {target}: {_found_words(found, labels)}{_level_words(found)}."
    )


def _found_words(found: CapacityFinding, labels: Labels) -> str:
    searches = counted(len(found.values), "search", "searches")
    missing = "; ".join(notes.texts(found.not_found[:_MOST_SAID], labels))
    if found.median is None:
        return missing or "never searched"
    ends = ""
    if found.low is not None and found.high is not None:
        level = percent(found.interval_level)
        ends = f" ({level} interval {_level(found.low)}..{_level(found.high)})"
    lost = f"; {missing}" if missing else ""
    return f"{_level(found.median)} {found.unit}{ends}, the median of {searches}{lost}"


def _level_words(found: CapacityFinding) -> str:
    """What the trials at the levels say by themselves."""
    said = []
    if found.holds_at is not None:
        said.append(f"it surely holds up to {_level(found.holds_at)}")
    if found.breaks_at is not None:
        said.append(f"it surely breaks at {_level(found.breaks_at)}")
    return f"; of the levels, {' and '.join(said)}" if said else ""


def _curve_sentence(found: ScalingFinding, view: View) -> str:
    who = view.run.labels.place(found.system, found.conditions)
    noun = noun_of(response_of(view, found.response))
    return f"{who}: {_peak_words(found, noun, view.run.labels)}."


def _peak_words(found: ScalingFinding, noun: str, labels: Labels) -> str:
    peak, fall = found.peak, found.fall
    if found.peak_stated and peak is not None and peak.at is not None:
        high = peak.at_high if peak.at_high is not None else peak.at
        words = (
            f"peak {quantity(peak.throughput or 0.0, found.unit)} at {_at(found, peak.at, labels)} "
            f"({percent(peak.interval_level)} interval {_level(peak.at_low)}..{_level(high)})"
        )
        return words + (
            f"; beyond it {noun} falls: {_fall_words(found, fall, labels)}" if _falls(fall) else ""
        )
    said = [f"no peak is stated{_knee_words(found, labels)}"]
    if fall is not None and fall.falls:
        said.append(
            f"{noun} falls after {_at(found, fall.best, labels)}: "
            f"{_fall_words(found, fall, labels)}"
        )
    said += notes.texts(found.refusals[:_MOST_SAID], labels)
    drawn = "" if found.drawn else ", so no curve is drawn"
    return "; ".join(said) + drawn


def _falls(fall: FallFinding | None) -> bool:
    return fall is not None and fall.falls


def _fall_words(found: ScalingFinding, fall: FallFinding | None, labels: Labels) -> str:
    if fall is None:
        return NONE
    ends = interval(fall.low_log, fall.high_log, estimate_log=fall.change_log)
    margin = ", more than your margin" if fall.beyond_margin else ""
    return (
        f"{_at(found, fall.last, labels)} {signed_effect(fall.change_log, beside=_ends(fall))} "
        f"({percent(fall.interval_level)} interval {ends}{margin})"
    )


def _ends(fall: FallFinding) -> tuple[float, float]:
    return fall.low_log, fall.high_log


def _knee_words(found: ScalingFinding, labels: Labels) -> str:
    if found.knee is None:
        return ""
    ends = ""
    if found.knee.low is not None and found.knee.high is not None:
        ends = f" ({_level(found.knee.low)}..{_level(found.knee.high)})"
    return f": saturation from about {_at(found, found.knee.at, labels)}{ends}"


def _at(found: ScalingFinding, level: float, labels: Labels) -> str:
    """A level as people write it; a computed one with as many digits as its precision allows."""
    shown = float(_level(level).replace(",", ""))
    return labels.conditions({found.factor: int(shown) if shown.is_integer() else shown})


def _level(level: float) -> str:
    if float(level).is_integer():
        return f"{level:,.0f}"
    return significant(level, max(3, len(f"{level:.0f}"))) if level < 1000 else f"{level:,.0f}"


def saturation_table(view: View) -> Table:
    """One row for each curve."""
    head = ("System", "Condition", "Peak at", "Interval", "Most", "Knee", "Last against best",
            "Noise", "Visits", "Left out, or not stated")  # fmt: skip
    rows = tuple(_texts(found, view.run.labels) for found in view.own.scaling)
    return Table(TITLE, head, rows, frozenset({2, 3, 4, 5, 6, 7, 8}))


def _texts(found: ScalingFinding, labels: Labels) -> tuple[str, ...]:
    peak = found.peak if found.peak_stated else None
    most = max((level.smooth for level in found.levels), default=None)
    left_out = notes.texts([*found.dropped, *found.refusals], labels)
    return (
        found.system,
        labels.conditions(found.conditions) or "all trials",
        NONE if peak is None or peak.at is None else _level(peak.at),
        NONE if peak is None or peak.at_high is None
        else f"{_level(peak.at_low)}..{_level(peak.at_high)}",
        NONE if most is None else quantity(most, found.unit),
        NONE if found.knee is None else _level(found.knee.at),
        NONE if found.fall is None
        else signed_effect(found.fall.change_log, beside=_ends(found.fall)),
        NONE if found.noise_log is None else percent(found.noise_log),
        counted(found.visits, "visit"),
        "; ".join(left_out) or NONE,
    )  # fmt: skip


def saturation_rows(view: View) -> Iterator[dict[str, Any]]:
    """Rows of the flat table: each capacity, each curve's peak, each level of a typical visit."""
    for capacity in view.own.capacities:
        yield {f"condition.{name}": level for name, level in capacity.conditions.items()} | {
            "kind": "capacity",
            "response": capacity.name,
            "unit": capacity.unit,
            "system": capacity.system,
            "median": capacity.median,
            "low": capacity.low,
            "high": capacity.high,
            "interval_level": capacity.interval_level,
            "n": len(capacity.values),
            "note": "; ".join(notes.texts(capacity.not_found, view.run.labels)),
        }
    for found in view.own.scaling:
        shared = {"response": found.response, "system": found.system, "n": found.visits}
        places = {f"condition.{name}": level for name, level in found.conditions.items()}
        peak = found.peak
        yield (
            shared
            | places
            | {
                "kind": "peak",
                "unit": found.factor,
                "value": None if peak is None else peak.at,
                "low": None if peak is None else peak.at_low,
                "high": None if peak is None else peak.at_high,
                "interval_level": None if peak is None else peak.interval_level,
                "note": "; ".join(notes.texts(found.refusals, view.run.labels)),
            }
        )
        for level in found.levels:
            yield (
                shared
                | places
                | {
                    "kind": "level",
                    "unit": found.unit,
                    f"condition.{found.factor}": f"{level.level:g}",
                    "value": level.throughput,
                    "n": level.visits,
                }
            )
