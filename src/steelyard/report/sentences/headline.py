"""The answer in one heading: a badge and at most twelve words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.factors.findings import EffectWord, InfluenceFinding
from steelyard.judge.findings import RunFindings, VerdictFinding
from steelyard.report.effects import effect, interval, signed_effect
from steelyard.report.figures import counted, listed
from steelyard.report.sentences.assumptions import judged
from steelyard.report.sentences.influence import effects_of, leading
from steelyard.report.sentences.verdict import ends_of, margin_text, verdict_claim, when_decided
from steelyard.report.view import View, views
from steelyard.report.vocabulary import (
    DECIDED,
    compared_noun,
    direction_of,
    noun_of,
    ordered,
    predicate,
    response_of,
    verdict_word,
)
from steelyard.study.labels import Labels

MOST_WORDS = 12
DAMAGE = "damage"
UNDECIDED, WITHHELD, NOT_JUDGED, MIXED = "undecided", "withheld", "not judged", "mixed"


class Tone(StrEnum):
    """What a badge says at a glance, for its colour."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    OPEN = "open"


@dataclass(frozen=True)
class Headline:
    """``badge`` is one or two words."""

    badge: str
    tone: Tone
    text: str


def headline(run: RunFindings) -> Headline:
    """Of one comparison its size, of several how many have which verdict, else the effects.

    Damage comes before all of them.
    """
    if damaged := [each.system for each in run.disks if each.damaged]:
        return Headline(DAMAGE, Tone.WORSE, _damaged(damaged))
    found = [(view, verdict) for view in views(run) for verdict in leading_verdicts(view)]
    if len(found) == 1:
        return _one(found[0][1], found[0][0])
    if found:
        return _several(found, run)
    influence = [(view, each) for view in views(run) for each in view.own.influence]
    if influence:
        return _screened(influence[0][1], influence[0][0])
    return Headline(NOT_JUDGED, Tone.OPEN, "No comparison of a primary response was judged")


def _damaged(systems: list[str]) -> str:
    named = f"Disks of {listed(systems)} were damaged"
    return _fitting(named, f"Disks of {counted(len(systems), 'system')} were damaged")


def leading_verdicts(view: View) -> list[VerdictFinding]:
    """Of each system that over all conditions, or those of its conditions where there is none.

    Only against the baseline of the study.
    """
    own = [v for v in ordered(judged(view), view) if v.baseline == view.run.baseline]
    whole = {v.other for v in own if v.conditions is None}
    return [v for v in own if v.conditions is None or v.other not in whole]


def badge_of(verdict: VerdictFinding, view: View) -> str:
    """The verdict in the words of its response.

    Withheld is what the tests decide and something else forbids to say, whatever its interval is.
    """
    if verdict.word is VerdictWord.UNDECIDED:
        return UNDECIDED if verdict.withheld is None else WITHHELD
    return verdict_word(verdict, response_of(view, verdict.response))


def tone_of(verdict: VerdictFinding, view: View) -> Tone:
    """Whether the verdict is good or bad for the system that is compared."""
    if verdict.word in DECIDED and response_of(view, verdict.response).direction != "none":
        return Tone.BETTER if verdict.word is VerdictWord.FASTER else Tone.WORSE
    return Tone.SAME if verdict.word is VerdictWord.EQUIVALENT else Tone.OPEN


def words_in(text: str) -> int:
    """How many; a percent sign belongs to its figure."""
    return sum(word != "%" for word in text.split())


def _fitting(*candidates: str) -> str:
    """The first that has few enough words, else the last."""
    return next((each for each in candidates if words_in(each) <= MOST_WORDS), candidates[-1])


def _one(verdict: VerdictFinding, view: View) -> Headline:
    shown = when_decided(verdict)
    text = {
        VerdictWord.EQUIVALENT: _equivalent,
        VerdictWord.UNDECIDED: _undecided,
        VerdictWord.NOT_JUDGED: _not_judged,
    }.get(verdict.word, _decided)(shown, view)
    return Headline(badge_of(verdict, view), tone_of(verdict, view), text)


def _decided(verdict: VerdictFinding, view: View) -> str:
    response = response_of(view, verdict.response)
    if verdict.estimate_log is None:
        return f"{verdict.other} {predicate(verdict, response)} than {verdict.baseline}"
    sized = effect(
        verdict.estimate_log, compared_noun(response), direction_of(response), exact_to=(0.0,)
    )
    short = f"{verdict.other}: {sized}"
    if verdict.word is VerdictWord.TRADE_OFF:
        size = f"{verdict.other}: {signed_effect(verdict.estimate_log)}"
        return _fitting(*(f"{each}, but a guardrail is broken" for each in (short, size)))
    word = f"{verdict.other} {predicate(verdict, response)} than {verdict.baseline}"
    return _fitting(verdict_claim(verdict, response), short, word)


