"""One effect and its interval in words: ``71.3 % less``, ``3.4 times``, ``-0.6 to +2.9 %``.

An effect is the natural logarithm of other over baseline. What becomes less reads best in percent,
what more than doubles as a factor; both ends of an interval take one form. No figure is rounded
across zero or across the margin: decimals are added until it is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from steelyard.report.figures import decimals_for, fixed, span

FACTOR_ABOVE_LOG = math.log(2.0)
PART_BELOW_LOG = math.log(0.1)
WIDE_ABOVE_LOG = math.log(5.0)
_ZERO_PERCENT = 1e-9
"""What no number of decimals that is printed tells from zero."""

Form = Literal["percent", "times"]


@dataclass(frozen=True)
class Direction:
    """The words for a response that is larger or smaller."""

    more: str
    less: str


AMOUNT = Direction("more", "less")
HEIGHT = Direction("higher", "lower")
LENGTH = Direction("longer", "shorter")


def percent_of(log: float) -> float:
    """The change in percent: ``10.0`` for a log of ``0.0953``."""
    return 100.0 * math.expm1(log)


def form_for(estimate_log: float) -> Form:
    """Percent up to twice as much; a factor beyond."""
    return "times" if estimate_log > FACTOR_ABOVE_LOG else "percent"


def effect(
    log: float,
    noun: str,
    direction: Direction,
    *,
    exact_to: tuple[float, ...],
    beside: tuple[float | None, ...] = (),
) -> str:
    """The size with what it is a size of: ``71.3 % less throughput``, ``3.4 times the throughput``.

    ``exact_to`` holds the logs (zero, the margin) that rounding may not cross; ``beside`` the
    interval printed beside it, whose decimals it shares.
    """
    if form_for(log) != "percent":
        return f"{_factor(log)} the {noun}"
    word = direction.more if log > 0 else direction.less
    size = signed_effect(log, exact_to=exact_to, beside=beside).lstrip("+-")
    fold = f", {_factor(-log)} {word}" if log < PART_BELOW_LOG else ""
    return f"{size} {word} {noun}{fold}"


def signed_effect(
    log: float, *, exact_to: tuple[float, ...] = (), beside: tuple[float | None, ...] = ()
) -> str:
    """The size with its sign, where the sentence decides nothing: ``-0.4 %``."""
    if form_for(log) != "percent":
        return _factor(log)
    figures = [percent_of(end) for end in beside if end is not None]
    if exact_to:
        figures.append(percent_of(log))
    least = _decimals_left([percent_of(log)])
    decimals = decimals_for(figures, [percent_of(t) for t in exact_to or (0.0,)], least)
    return f"{fixed(percent_of(log), decimals, signed=True)} %"


def signed_phrase(log: float, noun: str, *, beside: tuple[float | None, ...] = ()) -> str:
    """The size with its sign and what it is a size of: ``-0.4 % throughput``."""
    joint = "" if form_for(log) == "percent" else "the "
    return f"{signed_effect(log, beside=beside)} {joint}{noun}"


def _factor(log: float) -> str:
    ratio = math.exp(log)
    return f"{fixed(ratio, 1 if ratio < 100 else 0)} times"


def _decimals_left(percents: list[float]) -> int:
    """At least one, and more close to -100 %: two digits of what is left."""
    left = min((100 + each for each in percents if each > -100), default=100.0)
    return max(1, 1 - math.floor(math.log10(left)))


def interval(
    low_log: float | None,
    high_log: float | None,
    *,
    estimate_log: float | None,
    direction: Direction | None = AMOUNT,
    exact_to: tuple[float, ...] = (),
    excludes_zero: bool = False,
) -> str:
    """``68.9 to 73.5 % less``, ``3.1 to 3.7 times``, ``-0.6 to +2.9 %``, ``above +1.2 %, ..``.

    When both ends lie on one side of zero their common word is said once; else, and always without
    a ``direction``, they carry signs. ``excludes_zero``: its word says that there is a difference,
    so an end that is zero as printed is open: ``-31.7 % to below 0``.
    """
    bounds = (0.0, *exact_to)
    if low_log is None and high_log is None:
        return "not bounded on either side"
    if high_log is None:
        return f"above {_end(low_log or 0.0, bounds)}, not bounded above"
    if low_log is None:
        return f"below {_end(high_log, bounds)}, not bounded below"
    form = "percent" if estimate_log is None else form_for(estimate_log)
    if excludes_zero and (one_open := _open_at_zero(low_log, high_log, form)):
        return one_open
    if form == "percent" and high_log < WIDE_ABOVE_LOG:
        return _percent_span(low_log, high_log, direction, bounds)
    return f"{_times_span(low_log, high_log, bounds)} times"


def _open_at_zero(low_log: float, high_log: float, form: Form) -> str | None:
    """An interval of which one end is zero and does not belong to it; else ``None``."""
    low, high = percent_of(low_log), percent_of(high_log)
    at_high, at_low = (math.isclose(end, 0.0, abs_tol=_ZERO_PERCENT) for end in (high, low))
    if at_high:
        return f"{fixed(low, _decimals_left([low]), signed=True)} % to below 0"
    if not at_low:
        return None
    if form == "percent" and high_log < WIDE_ABOVE_LOG:
        return f"above 0 to {fixed(high, _decimals_left([high]), signed=True)} %"
    return f"above 1 to {_ratio_text(math.exp(high_log), [1.0])} times"


def _end(log: float, bounds: tuple[float, ...]) -> str:
    return signed_effect(log, exact_to=bounds)


def _percent_span(
    low_log: float, high_log: float, direction: Direction | None, bounds: tuple[float, ...]
) -> str:
    low, high = percent_of(low_log), percent_of(high_log)
    least = _decimals_left([low, high])
    decimals = decimals_for([low, high], [percent_of(b) for b in bounds], least)
    if low_log > 0 and direction is not None:
        return f"{span(fixed(low, decimals), fixed(high, decimals))} % {direction.more}"
    if high_log < 0 and direction is not None:
        return f"{span(fixed(-high, decimals), fixed(-low, decimals))} % {direction.less}"
    ends = (fixed(end, decimals, signed=True) for end in (low, high))
    return f"{span(*ends)} %"


def _times_span(first_log: float, last_log: float, bounds: tuple[float, ...]) -> str:
    ratios = [math.exp(b) for b in bounds]
    return span(*(_ratio_text(math.exp(log), ratios) for log in (first_log, last_log)))


def _ratio_text(ratio: float, bounds: list[float]) -> str:
    """Two digits below one, one decimal up to a hundred, and more where a bound is close."""
    least = 1 if ratio < 100 else 0
    if ratio < 1:
        least = 1 - math.floor(math.log10(ratio))
    return fixed(ratio, decimals_for([ratio], bounds, least))
