"""Figures as people read them: enough digits to be true, no more.

Rounding may not contradict the sentence it stands in: every function that prints several figures
together takes the *thresholds* that the sentence speaks of (no effect, the margin) and adds
digits until each printed figure lies on the same side of each threshold as the figure itself.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

MOST_DECIMALS = 12
_SAME = 1e-11

_TIME_STEPS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_TIME_UNITS_NS = {"ns": 1.0, "us": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
_BYTE_STEPS = ((2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1.0, "B"))
_BYTE_UNITS = {"B": "", "bytes": "", "B/s": "/s", "bytes/s": "/s"}


class Scale(NamedTuple):
    """How raw values of one response are shown: ``shown = raw / divisor``, in ``unit``."""

    divisor: float
    unit: str


def decimals_for(values: Iterable[float], thresholds: Sequence[float], least: int) -> int:
    """The fewest decimals, at least ``least``, that leave every value on its side of each bound."""
    figures = list(values)
    for decimals in range(least, MOST_DECIMALS):
        if all(_same_side(v, t, decimals) for v in figures for t in thresholds):
            return decimals
    return MOST_DECIMALS


def _same_side(value: float, threshold: float, decimals: int) -> bool:
    if math.isclose(value, threshold, rel_tol=_SAME, abs_tol=_SAME):
        return True  # an end that lies on the bound itself: no number of digits parts them
    shown = round(value, decimals)
    return (shown > threshold) == (value > threshold) and (shown < threshold) == (value < threshold)


def fixed(value: float, decimals: int, *, signed: bool = False) -> str:
    """``value`` with that many decimals; zero never carries a sign; thousands are grouped."""
    shown = round(value, decimals) + 0.0
    sign = "+" if signed and shown > 0 else ""
    return f"{sign}{0.0 if shown == 0 else shown:,.{decimals}f}"


def significant(value: float, digits: int = 3) -> str:
    """``value`` to so many significant digits, without an exponent in the common range."""
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    if not -6 <= exponent <= 14:
        return f"{value:.{digits - 1}e}"
    return fixed(value, max(0, digits - 1 - exponent))


def scale_for(values: Iterable[float], unit: str) -> Scale:
    """One scale for all values of a response, so that they can be compared at a glance."""
    largest = max((abs(v) for v in values), default=0.0)
    if unit in _TIME_UNITS_NS:
        return _step(largest, _TIME_UNITS_NS[unit], _TIME_STEPS, "")
    if unit in _BYTE_UNITS:
        return _step(largest, 1.0, _BYTE_STEPS, _BYTE_UNITS[unit])
    return Scale(0.01, "%") if unit == "ratio" else Scale(1.0, unit)


def _step(
    largest: float, factor: float, steps: tuple[tuple[float, str], ...], suffix: str
) -> Scale:
    for size, name in steps:
        if largest * factor >= size:
            return Scale(size / factor, name + suffix)
    size, name = steps[-1]
    return Scale(size / factor, name + suffix)


def quantity(value: float, unit: str, scale: Scale | None = None) -> str:
    """A value with its unit, as ``1.23 ms`` or ``4,120 messages/s``."""
    chosen = scale or scale_for([value], unit)
    return f"{significant(value / chosen.divisor)} {chosen.unit}".rstrip()


def percent(share: float) -> str:
    """A share or level as percent without useless zeros: ``95 %``, ``98.3 %``."""
    shown = 100 * share
    text = fixed(shown, decimals_for([shown], [0.0, 100.0], 1))
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} %"


def span(low: str, high: str) -> str:
    """From one figure to another, as every range of a report is written."""
    return f"{low} to {high}"


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """``1 visit``, ``12 visits``."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def listed(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(words) <= 1:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def rounded(count: int, digits: int = 2) -> int:
    """A count to so many digits: 1,383 as 1,400."""
    return round(count, digits - len(str(abs(count))))
