"""Checks without chance: what a verdict on given trials must be, say or refuse."""

from __future__ import annotations

import math
from collections.abc import Sequence
from unittest.mock import patch

import numpy as np
from pydantic import ValidationError
from tests.calibration.cells import big_stick

from steelyard.errors import AnalysisError
from steelyard.inference.assumptions.carry_over import carry_over
from steelyard.inference.assumptions.diagnostics import shape_of
from steelyard.inference.confidence import Rejections
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import VerdictWord
from steelyard.judge import judge_trials
from steelyard.judge.findings import VerdictFinding
from steelyard.judge.kinds.verdict_notes import EffectChanges
from steelyard.judge.own_trials.visits import MeasuredVisits
from steelyard.judge.visits.pairs import Pair
from steelyard.judge.visits.series import Series

_VISITS = 24
_SD = 0.005


def _order(seed: int = 1, visits: int = _VISITS) -> list[str]:
    signs = big_stick(1, visits, np.random.default_rng(seed))[:, 0]
    return ["B" if sign > 0 else "A" for sign in signs]


def _figures(order: Sequence[str], ratio: float, sd: float = _SD) -> np.ndarray:
    noise = np.random.default_rng(2).normal(0, sd, len(order))
    return 1_000 * np.where(np.array(order) == "B", ratio, 1.0) * np.exp(noise)


def _judged(ratio: float, **options: str) -> VerdictFinding:
    order = _order()
    given = judge_trials(
        order,
        _figures(order, ratio),
        baseline="A",
        paths=500,
        **options,  # type: ignore[arg-type]
    )
    return given.of("B")


def twice_is_twice() -> str | None:
    """A ratio of 2 is estimated as ln 2, whatever the unit, and the other way round as -ln 2."""
    for ratio in (2.0, 0.5):
        found = _judged(ratio).estimate_log
        if found is None or abs(found - math.log(ratio)) > 4 * _SD:
            return f"a ratio of {ratio} is estimated as {found} in logarithms"
    return None


def larger_is_faster_unless_lower_is_better() -> str | None:
    """The word follows the direction of the response; the estimate stays that of the figures."""
    wanted = {
        ("higher", 1.5): VerdictWord.FASTER,
        ("higher", 0.7): VerdictWord.SLOWER,
        ("lower", 1.5): VerdictWord.SLOWER,
        ("lower", 0.7): VerdictWord.FASTER,
    }
    for (direction, ratio), word in wanted.items():
        verdict = _judged(ratio, direction=direction)
        if verdict.word is not word:
            return f"{ratio} times, {direction} is better: {verdict.word}"
        if (verdict.estimate_log or 0.0) * math.log(ratio) <= 0:
            return f"{ratio} times is estimated as {verdict.estimate_log}"
    return None


def every_visit_counts() -> str | None:
    """A wild value stays: n is what was given."""
    order = _order()
    figures = _figures(order, 1.0)
    figures[order.index("B", 10)] /= 3
    verdict = judge_trials(order, figures, baseline="A", paths=500).of("B")
    counted = verdict.n_baseline + verdict.n_other
    return None if counted == _VISITS else f"{counted} of {_VISITS} visits counted"


def a_stall_is_seen_in_a_small_arm() -> str | None:
    """One visit of ten far below the rest is noted, though three deviations of ten cannot be."""
    values = np.concatenate([np.tile([0.0, 0.01, -0.01], 7)[:20], np.zeros(0)])
    values[3] = -0.5
    other = np.arange(20) < 10
    rate = shape_of(values, other).stall_rate_other
    return None if rate and rate >= 0.1 else f"the rate of stalls is told as {rate}"


def an_end_of_the_interval_is_out() -> str | None:
    """Both ends of the 95 % interval are rejected, by tests of half of 5 % each."""
    seen: list[Inference] = []

    def tests(visits: MeasuredVisits, series: Series, pair: Pair, **options: bool) -> Inference:
        seen.append(_tests(visits, series, pair, **options))
        return seen[-1]

    order = _order(visits=48)
    figures = _figures(order, 1.1, sd=0.04)
    with patch.object(MeasuredVisits, "tests", tests):
        verdict = judge_trials(order, figures, baseline="A", paths=1_000).of("B")
    if verdict.low_log is None or verdict.high_log is None:
        return "a ratio of 1.1 leaves the interval without an end"
    up = Rejections(seen[0].stream)
    for end, side in ((verdict.low_log, up), (-verdict.high_log, up.mirrored)):
        exact = side.looks(np.array([end]), 0.025) != [None]
        if not exact or side.below(0.025)[-1] < end:
            return f"the end {end} was not rejected by both tests"
    return None


_tests = MeasuredVisits.tests


