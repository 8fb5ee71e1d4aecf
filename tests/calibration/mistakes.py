"""Known statistical mistakes, as code that can take the place of the judge's own.

Sources: the defects of other tools and the pitfalls that docs/methods/judge.md names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.stats import norm, ttest_ind
from tests.calibration import cells
from tests.calibration.cells import Batch, Signs

from steelyard.inference import exact, sequential
from steelyard.inference.assumptions.carry_over import CarryOver, carry_over
from steelyard.inference.confidence import Interval, Size
from steelyard.inference.estimate import estimate
from steelyard.inference.probability import distributions
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import Decision, VerdictWord
from steelyard.inference.spending import spent
from steelyard.judge.comparisons import comparison, withholding
from steelyard.judge.comparisons.comparison import Standing
from steelyard.judge.own_trials import verdicts
from steelyard.judge.own_trials.visits import MeasuredVisits
from steelyard.judge.visits import series
from steelyard.judge.visits.series import Visits

_DIFFERENCES = {VerdictWord.FASTER, VerdictWord.SLOWER}
_R = np.random.Generator


def alternation(count: int, length: int, rng: _R) -> Signs:
    column = np.where(np.arange(length) % 2 == 0, 1, -1).astype(np.int8)
    return np.repeat(column[:, None], count, axis=1)


def five_at_a_time(count: int, length: int, rng: _R) -> Signs:
    column = np.where(np.arange(length) // 5 % 2 == 0, -1, 1).astype(np.int8)
    return np.repeat(column[:, None], count, axis=1)


def free_coin(count: int, length: int, rng: _R) -> Signs:
    return np.where(rng.random((length, count)) < 0.5, np.int8(1), np.int8(-1))


def sticky_coin(count: int, length: int, rng: _R) -> Signs:
    turns = np.where(rng.random((length, count)) < 0.2, -1, 1)
    return np.cumprod(turns, axis=0).astype(np.int8)


_drawn = cells.drawn


def iterations_counted(cell: cells.Cell, batch: int, studies: int) -> Batch:
    """Four iterations in each visit, each taken for a visit with a coin of its own."""
    whole = _drawn(cell, batch, studies)
    visits = cell.horizon // 4
    rng = cells.generator_of(f"iterations: {cell.name}", batch)
    values = np.repeat(whole.values[:, :visits], 4, axis=1)
    signs = np.repeat(whole.signs[:visits], 4, axis=0)
    return Batch(values + rng.normal(0, 0.002, values.shape), signs, whole.simulated)


def _at_once(_visits: int, _horizon: int, alpha: float) -> float:
    return alpha


Above = tuple[np.ndarray, float]
"""The orders above a boundary, and that."""


def nobody_leaves(_test: exact._Test, signed: exact.Sums, allowed: int, _tail: float) -> Above:
    boundary = np.partition(signed, -allowed - 1)[-allowed - 1]
    return np.flatnonzero(signed[:1] > boundary), float(boundary)


def ties(*, observed: bool, simulated: bool) -> Callable[..., Above]:
    def above(test: exact._Test, signed: exact.Sums, allowed: int, _tail: float) -> Above:
        alive = np.flatnonzero(test._alive)
        heights = signed[alive]
        boundary = np.partition(heights, -allowed - 1)[-allowed - 1]
        over = heights >= boundary if simulated else heights > boundary
        over[0] = heights[0] >= boundary if observed else heights[0] > boundary
        return alive[over], float(boundary)

    return above


def outside_the_pool(test: exact._Test, signed: exact.Sums, allowed: int, _tail: float) -> Above:
    """The boundary is that of the simulated orders alone, and the observed one is beside it."""
    alive = np.flatnonzero(test._alive[1:]) + 1
    boundary = np.partition(signed[alive], -allowed - 1)[-allowed - 1]
    over = alive[signed[alive] > boundary]
    first = np.zeros(int(signed[0] > boundary), dtype=over.dtype)
    return np.concatenate([first, over]), float(boundary)


@contextmanager
def peeking() -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(patch.object(exact, "spent", _at_once))
        stack.enter_context(patch.object(exact._Test, "_above_boundary", nobody_leaves))
        yield


def twice(visits: int, horizon: int, alpha: float) -> float:
    return spent(visits, horizon, 2 * alpha)


def again_after_the_budget(visits: int, horizon: int, alpha: float) -> float:
    return spent(min(visits, horizon), horizon, alpha) + (
        spent(visits - horizon + 7, horizon, alpha) if visits > horizon else 0.0
    )


shared = verdicts.shared


def nothing_shared(*arguments: Any, **options: Any) -> Iterator[Any]:
    return (replace(each, share=each.alpha) for each in shared(*arguments, **options))


at_the_bounds = sequential._at_the_bounds
_decide = Inference.decide
_sizes = Inference.sizes


def no_evidence_is_equality(tests: exact.SequentialTests) -> list[VerdictWord]:
    words = [word for word in at_the_bounds(tests) if word in _DIFFERENCES]
    return words or ([VerdictWord.EQUIVALENT] if tests.looked >= 40 else [])


def one_side_is_enough(tests: exact.SequentialTests) -> list[VerdictWord]:
    up, down, above_low, below_high = (look is not None for look in tests.crossed)
    words = {
        VerdictWord.FASTER: up,
        VerdictWord.SLOWER: down,
        VerdictWord.EQUIVALENT: above_low or below_high,
    }
    return [word for word, holds in words.items() if holds]


def sides_swapped(tests: exact.SequentialTests) -> list[VerdictWord]:
    other = {VerdictWord.FASTER: VerdictWord.SLOWER, VerdictWord.SLOWER: VerdictWord.FASTER}
    return [other.get(word, word) for word in at_the_bounds(tests)]


def margin_afterwards(tests: Inference, margin_log: float, alpha: float) -> Decision:
    seen = estimate(tests.stream.values, tests.stream.other)
    size = 0.0 if seen is None else abs(seen.ratio_log)
    return _decide(tests, max(margin_log, 2 * size), alpha)


def sign_of_the_medians(tests: Inference, margin_log: float, alpha: float) -> Decision:
    judged, stream = _decide(tests, margin_log, alpha), tests.stream
    if not _DIFFERENCES & set(judged.words):
        return judged
    gap = np.median(stream.values[stream.other]) - np.median(stream.values[~stream.other])
    return Decision((VerdictWord.FASTER if gap > 0 else VerdictWord.SLOWER,), judged.at)


@contextmanager
def direction_of_the_medians() -> Iterator[None]:
    with (
        patch.object(Inference, "decide", sign_of_the_medians),
        never(withholding, "contradicted"),
    ):
        yield


def never(room: object, reason: str) -> AbstractContextManager[object]:
    """A reason to withhold that is never given."""
    return patch.object(room, reason, nothing)


def t_at_every_look(tests: Inference, _margin_log: float, alpha: float) -> Decision:
    stream = tests.stream
    for look in range(8, len(stream.values) + 1):
        values, other = stream.values[:look], stream.other[:look]
        test = ttest_ind(values[other], values[~other], equal_var=False)
        if test.pvalue < alpha:
            word = VerdictWord.FASTER if test.statistic > 0 else VerdictWord.SLOWER
            return Decision((word,), look)
    return sequential.UNDECIDED


def bars_that_do_not_overlap(tests: Inference, _margin_log: float, _alpha: float) -> Decision:
    """Phoronix's way: until both arms are precise, then bars of one standard error."""
    stream = tests.stream
    for look in range(8, len(stream.values) + 1):
        arms = [stream.values[:look][stream.other[:look] == side] for side in (False, True)]
        errors = [arm.std(ddof=1) / math.sqrt(len(arm)) for arm in arms]
        if max(arm.std(ddof=1) for arm in arms) < 0.03:
            gap = arms[1].mean() - arms[0].mean()
            if abs(gap) <= sum(errors):
                return sequential.UNDECIDED
            word = VerdictWord.FASTER if gap > 0 else VerdictWord.SLOWER
            return Decision((word,), look)
    return sequential.UNDECIDED


