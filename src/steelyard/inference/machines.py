"""One comparison on several machines, each with a random order of its own.

Three questions. *On all of these*: the mean of their effects, by the tests of one machine: the
statistics are summed, and the order of every machine is drawn again by itself. If the ratio is the
same on all of them the re-randomisation test is exact; where it differs between machines, Welch's
test of the mean keeps the error rate, and a ratio is rejected only when both reject it. *Does the
effect depend on the machine*: each against the mean of all. *On others like them*: machines as a
sample, refused below ``LEAST_MACHINES``.

All ratios are natural logarithms, other over baseline.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.inference import welch
from steelyard.inference.confidence import Interval
from steelyard.inference.estimate import Estimate, estimate
from steelyard.inference.exact import Pool
from steelyard.inference.noise.robust import Floats
from steelyard.inference.probability.distributions import t_bound
from steelyard.inference.stream import Stream

_Array = npt.NDArray[Any]

LEAST_MACHINES = 6
"""Below, the spread of effects between machines is known too badly to speak of others."""


def together(streams: Sequence[Stream]) -> Stream:
    """The streams of several machines as one, as far as all of them have visits.

    Their orders must have been drawn independently of each other, observed and simulated ones.
    """
    count = min(len(each.values) for each in streams)
    return replace(
        streams[0],
        values=_in_turn([each.values[:count] for each in streams]),
        other=_in_turn([each.other[:count] for each in streams]),
        pool=_pools([each.pool.first(count) for each in streams]),
        covariate=_covariates([each.covariate for each in streams], count),
        order=None,
        machines=len(streams),
    )


def _pools(pools: Sequence[Pool]) -> Pool:
    return Pool(
        _in_turn([each.observed for each in pools]), _in_turn([each.simulated for each in pools])
    )


def _covariates(of_machines: Sequence[Floats | None], count: int) -> Floats | None:
    """Those of all, a machine without any as one on which it never moved."""
    known = [each for each in of_machines if each is not None]
    if not known:
        return None
    still = np.zeros_like(known[0][:1])
    filled = [np.repeat(still, count, axis=0) if c is None else c[:count] for c in of_machines]
    return _in_turn(filled)


def _in_turn(parts: Sequence[_Array]) -> _Array:
    """The first row of each, then the second of each."""
    stacked = np.stack(parts, axis=1)
    return np.ascontiguousarray(stacked.reshape(-1, *stacked.shape[2:]))


def estimate_by_machine(stream: Stream) -> Estimate | None:
    """The mean of the estimates of all machines, and the noise of one visit on one of them."""
    found = []
    for machine in range(stream.machines):
        own = slice(machine, None, stream.machines)
        one = estimate(
            stream.values[own],
            stream.other[own],
            whiten=not stream.once,
            covariate=None if stream.covariate is None else stream.covariate[own],
        )
        if one is None:
            return None
        found.append(one)
    if len(found) == 1:
        return found[0]
    return Estimate(
        math.fsum(each.ratio_log for each in found) / len(found),
        math.hypot(*(each.standard_error_log for each in found)) / len(found),
        math.hypot(*(each.noise_log for each in found)) / math.sqrt(len(found)),
    )


class Deviation(NamedTuple):
    """The effect on one machine less the mean effect on all, with its interval."""

    difference_log: float
    interval: Interval


def deviations(stream: Stream, alpha: float) -> list[Deviation] | None:
    """Of each machine, by Welch's test; all intervals together miss at rate ``alpha`` at any look.

    ``None`` where a machine has fewer than two visits of a system.
    """
    count = stream.machines
    contrasts = welch.by_machine(stream, stream.last_look)
    level = welch.level_at(stream, alpha / (2 * count))
    found = []
    for machine in range(count):
        shares = np.full(count, -1 / count)
        shares[machine] += 1
        one = welch.mean_of(contrasts, shares)
        if one is None:
            return None
        half = _half_width(level, one.freedom, one.standard_error_log)
        found.append(Deviation(one.difference_log, _around(one.difference_log, half)))
    return found


@dataclass(frozen=True)
class Population:
    """What machines say of others like them, if they were chosen at random from these.

    ``mean``: of the mean effect on such machines. ``further``: of the effect on one more of them.
    ``inner``: of the mean, at twice the rate, by which *equivalent* is judged. ``spread_log``:
    standard deviation of the effects that were found, noise included.
    """

    mean_log: float
    spread_log: float
    mean: Interval
    inner: Interval
    further: Interval


def others_like_them(stream: Stream, alpha: float) -> Population | None:
    """Student's test of one effect for each machine, which are taken as normally spread.

    ``None`` below ``LEAST_MACHINES``, or where a machine has fewer than two visits of a system.
    """
    contrasts = welch.by_machine(stream, stream.last_look)
    if stream.machines < LEAST_MACHINES or None in contrasts:
        return None
    effects = np.array([each.difference_log for each in contrasts if each is not None])
    count, mean, spread = len(effects), float(effects.mean()), float(effects.std(ddof=1))

    def interval(rate: float, scale: float) -> Interval:
        level = welch.level_at(stream, rate)
        return _around(mean, _half_width(level, count - 1, spread * scale))

    return Population(
        mean,
        spread,
        interval(alpha / 2, math.sqrt(1 / count)),
        interval(alpha, math.sqrt(1 / count)),
        interval(alpha / 2, math.sqrt(1 + 1 / count)),
    )


def _half_width(level: float, freedom: float, error_log: float) -> float:
    return float(t_bound(level, freedom)) * error_log if level > 0 else math.inf


def _around(middle: float, half: float) -> Interval:
    return Interval(middle - half, middle + half) if math.isfinite(half) else Interval(None, None)
