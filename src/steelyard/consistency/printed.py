"""A printed number is an interval: all that rounds to its digits.

Arithmetic is that of intervals (Moore, Kearfott and Cloud 2009), so that a recomputed value
differs from a printed one only where no unrounded values could have given both.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Decimal

_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)
_SLACK = 1e-9
"""Of the magnitudes: binary floating point is no disagreement."""
_ROUNDINGS = {"up": ROUND_CEILING, "down": ROUND_FLOOR, "truncated": ROUND_DOWN,
              "nearest": ROUND_HALF_UP}  # fmt: skip
MODES = tuple(_ROUNDINGS)


@dataclass(frozen=True)
class Interval:
    """All numbers from ``low`` to ``high``."""

    low: float
    high: float

    def __add__(self, other: Interval) -> Interval:
        return Interval(self.low + other.low, self.high + other.high)

    def __sub__(self, other: Interval) -> Interval:
        return Interval(self.low - other.high, self.high - other.low)

    def __mul__(self, other: Interval) -> Interval:
        ends = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        return Interval(min(ends), max(ends))

    def __truediv__(self, other: Interval) -> Interval:
        if other.low <= 0 <= other.high:
            return Interval(-math.inf, math.inf)
        return self * Interval(1 / other.high, 1 / other.low)

    def times(self, factor: float) -> Interval:
        return self * Interval(factor, factor)

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2

    def meets(self, other: Interval) -> bool:
        slack = _SLACK * max(map(abs, (self.low, self.high, other.low, other.high)))
        return self.low <= other.high + slack and other.low <= self.high + slack

    def surely_above(self, other: Interval) -> bool:
        return self.low > other.high and not self.meets(other)


@dataclass(frozen=True)
class Printed:
    """A number with the text it was read from."""

    text: str
    value: float
    interval: Interval

    @property
    def quantum(self) -> Decimal:
        """One unit of the last place."""
        return Decimal(1).scaleb(int(Decimal(self.text).as_tuple().exponent))

    @property
    def any_rounding(self) -> Interval:
        """What would have been printed so in one direction of rounding or another."""
        quantum = float(self.quantum)
        return Interval(self.value - quantum, self.value + quantum)

    @property
    def digits(self) -> str:
        """The significant digits, without sign, point and leading zeros."""
        mantissa = re.split("[eE]", self.text)[0]
        return re.sub(r"[^0-9]", "", mantissa).lstrip("0") or "0"


def printed(text: str, *, exact: bool = False) -> Printed | None:
    """``text`` as a number, where it is one; a count is ``exact``."""
    if not _NUMBER.fullmatch(text):
        return None
    value = Decimal(text)
    half = Decimal(0) if exact else Decimal(5).scaleb(int(value.as_tuple().exponent) - 1)
    return Printed(text, float(value), Interval(float(value - half), float(value + half)))


def total(parts: Iterable[Interval]) -> Interval:
    found = Interval(0.0, 0.0)
    for part in parts:
        found += part
    return found


def rounded(value: float, like: Printed, mode: str = "nearest") -> float:
    """``value`` with the digits of ``like``."""
    exact = Decimal(repr(round(value, 12)))
    return float(exact.quantize(like.quantum, _ROUNDINGS[mode]))


def is_slip(shown: str, wanted: Interval) -> bool:
    """Whether one wrong digit, two swapped ones or a lost one lead from ``wanted`` to ``shown``."""
    for text in _one_edit(shown):
        found = printed(text)
        if found is not None and found.interval.meets(wanted):
            return True
    return False


def is_factor_of_ten(shown: float, wanted: Interval) -> bool:
    """Whether the point stands in another place."""
    if shown == 0 or wanted.low <= 0 <= wanted.high:
        return False
    scaled = (Interval(shown * 10.0**power * 0.9999, shown * 10.0**power * 1.0001)
              for power in (-3, -2, -1, 1, 2, 3))  # fmt: skip
    return any(Interval(min(s.low, s.high), max(s.low, s.high)).meets(wanted) for s in scaled)


def _one_edit(text: str) -> Iterable[str]:
    for at, digit in enumerate(text):
        if not digit.isdigit():
            continue
        yield from (text[:at] + other + text[at + 1 :] for other in "0123456789" if other != digit)
        if text[at + 1 : at + 2].isdigit():
            yield text[:at] + text[at + 1] + digit + text[at + 2 :]
    if text.startswith("-"):
        yield text[1:]
    else:
        yield "-" + text