def one_sided_ends(
    tests: Inference, margin_log: float, alphas: Sequence[float], guess: float
) -> list[Size]:
    return _sizes(tests, margin_log, [2 * alpha for alpha in alphas], guess)


def what_early_looks_have_left(
    tests: Inference, margin_log: float, alphas: Sequence[float], guess: float
) -> list[Size]:
    return [Size(each.constant, each.constant) for each in _sizes(tests, margin_log, alphas, guess)]


def normal_ends(
    tests: Inference, _margin_log: float, alphas: Sequence[float], _guess: float
) -> list[Size]:
    """Estimate and standard errors, with a quantile of the normal law: not valid at a stop."""
    seen = estimate(tests.stream.values, tests.stream.other)
    if seen is None:
        return [_of_one(Interval(None, None))] * len(alphas)
    reach = [float(norm.isf(alpha)) * seen.standard_error_log for alpha in alphas]
    return [_of_one(Interval(seen.ratio_log - each, seen.ratio_log + each)) for each in reach]


def moved_inwards(
    tests: Inference, margin_log: float, alphas: Sequence[float], guess: float
) -> list[Size]:
    return [
        _of_one(Interval(None if low is None else low + margin_log / 8, high))
        for (low, high), _ in _sizes(tests, margin_log, alphas, guess)
    ]


