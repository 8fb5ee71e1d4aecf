"""Many studies at once through the shipped judge: its weights, spending, tests and grid.

What is added is only that studies share their simulated orders, so that all weights of a look
are one product. ``test_batched.py`` holds the words and looks against ``sequential.decide``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from tests.calibration.cells import Batch
from tests.calibration.gate import ALPHA
from tests.calibration.noises import Values

from steelyard.inference import exact, sequential, spending
from steelyard.inference.confidence import Rejections
from steelyard.inference.exact import OneSided
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import Memory, VerdictWord
from steelyard.inference.stream import Order, Stream

MARGIN = math.log1p(0.02)
_TESTS = ("up", "down", "above_low", "below_high")


@dataclass
class Outcome:
    """One comparison: its words at the first look at which any holds, and its tests at 0.

    ``crossed`` holds the sides on which the exact test at ratio 1 crossed at any look, whether or
    not the study had stopped before; ``agreed`` those on which that for unequal spreads did too.
    """

    words: tuple[VerdictWord, ...] = ()
    at: int | None = None
    crossed: set[str] = field(default_factory=set)
    agreed: set[str] = field(default_factory=set)

    @property
    def different(self) -> bool:
        """Whether the systems are called different at any look."""
        return bool(self.agreed)


@dataclass
class _Tests:
    """The four tests of one comparison. ``row`` is its first of three rows of residuals."""

    row: int
    tests: dict[str, exact._Test]

    @property
    def running(self) -> dict[str, exact._Test]:
        return {name: test for name, test in self.tests.items() if test.crossed_at is None}


class _Bench(NamedTuple):
    """What all looks share."""

    residuals: Values
    pool: npt.NDArray[np.float32]
    horizon: int
    canary: Values | None


class _Asked(NamedTuple):
    """What a comparison is decided by."""

    stream: Stream
    margin: float
    alpha: float
    memory: Memory


def judged(
    batch: Batch,
    horizon: int,
    *,
    alpha: float = ALPHA,
    margin: float = MARGIN,
    beyond_decision: bool = False,
    at_the_bounds: frozenset[VerdictWord] = frozenset(),
) -> list[Outcome]:
    """What the judge says of every comparison of a batch; ``margin`` is a natural logarithm.

    ``beyond_decision`` follows the tests at 0 alone, to the end of the budget, and gives no
    words. A word of ``at_the_bounds`` counts as soon as the exact tests at 0 and at the margins
    allow it, which is cheaper: an upper bound on that word.
    """
    count = len(batch.values)
    bench = _Bench(_residuals(batch, margin), _shared_pool(batch), horizon, batch.canary)
    asked_of = ("up", "down") if beyond_decision else _TESTS
    tests = [_tests(index, alpha, batch.simulated.shape[1] + 1, asked_of) for index in range(count)]
    outcomes = [Outcome() for _ in range(count)]
    open_ones, memory = list(range(count)), Memory()
    for look in spending.looks_until(batch.values.shape[1], horizon):
        still = [tests[i] for i in open_ones]
        _one_look(look, still, bench)
        for index in open_ones:
            _note(outcomes[index], tests[index], look)
            asked = not beyond_decision and outcomes[index].at is None
            if asked and _allowed(tests[index], look):
                stream = _stream(batch, index, look, horizon)
                asked_now = _Asked(stream, margin, alpha, memory)
                _decide(outcomes[index], tests[index], look, asked_now, at_the_bounds)
        if not beyond_decision:
            open_ones = [i for i in open_ones if outcomes[i].at is None]
    for index, outcome in enumerate(outcomes):
        if outcome.crossed and beyond_decision:
            stream = _stream(batch, index, batch.values.shape[1], horizon)
            outcome.agreed = _agreed(outcome, stream, alpha)
    return outcomes


def _residuals(batch: Batch, margin: float) -> npt.NDArray[np.float64]:
    """Three rows for each comparison: at ratio 1 and at both margins."""
    shifts = np.array([0.0, -margin, margin])
    other = batch.signs.T > 0
    rows = batch.values[:, None, :] - shifts[None, :, None] * other[:, None, :]
    return np.asarray(rows.reshape(-1, batch.values.shape[1]))


def _shared_pool(batch: Batch) -> npt.NDArray[np.float32]:
    """All observed orders before the simulated ones."""
    return np.concatenate([batch.signs, batch.simulated], axis=1).astype(np.float32)


def _tests(index: int, alpha: float, paths: int, names: tuple[str, ...]) -> _Tests:
    row = 3 * index
    asked: dict[str, tuple[int, Literal[1, -1], float]] = {
        "up": (row, 1, alpha / 2),
        "down": (row, -1, alpha / 2),
        "above_low": (row + 1, 1, alpha),
        "below_high": (row + 2, -1, alpha),
    }
    return _Tests(row, {name: exact._Test(OneSided(*asked[name]), paths) for name in names})


def _one_look(look: int, tests: list[_Tests], bench: _Bench) -> None:
    """The step of ``exact.SequentialTests.advance`` for all comparisons that are still open."""
    running = [
        (each.row // 3, test, share)
        for each in tests
        for test in each.running.values()
        if test.may_cross(share := exact.spent(look, bench.horizon, test.asked.alpha))
    ]
    rows = sorted({test.asked.row for _, test, _ in running})
    if not rows:
        return
    known, pool = bench.residuals[rows, :look], bench.pool
    if bench.canary is not None:
        known = _adjusted(known, rows, bench.canary[:, :look])
    weighed = exact.weights(known)
    statistics = np.matmul(weighed.astype(pool.dtype), pool[:look])
    sizes = np.sqrt(np.sum(weighed**2, axis=1))
    observed = len(bench.residuals) // 3
    place = {row: at for at, row in enumerate(rows)}
    for index, test, _ in running:
        at = place[test.asked.row]
        statistics[at, observed - 1] = statistics[at, index]
    for _, test, share in running:
        at = place[test.asked.row]
        test.look(look, statistics[at, observed - 1 :], sizes[at], share)


def _adjusted(known: Values, rows: list[int], canary: Values) -> Values:
    """Each comparison less what follows its own canary."""
    fresh = np.empty_like(known)
    for index in {row // 3 for row in rows}:
        own = [place for place, row in enumerate(rows) if row // 3 == index]
        fresh[own] = exact.adjusted(known[own], canary[index])
    return fresh


def _note(outcome: Outcome, tests: _Tests, look: int) -> None:
    outcome.crossed |= {s for s in ("up", "down") if tests.tests[s].crossed_at == look}


def _agreed(outcome: Outcome, stream: Stream, alpha: float) -> set[str]:
    """The sides on which the test for unequal spreads puts out ratio 1 as the exact one did.

    What is out stays out in both, so it is enough to look at the end.
    """
    sides = {"up": stream, "down": stream.mirrored()}
    return {s for s in outcome.crossed if Rejections(sides[s]).below(alpha / 2)[-1] > 0}


def _allowed(tests: _Tests, look: int) -> list[VerdictWord]:
    """What the shipped judge allows at its bounds; it is asked as it asks its own tests."""
    four = exact.SequentialTests([], 0)
    four.looked = look
    four._tests = [tests.tests[name] for name in _TESTS]
    return sequential._at_the_bounds(four)


def _decide(
    outcome: Outcome,
    tests: _Tests,
    look: int,
    asked: _Asked,
    at_the_bounds: frozenset[VerdictWord],
) -> None:
    stream, margin, alpha, memory = asked
    side = Inference.of(stream, memory).side
    words = tuple(
        word
        for word in _allowed(tests, look)
        if word in at_the_bounds or sequential._on_the_grid(word, side, margin, alpha) is not None
    )
    if words:
        outcome.words, outcome.at = words, look


def _stream(batch: Batch, index: int, look: int, horizon: int) -> Stream:
    signs = batch.signs[:look, index]
    pool = exact.Pool(signs, batch.simulated[:look])
    canary = None if batch.canary is None else batch.canary[index, :look]
    order = Order("batch", tuple(range(look)), tuple(signs > 0))
    return Stream(batch.values[index, :look], signs > 0, pool, horizon, order, covariate=canary)
