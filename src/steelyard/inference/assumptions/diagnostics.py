"""What the guarantee rests on and the data can contradict: arms of equal shape, one effect."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from steelyard.inference.noise.robust import ROUNDING_LOG, Floats, Mask, mad_sd
from steelyard.inference.probability.distributions import counts_chance, spreads_chance, t_bound

SPREAD_LIMIT = 2.0
_STALL_SDS = 3.0
_LEAST_STALL_LOG = math.log(1.1)
"""A stalled visit is a tenth worse than its arm at least: less is scatter, whatever its spread."""
_SMALLEST_ARM = 4
_SMALLEST_STALLING_ARM = 8
"""Of fewer visits the robust spread says little, and a third of them may lie beyond three."""
_LEVEL = 0.05


@dataclass(frozen=True)
class Shape:
    """How the arms differ besides their level. ``None`` where an arm is too small to say.

    ``spread_ratio`` is other over baseline, of mean absolute deviations from the arm's median;
    ``None`` also when an arm does not vary, which ``one_is_constant`` says if it is only one.
    ``spread_chance`` is the probability of so unequal spreads by chance (Brown-Forsythe). Stall
    rates are shares of visits that are a tenth and three robust standard deviations worse than
    the median of their arm; they too are ``None`` where an arm is too small.
    """

    spread_ratio: float | None
    spread_chance: float | None
    stall_rate_baseline: float | None
    stall_rate_other: float | None
    stalls_differ: bool
    one_is_constant: bool = False

    @property
    def spreads_differ(self) -> bool:
        """Whether the error rate rests on the Welch test."""
        ratio = self.spread_ratio
        return ratio is not None and not 1 / SPREAD_LIMIT <= ratio <= SPREAD_LIMIT


def shape_of(values: Floats, other: Mask) -> Shape:
    """Compare the arms, in logarithms with larger as better."""
    baseline_arm, other_arm = values[~other], values[other]
    if min(len(baseline_arm), len(other_arm)) < _SMALLEST_ARM:
        return Shape(None, None, None, None, stalls_differ=False)
    baseline_rate, other_rate, stalls_differ = _stall_rates(baseline_arm, other_arm)
    baseline_spread, other_spread = _spread(baseline_arm), _spread(other_arm)
    return Shape(
        spread_ratio=_ratio(other_spread, baseline_spread),
        spread_chance=_chance(baseline_arm, other_arm),
        stall_rate_baseline=baseline_rate,
        stall_rate_other=other_rate,
        stalls_differ=stalls_differ,
        one_is_constant=(baseline_spread > 0) != (other_spread > 0),
    )


def counts_differ(one: tuple[int, int], another: tuple[int, int], *, level: float = _LEVEL) -> bool:
    """Whether two shares (count, of how many) differ by Fisher's exact test, at 5 % or less."""
    return counts_chance(one, another) < level


def drift_per_visit(values: Floats, other: Mask) -> tuple[float, float] | None:
    """95 % interval of the drift of ln(response) per visit, both systems together."""
    count = len(values)
    if count < 2 * _SMALLEST_ARM or not 0 < other.sum() < count:
        return None
    design = np.column_stack([np.ones(count), other.astype(np.float64), np.arange(count)])
    coefficients, *_ = np.linalg.lstsq(design, values, rcond=None)
    variance = float(np.sum((values - design @ coefficients) ** 2)) / (count - 3)
    inverse = np.linalg.pinv(design.T @ design)
    half = float(t_bound(_LEVEL / 2, count - 3)) * math.sqrt(variance * float(inverse[2, 2]))
    return float(coefficients[2]) - half, float(coefficients[2]) + half


class Change(NamedTuple):
    """The effect in the first ``at`` visits, and in those that follow."""

    at: int
    first_log: float
    second_log: float


def change_of(values: Floats, other: Mask) -> Change | None:
    """The effect in the two parts whose means differ most for their visits; ``None`` if too few.

    Each part has two visits or more of either arm; its effect is the difference of their medians.
    """
    places = range(_SMALLEST_ARM, len(values) - _SMALLEST_ARM + 1)
    clear = {at: _clearness(values, other, at) for at in places}
    at = max(clear, key=lambda place: clear[place], default=None)
    if at is None or clear[at] < 0:
        return None
    first, second = (
        float(np.median(values[part][other[part]]) - np.median(values[part][~other[part]]))
        for part in _parts(at)
    )
    return Change(at, first, second)


def _clearness(values: Floats, other: Mask, at: int) -> float:
    """How far apart the effects before and after are, in units of the noise; -1 if too few."""
    arms = [values[part][mask[part]] for part in _parts(at) for mask in (other, ~other)]
    if min(map(len, arms)) < _SMALLEST_ARM // 2:
        return -1.0
    means = [float(arm.mean()) for arm in arms]
    apart = abs(means[0] - means[1] - means[2] + means[3])
    return apart / math.sqrt(sum(1 / len(arm) for arm in arms))


def _parts(at: int) -> tuple[slice, slice]:
    return slice(at), slice(at, None)


def _spread(arm: Floats) -> float:
    """Mean absolute deviation from the median; what is only the rounding of logarithms is 0."""
    spread = float(np.mean(np.abs(arm - np.median(arm)))) * len(arm) / (len(arm) - 1)
    return spread if spread > ROUNDING_LOG else 0.0


def _ratio(above: float, below: float) -> float | None:
    return above / below if above > 0 and below > 0 else None


def _chance(one: Floats, another: Floats) -> float | None:
    if np.ptp(one) == 0 or np.ptp(another) == 0:
        return None
    return spreads_chance(one, another)


def _stall_rates(one: Floats, another: Floats) -> tuple[float | None, float | None, bool]:
    """The share of visits of each arm that stalled, and whether these shares differ."""
    if min(len(one), len(another)) < _SMALLEST_STALLING_ARM:
        return None, None, False
    counts = (_stalls(one), len(one)), (_stalls(another), len(another))
    (first, of_first), (second, of_second) = counts
    return first / of_first, second / of_second, counts_differ(*counts)


def _stalls(arm: Floats) -> int:
    """Visits of an arm that are far worse than its median: for its spread, and at all."""
    spread = mad_sd(arm)
    limit = np.median(arm) - max(_STALL_SDS * spread, _LEAST_STALL_LOG)
    return int(np.sum(arm < limit)) if spread > 0 else 0
