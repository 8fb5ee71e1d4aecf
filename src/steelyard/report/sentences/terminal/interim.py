"""How a study stands while it runs, in short."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.judge.analyses.factors.influence import SoFar
from steelyard.judge.stopping.interim import InterimWord, Look
from steelyard.report.effects import interval, signed_effect
from steelyard.report.figures import counted
from steelyard.report.sentences.verdict import excludes_zero, more_visits
from steelyard.study.labels import Labels
from steelyard.units import format_duration


def progress_words(look: Look, labels: Labels) -> str:
    """The line after a visit: ``overall slower; 1 user undecided, about 6 more visits``."""
    said = [
        f"{place_of(each, look.words, labels)} {_word(each)}{_size(each)}" for each in look.words
    ]
    said += further_words(look)
    return ", ".join(["; ".join(said) or "nothing judged yet", *forecast_words(look)])


def forecast_words(look: Look) -> list[str]:
    """How many visits are still needed, where that is known."""
    return [] if look.visits_to_decide is None else [more_visits(look.visits_to_decide)]


def left_words(left_s: float | None) -> str | None:
    """How long the rest takes, which may end before; nothing where nothing is left."""
    if left_s is None:
        return "forecast after the first trial"
    return f"at most {format_duration(left_s)} more" if left_s else None


def place_of(each: InterimWord, words: Sequence[InterimWord], labels: Labels) -> str:
    """Systems where several are compared, workload where there are several, then conditions."""
    place = "overall" if each.conditions is None else labels.conditions(each.conditions)
    if each.workload is not None and each.conditions is None:
        place = f"{each.workload} overall"
    if len({(word.baseline, word.other) for word in words}) == 1:
        return place or "overall"
    pair = each.other
    if len({word.baseline for word in words}) > 1:
        pair += f" against {each.baseline}"
    return f"{pair}, {place}" if place else pair


def further_words(look: Look) -> list[str]:
    """What is open besides comparisons: questions about factors, and claims."""
    said = [_factor_words(each) for each in look.influence]
    return said + [f"claim {name} undecided" for name in look.open_claims]


def size_texts(each: InterimWord) -> tuple[str, str] | None:
    """Estimate and interval so far, both with signs; ``None`` while there are none."""
    if each.size is None:
        return None
    ends = each.size.low_log, each.size.high_log
    margin = each.margin_log
    return (
        signed_effect(each.size.estimate_log, beside=ends),
        interval(
            *ends,
            estimate_log=each.size.estimate_log,
            direction=None,
            exact_to=(margin, -margin),
            excludes_zero=excludes_zero(each.word),
        ),
    )


def _word(each: InterimWord) -> str:
    return "withheld" if each.withheld else each.word.value.replace("_", " ")


def _size(each: InterimWord) -> str:
    texts = size_texts(each)
    return "" if texts is None else f" ({texts[0]}, {texts[1]})"


def _factor_words(each: SoFar) -> str:
    """``replicate 3 of 14: 2 effects (a, b), 4 negligible, 9 open``."""
    named = f" ({', '.join(each.influential)})" if each.influential else ""
    return (
        f"replicate {each.replicates} of {each.planned}: "
        f"{counted(len(each.influential), 'effect')}{named}, {each.negligible} negligible, "
        f"{each.open} open"
    )
