"""Where throughput peaks, saturates or falls back, in sentences."""

from __future__ import annotations

from steelyard.judge.analyses.scaling.findings import CapacityFinding, FallFinding, ScalingFinding
from steelyard.judge.findings import ResponseFinding
from steelyard.report import notes
from steelyard.report.effects import interval, signed_effect
from steelyard.report.figures import counted, listed, percent, quantity, significant, span
from steelyard.report.sentences.verdict import verdict_sentence
from steelyard.report.view import NONE, View
from steelyard.report.vocabulary import noun_of, response_of
from steelyard.study.labels import Labels

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
    searches = counted(found.searches or len(found.values), "search", "searches")
    missing = "; ".join(notes.texts(found.not_found[:_MOST_SAID], labels))
    if found.median is None:
        return "; ".join([missing or "never searched", *_some(found, searches)])
    ends = ""
    if found.low is not None and found.high is not None:
        level = percent(found.interval_level)
        ends = f" ({level} interval {span(level_text(found.low), level_text(found.high))})"
    lost = f"; {missing}" if missing else ""
    return f"{level_text(found.median)} {found.unit}{ends}, the median of {searches}{lost}"


def _some(found: CapacityFinding, searches: str) -> list[str]:
    """Of searches of which fewer than half found a load: what these found."""
    if not found.values:
        return []
    least, most = level_text(min(found.values)), level_text(max(found.values))
    within = least if least == most else span(least, most)
    return [f"{within} {found.unit} in {len(found.values)} of {searches}"]


def _level_words(found: CapacityFinding) -> str:
    """What the trials at the levels say by themselves."""
    said = []
    if found.holds_at is not None:
        said.append(f"it surely holds up to {level_text(found.holds_at)}")
    if found.breaks_at is not None:
        said.append(f"it surely breaks at {level_text(found.breaks_at)}")
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
            f"({percent(peak.interval_level)} interval "
            f"{span(level_text(peak.at_low), level_text(high))})"
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
        f"{_at(found, fall.last, labels)} {signed_effect(fall.change_log, beside=fall_ends(fall))} "
        f"({percent(fall.interval_level)} interval {ends}{margin})"
    )


def fall_ends(fall: FallFinding) -> tuple[float, float]:
    return fall.low_log, fall.high_log


def _knee_words(found: ScalingFinding, labels: Labels) -> str:
    if found.knee is None:
        return ""
    ends = ""
    if found.knee.low is not None and found.knee.high is not None:
        ends = f" ({span(level_text(found.knee.low), level_text(found.knee.high))})"
    return f": saturation from about {_at(found, found.knee.at, labels)}{ends}"


def _at(found: ScalingFinding, level: float, labels: Labels) -> str:
    """A level as people write it; a computed one with as many digits as its precision allows."""
    shown = float(level_text(level).replace(",", ""))
    return labels.conditions({found.factor: int(shown) if shown.is_integer() else shown})


def level_text(level: float) -> str:
    if float(level).is_integer():
        return f"{level:,.0f}"
    return significant(level, max(3, len(f"{level:.0f}"))) if level < 1000 else f"{level:,.0f}"