def carry_over_is_blamed_as_often_as_it_says() -> str | None:
    """Without carry-over its 95 % interval excludes 0 in about 5 % of short studies."""
    rng = np.random.default_rng(4)
    signs = big_stick(600, 12, rng)
    shown = 0
    for column in signs.T:
        left = carry_over(rng.normal(0, 0.02, 12), column > 0, tuple(range(12)))
        shown += left is not None and left.shows
    return None if 10 <= shown <= 47 else f"{shown} of 600 clean studies are blamed"


def carry_over_withholds() -> str | None:
    """Visits that leave 8 % behind for the next decide nothing; clean ones do."""
    order = _order(visits=40)
    after_b = np.array([False, *(name == "B" for name in order[:-1])])
    clean = _figures(order, 1.10)
    words = {}
    for name, figures in (("clean", clean), ("haunted", clean * np.where(after_b, 1.08, 1.0))):
        words[name] = judge_trials(order, figures, baseline="A", paths=500).of("B").word
    wanted = {"clean": VerdictWord.FASTER, "haunted": VerdictWord.UNDECIDED}
    return None if words == wanted else f"{words}"


def a_difference_beyond_carry_over_is_told() -> str | None:
    """Visits that leave 8 % behind for the next do not make one system twice as fast."""
    order = _order(visits=40)
    after_b = np.array([False, *(name == "B" for name in order[:-1])])
    figures = _figures(order, 2.0) * np.where(after_b, 1.08, 1.0)
    verdict = judge_trials(order, figures, baseline="A", paths=500).of("B")
    told = any(note.kind == "carry_over" for note in verdict.notes)
    held = verdict.word is VerdictWord.FASTER and told
    return None if held else f"{verdict.word}, carry-over told: {told}"


def an_effect_that_changes_is_within_its_interval() -> str | None:
    """10 %, and 15 % from the 11th of 48 visits: the interval holds the mean of all."""
    order = _order(visits=48)
    later = np.where(np.arange(48) < 10, 1.0, 1.15 / 1.10)
    figures = _figures(order, 1.10) * np.where(np.array(order) == "B", later, 1.0)
    try:
        found = judge_trials(order, figures, baseline="A", paths=500).of("B")
    except ValidationError as refused:
        return str(refused)
    mean = (10 * math.log(1.10) + 38 * math.log(1.15)) / 48
    if found.low_log is None or found.high_log is None or not found.low_log < mean < found.high_log:
        return f"{found.low_log}..{found.high_log} does not hold {mean}"
    told = any(isinstance(note, EffectChanges) for note in found.notes)
    return None if told else "nothing is said of a change from 10 to 15 %"


def a_verdict_is_not_withdrawn() -> str | None:
    """An effect of 6 % that turns after it was decided leaves its verdict, with both parts."""
    order = _order(visits=24)
    turned = np.where(np.arange(24) < 12, 1.0, 1.06**-2)
    figures = _figures(order, 1.06) * np.where(np.array(order) == "B", turned, 1.0)
    early = judge_trials(order[:12], figures[:12], baseline="A", paths=500).of("B")
    found = judge_trials(order, figures, baseline="A", paths=500).of("B")
    if found.word is not early.word:
        return f"{early.word} after 12 visits, {found.word} after 24"
    return None if found.deciding_look is not None else f"no look that decided: {found.low_log}"


def clean_studies_are_not_withheld() -> str | None:
    """At 2 % noise 20 visits cannot prove that nothing is carried over, and need not.

    They allow one of more than 5 %, so that no difference of 5 % is beyond what they allow.
    """
    order = _order(visits=20)
    figures = _figures(order, 1.05, sd=0.02)
    word = judge_trials(order, figures, baseline="A", paths=500).of("B").word
    return None if word is VerdictWord.FASTER else f"5 % at 2 % noise is {word}"


def an_early_stop_is_told_to_overstate() -> str | None:
    """A small effect that is declared before the end of the budget carries the warning."""
    rng = np.random.default_rng(6)
    order = _order(visits=60)
    figures = 1_000 * np.where(np.array(order) == "B", 1.03, 1.0) * np.exp(rng.normal(0, 0.02, 60))
    verdict = judge_trials(order, figures, baseline="A", paths=500).of("B")
    if VerdictWord.FASTER not in verdict.words:
        return f"3 % at 2 % noise is {verdict.word} after 60 visits"
    told = any(note.kind == "stopped_early" for note in verdict.notes)
    return None if told else "nothing is said of early stops"


def an_order_that_no_coin_brings_is_refused() -> str | None:
    """All of one system and then all of the other is not judged as if by the coin."""
    order = ["A"] * 12 + ["B"] * 12
    try:
        judge_trials(order, _figures(order, 1.0), baseline="A", paths=500)
    except AnalysisError:
        return None
    return "all A and then all B was judged"


def a_spread_of_four_is_told() -> str | None:
    """Arms of unequal spread are marked."""
    rng = np.random.default_rng(8)
    other = np.arange(40) % 2 == 0
    values = rng.normal(0, 0.02, 40) * np.where(other, 4.0, 1.0)
    return None if shape_of(values, other).spreads_differ else "a spread of 4 to 1 is not marked"
