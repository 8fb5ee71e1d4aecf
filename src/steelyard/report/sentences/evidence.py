"""How sure the answer is, in one line: interval, margin, n, why it stopped, error rate."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import RunFindings, VerdictFinding
from steelyard.report.effects import interval, signed_effect
from steelyard.report.figures import counted, percent
from steelyard.report.sentences.assumptions import decided_together, judged, unit_of_stop
from steelyard.report.sentences.headline import leading_verdicts
from steelyard.report.sentences.verdict import (
    ANY_STOP,
    EARLY,
    ends_of,
    excludes_zero,
    further,
    interval_level,
    reason_text,
    stop_words,
    verdict_reason,
    visits_words,
    when_decided,
)
from steelyard.report.view import View, views
from steelyard.report.vocabulary import DECIDED

_STOPPED = {
    "decided": "stopped because decided",
    "budget_visits": "the budget of visits ended",
    "budget_time": "the budget of time ended",
    "interrupted": "interrupted",
    "failures": "stopped because nothing was left to compare",
    "error": "ended by an error",
    "open": "no end recorded",
}


@dataclass(frozen=True)
class Evidence:
    """``interval`` leads; ``rest`` follows. Empty where nothing has an interval."""

    interval: str
    rest: tuple[str, ...]


def evidence(run: RunFindings) -> Evidence:
    """Of one comparison all of it; of several what they share."""
    found = [(view, verdict) for view in views(run) for verdict in leading_verdicts(view)]
    if len(found) == 1:
        return _of_one(found[0][1], found[0][0])
    return Evidence("", tuple(_of_several([verdict for _, verdict in found], run)))


def signed_ends(verdict: VerdictFinding) -> str:
    """The interval of a verdict, always with signs: ``-68.2 to -51.1 %``."""
    low, high = ends_of(verdict)
    margin = verdict.margin_log
    return interval(
        low,
        high,
        estimate_log=verdict.estimate_log,
        direction=None,
        exact_to=(0.0, margin, -margin),
        excludes_zero=excludes_zero(verdict.word),
    )


def signed_size(verdict: VerdictFinding) -> str:
    """The estimate, always with a sign, beside its interval."""
    return signed_effect(verdict.estimate_log or 0.0, beside=ends_of(verdict))


def margin_span(margin_log: float) -> str:
    """Both bounds of a margin: ``-16.7 to +20.0 %``."""
    return interval(-margin_log, margin_log, estimate_log=0.0, direction=None)


def _of_one(verdict: VerdictFinding, view: View) -> Evidence:
    shown = when_decided(verdict)
    judged_at_all = shown.estimate_log is not None and shown.word is not VerdictWord.NOT_JUDGED
    ends = f"{percent(interval_level(shown))} CI {signed_ends(shown)}" if judged_at_all else ""
    rest = [_margin(shown, view) if judged_at_all else verdict_reason(shown)]
    rest += _resolved(shown, view)
    rest.append(f"n = {visits_words(shown)}")
    rest.append(_stopped(view.run))
    if shown.withheld is not None:
        rest.append(f"verdict withheld: {reason_text(shown, shown.withheld)}")
    rest.append(_error_rate(shown.alpha, view))
    return Evidence(ends, (*rest, *_forecast(shown)))


def _margin(verdict: VerdictFinding, view: View) -> str:
    ends = margin_span(verdict.margin_log)
    low, high = ends_of(verdict)
    margin = verdict.margin_log
    if verdict.word is VerdictWord.EQUIVALENT:
        return f"within the margin of {ends}"
    if VerdictWord.EQUIVALENT in verdict.words:
        return f"a difference, and within the margin of {ends}"
    beyond = _is_beyond(low, high, margin)
    if not beyond:
        if verdict.word in DECIDED:
            return f"reaches into the margin of {ends}"
        outside = low is None or high is None or low < -margin or high > margin
        return f"reaches beyond the margin of {ends}" if outside else f"margin {ends}"
    parts = [v for v in judged(view) if v.conditions is not None and v.other == verdict.other]
    everywhere = parts and all(_is_beyond(v.low_log, v.high_log, margin) for v in parts)
    return f"beyond the margin of {ends}" + (" at every condition" if everywhere else "")


def _resolved(verdict: VerdictFinding, view: View) -> Iterator[str]:
    """Of one system under two names: which differences so many visits show on this machine."""
    low, high = ends_of(verdict)
    if any(each.declared for each in view.run.differences) or low is None or high is None:
        return
    if view.run.stop.reason == "imported" or verdict.withheld is not None:
        return  # what differs is not known; what was seen is not the systems'
    if low < 0 < high and verdict.estimate_log is not None:
        least = percent(math.expm1(max(-low, high)))
        yield f"the systems are declared alike: differences from about {least} on would show"


def _is_beyond(low: float | None, high: float | None, margin: float) -> bool:
    return (low is not None and low >= margin) or (high is not None and high <= -margin)


def _stopped(run: RunFindings) -> str:
    stop = run.stop
    if run.design == "none":
        return "judged once, after the last trial"
    left_out = stop.visits_planned - stop.visits_done
    if stop.reason == "budget_visits" and left_out:  # of systems that were decided, or had failed
        planned = counted(stop.visits_planned, unit_of_stop(run))
        return f"the budget of {planned} ended, {left_out} of them left out"
    early = stop.reason == "decided" and left_out
    told = "stopped early because decided" if early else _STOPPED[stop.reason]
    told = told.replace("visit", unit_of_stop(run))
    if decided_together(run):
        told += " on all of these machines"
    return f"{told} after {stop.visits_done} of {counted(stop.visits_planned, unit_of_stop(run))}"


def _error_rate(alpha: float, view: View) -> str:
    valid = ", valid under early stopping" if stop_words(view) in (EARLY, ANY_STOP) else ""
    return f"error rate {percent(alpha)}{valid}"


def _forecast(verdict: VerdictFinding) -> Iterator[str]:
    """What it would take; never beside a verdict that is withheld."""
    if verdict.withheld is None and (text := further(verdict)):
        yield text.removeprefix("; ")


def _of_several(found: list[VerdictFinding], run: RunFindings) -> Iterator[str]:
    if found:
        levels = dict.fromkeys(percent(interval_level(each)) for each in found)
        yield f"{' and '.join(levels)} CI in each row"
        margins = dict.fromkeys(margin_span(each.margin_log) for each in found)
        yield f"margin {' or '.join(margins)}"
    influence = [each for view in views(run) for each in view.own.influence]
    for each in influence if not found else ():
        replicates = counted(each.replicates, "replicate")
        yield f"{counted(each.replicates * each.cells, 'trial')} in {replicates} of {each.cells}"
        yield f"margin {margin_span(each.margin_log)}"
        yield f"error rate {percent(each.alpha)} for all effects together"
    if not influence or found:
        yield f"n = {counted(run.stop.visits_done, 'visit')}"
    yield _stopped(run)
    alphas = dict.fromkeys(each.alpha for each in found)
    for alpha in alphas:
        count = counted(sum(each.alpha == alpha for each in found), "comparison")
        yield f"{_error_rate(alpha, views(run)[0])} ({count})"
