"""Every sentence of a verdict, computed: verdict first, then size, interval and n.

``slower`` and ``faster`` come from the judge and speak of the good direction; the size speaks of
the raw response (``38 % longer response time``). What decides nothing prints signs, not words.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.comparisons.forecast import MOST_BUDGETS, VisitsForecast
from steelyard.judge.findings import ResponseFinding, VerdictFinding
from steelyard.judge.kinds.verdict_notes import VerdictNote
from steelyard.report.effects import (
    HEIGHT,
    effect,
    form_for,
    interval,
    signed_effect,
    signed_phrase,
)
from steelyard.report.figures import counted, percent, rounded
from steelyard.report.notes.verdict import note_text
from steelyard.report.sentences.trade_offs import trade_off
from steelyard.report.view import View
from steelyard.report.vocabulary import (
    DECIDED,
    compared_noun,
    direction_of,
    noun_of,
    predicate,
    response_of,
    used_up,
    verdict_word,
    where_of,
)

EARLY = "valid at this early stop"
ANY_STOP = "valid at any stop"
ONCE = "judged once"
MOST_REASONS = 2
_WITHHELD = "; the tests decide, and the verdict is withheld for the reason below"


class Sentence(NamedTuple):
    """One sentence in two parts, so that a page can set the answer larger than its evidence.

    ``evidence`` is the tail as it reads when it stands on a line of its own.
    """

    head: str
    tail: str
    evidence: str

    def __str__(self) -> str:
        return self.head + self.tail


def verdict_sentence(verdict: VerdictFinding, view: View) -> Sentence:
    """The whole sentence for one comparison, with interval and n."""
    response = response_of(view, verdict.response)
    where = where_of(verdict, view)
    later, verdict = _later(verdict, response), when_decided(verdict)
    if verdict.estimate_log is None and verdict.word in DECIDED:
        found = _without_size(verdict, response, where)
    elif verdict.estimate_log is None or verdict.word is VerdictWord.NOT_JUDGED:
        found = _not_judged(verdict, response, where)
    elif verdict.word is VerdictWord.EQUIVALENT:
        found = _equivalent(verdict, response, where)
    elif verdict.word is VerdictWord.UNDECIDED:
        found = _undecided(verdict, response, where, view)
    else:
        found = _decided(verdict, response, where, view)
    head = f"Exploratory: {found.head}" if verdict.exploratory else found.head
    return Sentence(head, *(f"{each.removesuffix('.')}{later}." for each in found[1:]))


def condition_sentence(verdict: VerdictFinding, view: View) -> str:
    """The short form under a sentence that named the systems: ``At 16 users: slower, ..``."""
    response = response_of(view, verdict.response)
    where = where_of(verdict, view).strip() or "over all trials"
    later, verdict = _later(verdict, response), when_decided(verdict)
    word = verdict_word(verdict, response)
    log = verdict.estimate_log
    if log is None or verdict.word is VerdictWord.NOT_JUDGED:
        head = f"{_capital(where)}: {verdict_word(verdict, response)}"
        return f"{head}, {visits_words(verdict)}: {verdict_reason(verdict)}."
    size = signed_phrase(log, compared_noun(response), beside=ends_of(verdict))
    tail = ""
    if verdict.word in DECIDED:
        size = _size(verdict, response)
        tail = _margin_words(verdict) if abs(log) < 4 * verdict.margin_log else ""
    elif verdict.word is VerdictWord.UNDECIDED:
        tail = _WITHHELD if verdict.withheld else further(verdict)
    return (
        f"{_capital(where)}: {word}, {size} ({interval_words(verdict, response)}), "
        f"{counted(verdict.n_baseline + verdict.n_other, 'visit')}{tail}{later}."
    )


def when_decided(verdict: VerdictFinding) -> VerdictFinding:
    """The same with the size of the look that decided, where all visits deny the word."""
    then = verdict.deciding_look
    if then is None:
        return verdict
    inner = "equivalence_" if verdict.word is VerdictWord.EQUIVALENT else ""
    return verdict.model_copy(
        update={
            "estimate_log": then.estimate_log,
            "n_baseline": then.n_baseline,
            "n_other": then.n_other,
            f"{inner}low_log": then.low_log,
            f"{inner}high_log": then.high_log,
        }
    )


def _later(verdict: VerdictFinding, response: ResponseFinding) -> str:
    """The size by all visits beside that of the look that decided.

    A word is decided by all looks together; where the last one decided, its interval alone may
    leave the word open.
    """
    then = verdict.deciding_look
    if then is None:
        return ""
    count = counted(verdict.n_baseline + verdict.n_other, "visit")
    if verdict.estimate_log is None:
        return f"; of all {count}: not judged"
    size = signed_effect(verdict.estimate_log, beside=ends_of(verdict))
    ends = interval_words(verdict, response)
    if (then.n_baseline, then.n_other) == (verdict.n_baseline, verdict.n_other):
        return (
            f"; decided by all looks together, the last alone would {_as_of_all(verdict)}: {ends}"
        )
    return f"; all {count} {_as_of_all(verdict)}: {size}, {ends}"


def _as_of_all(verdict: VerdictFinding) -> str:
    """Where the interval of all visits denies the word: whether it excludes that word, too."""
    low, high = ends_of(verdict)
    limit = verdict.margin_log if verdict.word is VerdictWord.EQUIVALENT else 0.0
    beyond = (low is not None and low > limit) or (high is not None and high < -limit)
    return "contradict it" if beyond else "leave it open"


def _decided(
    verdict: VerdictFinding, response: ResponseFinding, where: str, view: View
) -> Sentence:
    claim = verdict_claim(verdict, response)
    ends = interval_words(verdict, response)
    count = visits_words(verdict)
    if not verdict.exploratory:
        ends += f", {stop_words(view)}"
        count += _margin_words(verdict)
    return Sentence(f"{claim}{where}", f" ({ends}), {count}.", f"{ends}; {count}.")


def verdict_claim(verdict: VerdictFinding, response: ResponseFinding) -> str:
    """A verdict with its size: ``durable is slower than fast: 71.0 % less throughput``."""
    size = _size(verdict, response)
    if verdict.word is VerdictWord.TRADE_OFF:
        return trade_off(verdict, response, size)
    in_percent = form_for(verdict.estimate_log or 0.0) == "percent"
    if response.direction == "none":
        return f"{verdict.other} has {size} {'than' if in_percent else 'of'} {verdict.baseline}"
    if in_percent and used_up(response):
        verb = "has" if direction_of(response) is HEIGHT else "uses"
        return f"{verdict.other} {verb} {size} than {verdict.baseline}"
    return f"{verdict.other} {predicate(verdict, response)} than {verdict.baseline}: {size}"


def _size(verdict: VerdictFinding, response: ResponseFinding) -> str:
    return effect(
        verdict.estimate_log or 0.0,
        compared_noun(response),
        direction_of(response),
        exact_to=_bounds(verdict),
        beside=ends_of(verdict),
    )


def _equivalent(verdict: VerdictFinding, response: ResponseFinding, where: str) -> Sentence:
    evidence = (
        f"{signed_effect(verdict.estimate_log or 0.0, beside=ends_of(verdict))}, "
        f"{interval_words(verdict, response)}, {visits_words(verdict)}."
    )
    return Sentence(
        f"No difference larger than {margin_text(verdict)} in {compared_noun(response)} between "
        f"{verdict.baseline} and {verdict.other}{where}",
        f": {evidence}",
        evidence,
    )


def _undecided(
    verdict: VerdictFinding, response: ResponseFinding, where: str, view: View
) -> Sentence:
    evidence = (
        f"after {visits_words(verdict)}: "
        f"{signed_phrase(verdict.estimate_log or 0.0, compared_noun(response))}, "
        f"{interval_words(verdict, response)}{_withheld(verdict)}"
        f"{_forecast_words(verdict, view)}."
    )
    head = f"Undecided{where} between {verdict.baseline} and {verdict.other}"
    return Sentence(head, f" {evidence}", _capital(evidence))


def _without_size(verdict: VerdictFinding, response: ResponseFinding, where: str) -> Sentence:
    """A difference of ranks alone: one of the two has no value that is finite."""
    evidence = f"{visits_words(verdict)}: {verdict_reason(verdict)}."
    head = f"{verdict.other} {predicate(verdict, response)} than {verdict.baseline}{where}"
    return Sentence(head, f", {evidence}", _capital(evidence))


def _not_judged(verdict: VerdictFinding, response: ResponseFinding, where: str) -> Sentence:
    evidence = (
        f"{noun_of(response)} of {verdict.other} against {verdict.baseline}, "
        f"{visits_words(verdict)}: {verdict_reason(verdict)}."
    )
    word = "Undecided" if verdict.word is VerdictWord.UNDECIDED else "Not judged"
    return Sentence(f"{word}{where}", f": {evidence}", _capital(evidence))


def verdict_reason(verdict: VerdictFinding) -> str:
    """The gravest reasons; a study of many trials may have one for each."""
    more = len(verdict.reasons) - MOST_REASONS
    texts = [reason_text(verdict, note) for note in verdict.reasons[:MOST_REASONS]]
    texts += [f"and {counted(more, 'more reason')}"] if more > 0 else []
    return "; ".join(texts) or "no reason was recorded"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def ends_of(verdict: VerdictFinding) -> tuple[float | None, float | None]:
    """The interval that belongs to the word: that of the equivalence tests, or the two-sided."""
    if verdict.word is VerdictWord.EQUIVALENT:
        return verdict.equivalence_low_log, verdict.equivalence_high_log
    return verdict.low_log, verdict.high_log


def excludes_zero(word: VerdictWord) -> bool:
    """Whether it says that there is a difference."""
    return word in {*DECIDED, VerdictWord.TRADE_OFF}


def interval_words(verdict: VerdictFinding, response: ResponseFinding) -> str:
    """Level and ends of the interval that belongs to the word of the verdict."""
    low, high = ends_of(verdict)
    ends = interval(
        low,
        high,
        estimate_log=verdict.estimate_log,
        direction=direction_of(response),
        exact_to=_bounds(verdict),
        excludes_zero=excludes_zero(verdict.word),
    )
    return f"{percent(interval_level(verdict))} interval {ends}"


def interval_level(verdict: VerdictFinding) -> float:
    """The level of the interval that belongs to the word of the verdict."""
    level = verdict.interval_level
    return 1 - 2 * (1 - level) if verdict.word is VerdictWord.EQUIVALENT else level


def visits_words(verdict: VerdictFinding) -> str:
    """n, the visits of both systems: ``12 visits (6 fast, 6 durable)``, ``(6 of 10, 6 of 20)``."""
    total = verdict.n_baseline + verdict.n_other
    of = "of " if any(name[:1].isdigit() for name in (verdict.baseline, verdict.other)) else ""
    return (
        f"{counted(total, 'visit')} ({verdict.n_baseline} {of}{verdict.baseline}, "
        f"{verdict.n_other} {of}{verdict.other})"
    )


def margin_text(verdict: VerdictFinding) -> str:
    """The margin as the study declared it: ``2 %``."""
    return percent(math.expm1(verdict.margin_log))


def _withheld(verdict: VerdictFinding) -> str:
    return "" if verdict.withheld is None else f"; {reason_text(verdict, verdict.withheld)}"


def reason_text(verdict: VerdictFinding, note: VerdictNote) -> str:
    """A note beside a verdict; why it is withheld, with the visits that this was asked of."""
    count = verdict.withheld_visits
    later = count is not None and count < verdict.n_baseline + verdict.n_other
    as_of = f" (as of the first {counted(count or 0, 'visit')})" if later else ""
    return note_text(note) + (as_of if note is verdict.withheld else "")


def _bounds(verdict: VerdictFinding) -> tuple[float, ...]:
    return (0.0, verdict.margin_log, -verdict.margin_log)


def stop_words(view: View) -> str:
    """For which stop of the study an interval is valid."""
    stop = view.run.stop
    if view.run.design == "none":
        return ONCE
    early = stop.reason == "decided" and stop.visits_done < stop.visits_planned
    return EARLY if early else ANY_STOP


def _margin_words(verdict: VerdictFinding) -> str:
    """Whether the effect matters by the study's own margin, where the interval says so."""
    margin, low, high = verdict.margin_log, verdict.low_log, verdict.high_log
    if VerdictWord.EQUIVALENT in verdict.words:
        return f", below your margin of {margin_text(verdict)}"
    beyond = (low is not None and low >= margin) or (high is not None and high <= -margin)
    return f", at least your margin of {margin_text(verdict)}" if beyond else ""


def _forecast_words(verdict: VerdictFinding, view: View) -> str:
    if verdict.exploratory:
        return ""
    stop, ended = view.run.stop, ""
    if stop.reason == "budget_visits":
        ended = f"; the budget of {counted(stop.visits_planned, 'visit')} ended first"
    elif stop.reason == "budget_time":
        ended = "; the budget of time ended first"
    return ended + further(verdict)


def further(verdict: VerdictFinding) -> str:
    """``; about 6 to 20 more visits would decide``; empty without a forecast."""
    more = verdict.visits_to_decide
    if more is None:
        return ""
    ends = "" if more.least is None else " would decide" if more.most else " would be needed"
    return f"; {more_visits(more)}{ends}"


def more_visits(more: VisitsForecast) -> str:
    """``about 6 to 20 more visits``, of two digits; what takes too many is not attainable."""
    if more.least is None:
        return f"a verdict is not attainable here with {MOST_BUDGETS} budgets of visits"
    least = rounded(more.least)
    if more.most is None:
        return f"at least {counted(least, 'more visit')}"
    most = rounded(more.most)
    ends = f"{least:,} to {most:,} more visits"
    return f"about {ends if most > least else counted(least, 'more visit')}"
