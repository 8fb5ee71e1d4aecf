"""Carry-over: what a visit leaves to the one after it, within each arm by itself."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from steelyard.inference.noise.robust import Floats, Mask
from steelyard.inference.probability.distributions import t_bound

_LEVEL = 0.05
_LEAST_FREEDOM = 3


@dataclass(frozen=True)
class CarryOver:
    """What one system leaves to the visits of one arm that follow it, where it is clearest.

    ``low_log`` and ``high_log``: 95 % interval that holds for all that were looked at together.
    ``after`` marks the visits that follow that system in that arm, ``rest`` its others: which of
    them is as it should be is not known. ``in_other`` says which arm it is. ``most_log``: no
    carry-over that these visits allow moves the difference of the arms by more.
    """

    low_log: float
    high_log: float
    after: Mask
    rest: Mask
    in_other: bool
    most_log: float

    def forbids(self, margin_log: float) -> bool:
        """Whether it lies wholly beyond half the margin: the reset is not effective."""
        return self.low_log > margin_log / 2 or self.high_log < -margin_log / 2

    @property
    def shows(self) -> bool:
        """Whether it excludes 0, which only warns."""
        return self.low_log > 0 or self.high_log < 0


def carry_over(
    values: Floats, other: Mask, slots: tuple[int, ...], before: tuple[str | None, ...] = ()
) -> CarryOver | None:
    """The visits of an arm after one system against its other visits; ``None`` if too few.

    Each arm by itself, because one system alone may feel what is left. Only visits whose
    predecessor in the assignment was measured count. ``slots`` are places in the assignment of
    the pair. Among several systems the visit before may be of any: ``before`` names it (``None``
    for the first).
    """
    led_by = np.array(before or _of_the_pair(other, slots), dtype=object)
    names = sorted({name for name in led_by if name is not None})
    known = np.array([name is not None for name in led_by], dtype=np.bool_)
    arms = [known & (other == which) for which in (False, True)]
    groups = [arm & (led_by == name) for arm in arms for name in names]
    freedom = int(known.sum()) - sum(bool(group.any()) for group in groups)
    asked = list(_contrasts(arms, groups, len(names)))
    if not asked or freedom < _LEAST_FREEDOM:
        return None
    sd = math.sqrt(sum(_squares(values[group]) for group in groups) / freedom)
    clearest = max(asked, key=lambda each: each.clearness(values))
    size = clearest.size(values)
    unit = float(t_bound(_LEVEL / (2 * len(asked)), freedom)) * sd
    half = unit * clearest.error
    in_other = bool(other[clearest.after][0])
    return CarryOver(
        low_log=size - half,
        high_log=size + half,
        after=clearest.after,
        rest=clearest.rest,
        in_other=in_other,
        most_log=sum(_farthest(asked, values, arm, unit) for arm in arms),
    )


def _farthest(asked: Sequence[_Contrast], values: Floats, arm: Mask, unit: float) -> float:
    """The end farthest from 0 of the intervals of one arm; 0 where it has none."""
    of_arm = [each for each in asked if arm[each.after].any()]
    return max((abs(each.size(values)) + unit * each.error for each in of_arm), default=0.0)


class _Contrast(NamedTuple):
    """Visits of one arm after one system, and the others of that arm."""

    after: Mask
    rest: Mask

    def size(self, values: Floats) -> float:
        return float(values[self.after].mean() - values[self.rest].mean())

    @property
    def error(self) -> float:
        """The standard error of the size, of visits with a standard deviation of 1."""
        return math.sqrt(1 / int(self.after.sum()) + 1 / int(self.rest.sum()))

    def clearness(self, values: Floats) -> float:
        return abs(self.size(values)) / self.error


def _contrasts(arms: Sequence[Mask], groups: Sequence[Mask], names: int) -> Iterator[_Contrast]:
    """Of each arm and each system before; of two systems one says what the other does."""
    for number, after in enumerate(groups):
        arm, name = divmod(number, names)
        rest = arms[arm] & ~after
        if after.any() and rest.any() and not (names == 2 and name == 0):
            yield _Contrast(after, rest)


def _squares(group: Floats) -> float:
    return float(np.sum((group - group.mean()) ** 2)) if len(group) else 0.0


def _of_the_pair(other: Mask, slots: tuple[int, ...]) -> tuple[str | None, ...]:
    """The arm of the visit in the slot before; ``None`` where it was not measured."""
    arm = {slot: "other" if other[place] else "baseline" for place, slot in enumerate(slots)}
    return tuple(arm.get(slot - 1) for slot in slots)
