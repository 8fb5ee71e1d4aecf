"""Is a series steady, and from where on: MSER-5, then what it alone cannot see.

MSER cuts where the standard error of the rest is least; it leaves slow warm-ups in. So the rest
must be shown flat (the interval of its slope lies within a quarter of the margin over its length),
made of one long last level (least-squares segments with a penalty for each), and its segments
within half the margin of each other (a quarter, if the last is no longer than half of the
window). What cannot be shown is refused.

Sources: White, "An effective truncation heuristic for bias reduction in simulation output",
Simulation 69 (1997) 323-334, and Spratt's MSER-5; segments: Jackson and others, "An algorithm for
optimal partitioning of data on an interval", IEEE Signal Processing Letters 12 (2005) 105-108.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.inference.probability.distributions import t_bound
from steelyard.judge.analyses.steadiness.findings import (
    Drifts,
    LevelChanges,
    NothingCompleted,
    NotShownSteady,
    Steadiness,
    TooFewIntervals,
    TooNoisy,
)

FEWEST_BATCHES = 20
SLOPE_BATCHES = 20
_BATCH = 5
_LEVEL = 0.95
_PENALTY = 3.0


@dataclass(frozen=True)
class Steady:
    """What is said of one series of ``bins``. ``cut`` is how many of them precede the steady part.

    ``drift_low_log`` and ``drift_high_log`` bound the change over the kept part; ``bias_log`` is
    the mean of all over that of the kept part. ``None`` where nothing was fitted.
    """

    state: Steadiness
    bins: int
    cut: int = 0
    drift_low_log: float | None = None
    drift_high_log: float | None = None
    bias_log: float | None = None
    reason: NotShownSteady | None = None


def steady(series: Floats, margin_log: float) -> Steady:
    """Whether a series of equal bins is steady to a quarter of the margin."""
    size = min(_BATCH, len(series) // FEWEST_BATCHES)
    if size == 0:
        reason = TooFewIntervals(intervals=len(series), needed=FEWEST_BATCHES)
        return Steady(Steadiness.UNKNOWN, len(series), reason=reason)
    mean = float(series.mean())
    if mean <= 0:
        return Steady(Steadiness.UNKNOWN, len(series), reason=NothingCompleted())
    batches = _batched(series / mean, size)
    cut = mser(batches)
    kept = batches[cut:]
    if kept.mean() <= 0:  # all was done at once, and nothing after it
        return Steady(Steadiness.NEVER, len(series), cut * size, reason=LevelChanges())
    low, high = _drift(kept)
    found = Steady(
        Steadiness.STEADY,
        len(series),
        cut * size,
        low,
        high,
        math.log(float(batches.mean()) / float(kept.mean())),
    )
    return _judged(found, batches, cut, margin_log)


def mser(values: Floats) -> int:
    """How many of the first values to leave out, at most half of them."""
    most = len(values) // 2
    scores = [
        float(np.sum((values[d:] - values[d:].mean()) ** 2)) / (len(values) - d) ** 2
        for d in range(most + 1)
    ]
    return int(np.argmin(scores))


def _judged(found: Steady, batches: Floats, cut: int, margin_log: float) -> Steady:
    low, high = found.drift_low_log or 0.0, found.drift_high_log or 0.0
    near = margin_log / 4
    levels = segments(batches)
    last = len(batches) - levels[-1][0]
    means = [float(batches[max(a, cut) : b].mean()) for a, b in levels if b > cut]
    apart = max(means) - min(means)
    if apart > margin_log / 2 or (2 * last < len(batches) and apart > near):
        return replace(found, state=Steadiness.NEVER, reason=LevelChanges())
    if low > near or high < -near:
        return replace(found, state=Steadiness.NEVER, reason=Drifts())
    if low < -near or high > near:
        return replace(found, state=Steadiness.UNKNOWN, reason=TooNoisy())
    if abs(found.bias_log or 0.0) > near:
        return replace(found, state=Steadiness.STEADY_LATER)
    return found


def _batched(series: Floats, size: int) -> Floats:
    """Means of so many bins each; what is left over at the beginning goes with the first."""
    count = len(series) // size
    return np.asarray(series[len(series) - count * size :].reshape(count, size).mean(axis=1))


def _drift(kept: Floats) -> tuple[float, float]:
    """Change over the kept part, with its interval; noise is that of twenty means, so that what
    hangs together from bin to bin does not pass for many independent values.
    """
    size = max(1, len(kept) // SLOPE_BATCHES)
    means = _batched(kept, size)
    places = np.arange(len(means)) - (len(means) - 1) / 2
    spread = float(places @ places)
    slope = float(places @ means) / spread
    left = means - means.mean() - slope * places
    df = len(means) - 2
    error = math.sqrt(float(left @ left) / df / spread)
    reach = float(t_bound((1 - _LEVEL) / 2, df)) * error
    length = len(means) / float(kept.mean())
    return (slope - reach) * length, (slope + reach) * length


def segments(values: Floats) -> list[tuple[int, int]]:
    """The levels that a series is made of: bounds of each, by penalised least squares.

    The noise is reported from differences of neighbours, which a change of level hardly touches.
    """
    count = len(values)
    noise = float(np.median(np.abs(np.diff(values)))) / 0.9539
    penalty = _PENALTY * max(noise**2, 1e-12) * math.log(count)
    sums, squares = np.cumsum(np.append(0.0, values)), np.cumsum(np.append(0.0, values**2))
    costs, starts = np.zeros(count + 1), np.zeros(count + 1, dtype=int)
    costs[0] = -penalty
    for end in range(1, count + 1):
        begin = np.arange(end)
        lengths = end - begin
        within = squares[end] - squares[begin] - (sums[end] - sums[begin]) ** 2 / lengths
        total = costs[:end] + within + penalty
        starts[end] = int(np.argmin(total))
        costs[end] = total[starts[end]]
    found, end = [], count
    while end > 0:
        found.append((int(starts[end]), end))
        end = int(starts[end])
    return found[::-1]
