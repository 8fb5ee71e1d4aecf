"""Planted mistakes: engines and coins that are wrong in one way each. The gate must fail them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from unittest.mock import patch

import numpy as np
import numpy.typing as npt
from tests.calibration.gate import Engine, shipped
from tests.calibration.simulated import Law

from steelyard.judge import exact
from steelyard.judge.exact import Pool
from steelyard.judge.interval import Stream
from steelyard.judge.paths import Signs
from steelyard.judge.spending import spent


def _with(change: Callable[[], AbstractContextManager[object]]) -> Engine:
    def engine(stream: Stream) -> bool:
        with change():
            return shipped(stream)

    return engine


def _at_once(visits: int, horizon: int, alpha: float) -> float:
    """The whole error rate at the first look, and again at every other one."""
    return alpha


def _twice(visits: int, horizon: int, alpha: float) -> float:
    return spent(visits, horizon, 2 * alpha)


def _ties_for_the_observed(
    race: exact._Race, signed: Pool, allowed: int, tail: float
) -> npt.NDArray[np.intp]:
    """The observed path crosses when it only reaches the boundary; the others must exceed it."""
    alive = np.flatnonzero(race._alive)
    heights = signed[alive]
    boundary = np.partition(heights, -allowed - 1)[-allowed - 1]
    over = heights > boundary
    over[0] = heights[0] >= boundary
    return alive[over]


def _nobody_leaves(
    race: exact._Race, signed: Pool, allowed: int, tail: float
) -> npt.NDArray[np.intp]:
    """Simulated paths stay in the race after they crossed: every look is judged by itself."""
    boundary = np.partition(signed, -allowed - 1)[-allowed - 1]
    return np.flatnonzero(signed[:1] > boundary)


@contextmanager
def _peeking() -> Iterator[None]:
    with (
        patch.object(exact, "spent", _at_once),
        patch.object(exact._Race, "_above_boundary", _nobody_leaves),
    ):
        yield


def alternation(count: int, length: int, rng: np.random.Generator) -> Signs:
    """Strict A B A B: no coin at all."""
    column = np.where(np.arange(length) % 2 == 0, 1, -1).astype(np.int8)
    return np.repeat(column[:, None], count, axis=1)


def free_coin(count: int, length: int, rng: np.random.Generator) -> Signs:
    """A coin without any balance, judged by the sequences of the balanced one."""
    return np.where(rng.random((length, count)) < 0.5, np.int8(1), np.int8(-1))


def sticky_coin(count: int, length: int, rng: np.random.Generator) -> Signs:
    """A coin that changes the system in one visit of five, to save set-up time."""
    turns = np.where(rng.random((length, count)) < 0.2, -1, 1)
    return np.cumprod(turns, axis=0).astype(np.int8)


ENGINES: dict[str, Engine] = {
    "peeking without spending": _with(_peeking),
    "looks judged without memory": _with(
        lambda: patch.object(exact._Race, "_above_boundary", _nobody_leaves)
    ),
    "ties counted for the observed order": _with(
        lambda: patch.object(exact._Race, "_above_boundary", _ties_for_the_observed)
    ),
    "5 % spent on each side": _with(lambda: patch.object(exact, "spent", _twice)),
}
COINS: dict[str, Law] = {
    "strict alternation": alternation,
    "a free coin": free_coin,
    "a sticky coin": sticky_coin,
}