def _equivalent(verdict: VerdictFinding, view: View) -> str:
    between = f"between {verdict.baseline} and {verdict.other}"
    most = f"No difference larger than {margin_text(verdict)}"
    noun = compared_noun(response_of(view, verdict.response))
    return _fitting(f"{most} in {noun} {between}", f"{most} {between}")


def _undecided(verdict: VerdictFinding, view: View) -> str:
    """What can be said: the interval, where it has an end."""
    noun = compared_noun(response_of(view, verdict.response))
    low, high = ends_of(verdict)
    if low is None and high is None:
        return _fitting(
            f"{verdict.other} and {verdict.baseline}: {noun} may differ by any amount",
            f"{verdict.other} and {verdict.baseline} may differ by any amount",
        )
    ends = interval(low, high, estimate_log=verdict.estimate_log, direction=None)
    ends = ends.partition(",")[0]
    return _fitting(
        f"{verdict.other}: {ends} {noun} relative to {verdict.baseline}",
        f"{verdict.other}: {ends} relative to {verdict.baseline}",
    )


def _not_judged(verdict: VerdictFinding, view: View) -> str:
    noun = noun_of(response_of(view, verdict.response))
    pair = f"{verdict.other} and {verdict.baseline}"
    return _fitting(f"{pair}: {noun} is not judged", f"{pair}: not judged")


def _several(found: list[tuple[View, VerdictFinding]], run: RunFindings) -> Headline:
    groups: dict[str, list[str]] = {}
    for view, verdict in found:
        groups.setdefault(badge_of(verdict, view), []).append(distinct_name(verdict, view))
    tones = {tone_of(verdict, view) for view, verdict in found}
    named = ", ".join(f"{listed(names)} {word}" for word, names in groups.items())
    counts = ", ".join(f"{len(names)} {word}" for word, names in groups.items())
    noun = _noun(found, run)
    whole = f"{counts} of {counted(len(found), noun)}"
    if len(groups) == 1:
        (word,) = groups
        whole = f"{_all_of(found, run)} {word}"
    text = _fitting(f"{named}, against {run.baseline}", named, whole, counts)
    badge = next(iter(groups)) if len(groups) == 1 else MIXED
    return Headline(badge, tones.pop() if len(tones) == 1 else Tone.OPEN, text)


def distinct_name(verdict: VerdictFinding, view: View) -> str:
    """What tells a comparison from the others: workload, system, condition."""
    others = {v.other for v in leading_verdicts(view)}
    conditions = view.run.labels.conditions(verdict.conditions or {})
    place = [view.heading] if view.heading else []
    if len(others) > 1 or not (place or conditions):
        place.append(verdict.other)
    place += [conditions] if conditions else []
    return " ".join(place)


def _noun(found: list[tuple[View, VerdictFinding]], run: RunFindings) -> str:
    others = {verdict.other for _, verdict in found}
    if len(run.workloads) == len(found):
        return "workload"
    return "system" if len(others) == len(found) else "comparison"


def _all_of(found: list[tuple[View, VerdictFinding]], run: RunFindings) -> str:
    others = list(dict.fromkeys(verdict.other for _, verdict in found))
    noun = f"all {counted(len(found), _noun(found, run))}"
    return f"{others[0]}, {noun}:" if len(others) == 1 else f"{noun[0].upper()}{noun[1:]}:"


def _screened(found: InfluenceFinding, view: View) -> Headline:
    there = leading(found)
    noun = noun_of(response_of(view, found.response))
    if there:
        return Headline("effect found", Tone.OPEN, _fitting(*_largest(found, view)))
    if found.effects and not effects_of(found, EffectWord.OPEN, EffectWord.NOT_JUDGED):
        return Headline("no effect", Tone.SAME, f"No parameter has a relevant effect on {noun}")
    return Headline(UNDECIDED, Tone.OPEN, f"Which parameters matter for {noun} is open")


def _largest(found: InfluenceFinding, view: View) -> Iterator[str]:
    """The largest effect of a single factor; of pairs where there is none."""
    response = response_of(view, found.response)
    mains = [each for each in leading(found) if len(each.factors) == 1 and each.effect_log]
    if not mains:
        yield f"{noun_of(response)} depends on {_factors(leading(found)[0].factors)}"
        return
    each = max(mains, key=lambda effect: abs(effect.effect_log or 0.0))
    size = effect(
        each.effect_log or 0.0, noun_of(response), direction_of(response), exact_to=(0.0,)
    )
    level, against = _levels(each.factors[0], (*each.levels, *each.against), view.run.labels)
    yield f"{each.factors[0]}, {level} instead of {against}: {size}"
    yield f"{each.factors[0]}, {level}: {size}"
    yield f"{each.factors[0]}: {size}"


def _factors(names: Iterable[str]) -> str:
    return " × ".join(names)


def _levels(factor: str, levels: tuple[object, ...], labels: Labels) -> list[str]:
    return [labels.level(level, factor) for level in levels]  # type: ignore[arg-type]
