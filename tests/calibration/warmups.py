"""Twelve ways in which throughput comes, or does not come, to its steady level of 1.

Each takes the seconds of a window; what it ends at, or would in the end, is known.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from steelyard.judge.analyses.steadiness.findings import Steadiness
from steelyard.judge.analyses.steadiness.steady import steady

Floats = npt.NDArray[np.float64]
Shape = Callable[[Floats], Floats]
SECONDS, NOISE, PERSISTENCE, MARGIN_LOG = 600, 0.02, 0.3, 0.02


def dip(depth: float, tau_s: float) -> Shape:
    """Cold caches: slower at first, by ``depth``."""
    return lambda t: 1 - depth * np.exp(-t / tau_s)


def step(before: float, at_s: float) -> Shape:
    """One change of level, as when a compiler or a background job has ended."""
    return lambda t: np.where(t < at_s, before, 1.0)


SHAPES: dict[str, Shape] = {
    "flat": np.ones_like,
    "30 % dip, 5 s": dip(0.30, 5),
    "30 % dip, 30 s": dip(0.30, 30),
    "30 % dip, 120 s": dip(0.30, 120),
    "30 % dip, 600 s": dip(0.30, 600),
    "5 % dip, 200 s": dip(0.05, 200),
    "20 % overshoot, 60 s": dip(-0.20, 60),
    "a step of 10 % after 60 s": step(0.90, 60),
    "a step of 10 % after 250 s": step(0.90, 250),
    "a step of 5 % after 480 s": step(0.95, 480),
    "a ramp of 4 % over all": lambda t: 0.96 + 0.04 * t / SECONDS,
    "a staircase of 3 % every 150 s": lambda t: 1 - 0.03 * (3 - np.minimum(t // 150, 3)),
}
"""A ramp is held to its end: its steady level lies at or beyond it."""


def series(shape: Shape, seed: int, trials: int = 1, noise: float = NOISE) -> Floats:
    """The mean of so many windows in bins of a second, with noise that persists a little."""
    random = np.random.default_rng([seed, trials])
    drawn = random.normal(0, noise * np.sqrt(1 - PERSISTENCE**2), (SECONDS, trials))
    hanging = np.empty((SECONDS, trials))
    hanging[0] = random.normal(0, noise, trials)
    for second in range(1, SECONDS):
        hanging[second] = PERSISTENCE * hanging[second - 1] + drawn[second]
    return 1_000 * shape(np.arange(SECONDS) + 0.5) * (1 + hanging.mean(axis=1))


REFUSED = (Steadiness.NEVER, Steadiness.UNKNOWN)


def safe(name: str, seed: int, trials: int) -> bool:
    """Whether the mean that a reader would rely on is near the steady level, or refused."""
    found = steady(series(SHAPES[name], seed, trials), MARGIN_LOG)
    if found.state in REFUSED:
        return True
    cut = found.cut if found.state is Steadiness.STEADY_LATER else 0
    truth = SHAPES[name](np.arange(SECONDS) + 0.5)[cut:]
    return abs(float(np.log(truth.mean()))) <= MARGIN_LOG / 4