def _of_one(interval: Interval) -> Size:
    return Size(interval, interval)


def asked_of_all_visits(
    present: Standing, readings: Visits, margin_log: float
) -> Iterator[Standing]:
    if present.decision.words:
        yield comparison._answered(present, readings, margin_log)


def not_inside(left: CarryOver, margin_log: float) -> bool:
    return not (-margin_log / 2 <= left.low_log and left.high_log <= margin_log / 2)


_carry_over_found = withholding.carry_over_found


def carry_over_withholds_all(*given: Any) -> Any:
    return _carry_over_found(*given[:-1], lambda _values: False)


def carry_over_of_no_size(*given: Any) -> CarryOver | None:
    found = carry_over(*given)
    return found and replace(found, most_log=0.0)


class Bound:
    """That of Student's law with another level or other degrees of freedom."""

    def __init__(self, *, two_sided: bool = True, lost: int = 0) -> None:
        self._sides, self._lost = 1 if two_sided else 2, lost

    def __call__(self, tail: float, freedom: int) -> float:
        return float(t_bound(self._sides * tail, freedom + self._lost))


t_bound = distributions.t_bound


def three_deviations(arm: np.ndarray) -> int:
    return int(np.sum(arm < arm.mean() - 3 * arm.std()))


_series = MeasuredVisits.series


def without_outliers(visits: MeasuredVisits, *arguments: Any, **options: Any) -> series.Series:
    series = _series(visits, *arguments, **options)
    keep = np.ones(len(series.values), dtype=bool)
    for side in (False, True):
        arm = series.values[series.other == side]
        spread = 1.4826 * np.median(np.abs(arm - np.median(arm)))
        keep[series.other == side] = np.abs(arm - np.median(arm)) <= 3 * spread
    return replace(
        series,
        visits=tuple(v for v, kept in zip(series.visits, keep, strict=True) if kept),
        slots=tuple(s for s, kept in zip(series.slots, keep, strict=True) if kept),
        other=series.other[keep],
        values=series.values[keep],
    )


class Linear:
    """``math`` whose logarithm is a percentage: ratios become differences."""

    def __getattr__(self, name: str) -> Any:
        return getattr(math, name)

    @staticmethod
    def log(value: float) -> float:
        return value / 1_000


def nothing(*_arguments: Any, **_options: Any) -> None:
    return None


def none_at_all(*_arguments: Any, **_options: Any) -> Iterator[str]:
    return iter(())


def always_higher(**fields: Any) -> Any:
    return series.ResponseSpec(**(fields | {"direction": "higher"}))
