"""Which parameters matter, in sentences: shares, effects, interactions with their parents."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from steelyard.judge.analyses.factors.findings import (
    EffectFinding,
    EffectWord,
    InfluenceFinding,
    PairFinding,
    ShareFinding,
)
from steelyard.judge.findings import ResponseFinding
from steelyard.report.effects import effect, interval
from steelyard.report.figures import counted, fixed, listed, percent, span
from steelyard.report.sentences.verdict import Sentence
from steelyard.report.view import View
from steelyard.report.vocabulary import direction_of, noun_of, response_of
from steelyard.study.labels import Labels
from steelyard.study.model import Level

PAIR = 2
MOST_NAMED = 6
_OPEN = (EffectWord.OPEN, EffectWord.SUGGESTED)


def influence_answer(view: View) -> list[tuple[Sentence, list[str]]]:
    """For each set of factors its main sentence, and one for each influential effect."""
    return [(_main(each, view), _parts(each, view)) for each in view.own.influence]


def name_of(factors: Iterable[str]) -> str:
    """``load.users``, or ``service.sync × load.users``."""
    return " × ".join(factors)


def contrast_of(each: EffectFinding, found: InfluenceFinding, labels: Labels) -> str:
    """The name of an effect, with the levels of factors that have more than two.

    Such a factor has an effect for each level but one: ``system (faulty instead of plain)``.
    """
    parts = []
    for name, level, other in zip(each.factors, each.levels, each.against, strict=True):
        apart = f"{labels.level(level, name)} instead of {labels.level(other, name)}"
        parts.append(f"{name} ({apart})" if len(found.factors.get(name, ())) > PAIR else name)
    return name_of(parts)


def effects_of(found: InfluenceFinding, *words: EffectWord) -> list[EffectFinding]:
    """The effects that have one of these words, in the order of the findings."""
    return [each for each in found.effects if each.word in words]


def margin_of(found: InfluenceFinding) -> str:
    """The margin as the study declared it."""
    return percent(math.expm1(found.margin_log))


def _main(found: InfluenceFinding, view: View) -> Sentence:
    noun = noun_of(response_of(view, found.response))
    head = _head(found, noun)
    rest = [*_further_shares(found), *_the_rest(found, view.run.labels)]
    trials = found.replicates * found.cells
    rest.append(
        f"{counted(trials, 'trial')} in {counted(found.replicates, 'replicate')} of {found.cells}"
    )
    tail = "; ".join(rest)
    return Sentence(head, f"; {tail}.", f"{tail}.")


def _head(found: InfluenceFinding, noun: str) -> str:
    told = _told_shares(found)
    if told:
        first = told[0]
        return f"{_term(first, found)} explains {_share(first)} of the variation in {noun}"
    influential = effects_of(found, EffectWord.INFLUENTIAL)
    if influential:
        named = list(dict.fromkeys(name_of(each.factors) for each in influential))
        return f"{noun[:1].upper()}{noun[1:]} depends on {listed(named[:MOST_NAMED])}"
    suggested = effects_of(found, EffectWord.SUGGESTED)
    if suggested:
        named = list(dict.fromkeys(name_of(each.factors) for each in suggested))
        return f"One replicate suggests, and no more, that {listed(named)} may matter for {noun}"
    if found.effects and not effects_of(found, EffectWord.OPEN, EffectWord.NOT_JUDGED):
        return f"No parameter has an effect above {margin_of(found)} on {noun}"
    if effects_of(found, EffectWord.NOT_JUDGED):
        return f"Not judged: which parameters matter for {noun}"
    return f"Which parameters matter for {noun} is open"


def _told_shares(found: InfluenceFinding) -> list[ShareFinding]:
    """Shares of terms with an influential effect, the largest first."""
    there = {each.factors for each in effects_of(found, EffectWord.INFLUENTIAL)}
    told = [each for each in found.shares if each.kind == "effect" and each.factors in there]
    return sorted(told, key=lambda each: -each.share)


def _term(share: ShareFinding, found: InfluenceFinding, before: Sequence[str] = ()) -> str:
    """The name of a term; ``their interaction`` behind the two factors that it is of."""
    others = simple_aliases(share.aliases)
    alias = f" (or {listed(others)}, which it cannot be distinguished from)" if others else ""
    if len(share.factors) == PAIR and list(before) == list(share.factors) and found.factors:
        return f"their interaction{alias}"
    return name_of(share.factors) + alias


def simple_aliases(aliases: Sequence[Sequence[str]]) -> list[str]:
    """Those of single factors and pairs, by name."""
    return [name_of(each) for each in aliases if len(each) <= PAIR]


def _share(share: ShareFinding) -> str:
    return f"{percent_point(share.share)} % ({share_span(share)})"


def percent_point(ratio: float) -> str:
    """A share as a whole number of percent, one decimal below ten."""
    shown = 100 * ratio
    return fixed(shown, 0 if round(shown, 1) >= 10 or round(shown, 1) == 0 else 1)


def share_span(share: ShareFinding) -> str:
    """``48 to 75``."""
    return span(percent_point(share.low), percent_point(share.high))


def _further_shares(found: InfluenceFinding) -> list[str]:
    told = _told_shares(found)
    said = []
    before = [each.factors[0] for each in told[:1] if len(each.factors) == 1]
    for each in told[1:MOST_NAMED]:
        said.append(f"{_term(each, found, _in_order(before, each))} {_share(each)}")
        before = [*before, *each.factors] if len(each.factors) == 1 else []
    if len(told) > MOST_NAMED:
        said.append(f"{counted(len(told) - MOST_NAMED, 'further term')} less than these")
    noise = [f"noise {_share(each)}" for each in found.shares if each.kind == "noise"]
    return [", ".join(said + noise)] if said or noise else []


def _in_order(before: Sequence[str], share: ShareFinding) -> list[str]:
    """The factors of a pair if they are the two that were just named."""
    return list(share.factors) if set(before[-PAIR:]) == set(share.factors) else []


def _the_rest(found: InfluenceFinding, labels: Labels) -> list[str]:
    said = []
    negligible = effects_of(found, EffectWord.NEGLIGIBLE)
    if negligible:
        said.append(f"no effect above {margin_of(found)}: {_named(negligible, found, labels)}")
    still = effects_of(found, *_OPEN)
    if still:
        said.append(f"open: {_named(still, found, labels)}")
    return said


def _named(effects: Sequence[EffectFinding], found: InfluenceFinding, labels: Labels) -> str:
    """Main effects by name, interactions counted."""
    mains = [contrast_of(each, found, labels) for each in effects if len(each.factors) == 1]
    others = [each for each in effects if len(each.factors) > 1]
    counts = [counted(len(others), "interaction")] if others else []
    return listed([*mains, *counts])


def _parts(found: InfluenceFinding, view: View) -> list[str]:
    response = response_of(view, found.response)
    return [effect_sentence(each, found, response, view.run.labels) for each in leading(found)]


def leading(found: InfluenceFinding) -> list[EffectFinding]:
    """Influential effects, the largest first; parents before what they make together."""
    there = effects_of(found, EffectWord.INFLUENTIAL)
    return sorted(there, key=lambda each: (len(each.factors), -abs(each.effect_log or 0.0)))


def effect_sentence(
    each: EffectFinding, found: InfluenceFinding, response: ResponseFinding, labels: Labels
) -> str:
    """One effect: of a factor what its level does, of two what one does at each of the other."""
    if each.effect_log is None:
        return f"{contrast_of(each, found, labels)}: not judged."
    if len(each.factors) == 1:
        levels = _levels_of(each, labels)
        return (
            f"{each.factors[0]}, {levels}: {_size(each.effect_log, each, response)} "
            f"({ends_words(each, found, response)})."
        )
    if len(each.factors) == PAIR:
        return f"{name_of(each.factors)}: {_two_by_two(each, found, response, labels)}."
    size = _size(each.effect_log, each, response)
    return (
        f"{contrast_of(each, found, labels)} together do {size} more or less than their parts "
        f"({ends_words(each, found, response)})."
    )


def _levels_of(each: EffectFinding, labels: Labels) -> str:
    """The level of its first factor, and what it is compared with."""
    level, other = (labels.level(one[0], each.factors[0]) for one in (each.levels, each.against))
    return f"{level} instead of {other}"


def _size(log: float, each: EffectFinding, response: ResponseFinding) -> str:
    beside = (each.low_log, each.high_log)
    return effect(log, noun_of(response), direction_of(response), exact_to=(0.0,), beside=beside)


def ends_words(each: EffectFinding, found: InfluenceFinding, response: ResponseFinding) -> str:
    """Level and ends of the interval that belongs to the word of an effect."""
    negligible = each.word is EffectWord.NEGLIGIBLE
    level = 1 - 2 * found.alpha if negligible else found.interval_level
    return f"{percent(level)} interval {ends_of_effect(each, found, response)}"


def ends_of_effect(each: EffectFinding, found: InfluenceFinding, response: ResponseFinding) -> str:
    """The interval of the equivalence tests for what is negligible, else the two-sided one."""
    low, high = each.low_log, each.high_log
    if each.word is EffectWord.NEGLIGIBLE:
        low, high = each.equivalence_low_log, each.equivalence_high_log
    return interval(
        low,
        high,
        estimate_log=each.effect_log,
        direction=direction_of(response),
        exact_to=(0.0, found.margin_log, -found.margin_log),
    )


def _two_by_two(
    each: EffectFinding, found: InfluenceFinding, response: ResponseFinding, labels: Labels
) -> str:
    """What the first factor does at each level of the second, in words."""
    first, second = each.factors
    pair = pair_of(found, first, second)
    changes = "" if pair is None else _changes(each, pair, response, labels)
    levels = f"{first} {_levels_of(each, labels)}"
    others = simple_aliases(each.aliases)
    alias = f"; cannot be distinguished from {listed(others)}" if others else ""
    return f"{levels} has {changes}{alias}" if changes else f"{levels}{alias}"


def _changes(
    each: EffectFinding, pair: PairFinding, response: ResponseFinding, labels: Labels
) -> str:
    said = []
    for level in (each.against[1], each.levels[1]):
        log = _change(each, pair, level)
        if log is not None:
            size = effect(log, noun_of(response), direction_of(response), exact_to=(0.0,))
            said.append(f"{size} at {each.factors[1]} {labels.level(level, each.factors[1])}")
    return ", ".join(said)


def _change(each: EffectFinding, pair: PairFinding, second: Level) -> float | None:
    column = pair.second_levels.index(second)
    high = pair.means[pair.first_levels.index(each.levels[0])][column]
    low = pair.means[pair.first_levels.index(each.against[0])][column]
    return None if high is None or low is None else math.log(high / low)


def pair_of(found: InfluenceFinding, first: str, second: str) -> PairFinding | None:
    """The means of two factors."""
    return next((each for each in found.pairs if each.factors == (first, second)), None)
