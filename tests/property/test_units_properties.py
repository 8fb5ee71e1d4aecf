"""What holds for every quantity."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard import units
from steelyard.units import Kind, UnitError

KINDS: list[Kind] = ["size", "duration", "rate", "share", "count", "number"]


def answered(reading: Callable[[], float]) -> float | UnitError:
    """What was read, or why it could not be."""
    try:
        return reading()
    except UnitError as error:
        return error


@given(written=st.one_of(st.text(), st.none(), st.booleans(), st.floats(), st.integers()))
def test_anything_is_either_read_or_answered_with_a_hint(written: object) -> None:
    for kind in KINDS:
        answer = answered(partial(units.parse, written, kind))
        assert answer.hint if isinstance(answer, UnitError) else math.isfinite(answer)


@given(count=st.integers(0, 10**12), unit=st.sampled_from(["B", "kB", "KiB"]))
def test_sizes_are_exact(count: int, unit: str) -> None:
    size = {"B": 1, "kB": 1000, "KiB": 1024}[unit]
    assert units.parse(f"{count} {unit}", "size") == count * size


@given(value=st.decimals("0", "9999", places=3))
def test_durations_are_the_nearest_float(value: Decimal) -> None:
    assert units.parse(f"{value} ms", "duration") == float(value / 1000)


@given(low=st.integers(0, 50), steps=st.integers(1, 50), by=st.integers(1, 9))
def test_a_range_holds_both_ends_in_equal_steps(low: int, steps: int, by: int) -> None:
    levels = units.parse_range(f"{low}..{low + steps * by} by {by}", "count")
    assert levels == tuple(range(low, low + steps * by + 1, by))


@given(low=st.integers(1, 100), doublings=st.integers(1, 12))
def test_a_doubling_range_doubles(low: int, doublings: int) -> None:
    levels = units.parse_range(f"{low} B..{low * 2**doublings} B doubling", "size")
    assert levels == tuple(low * 2**i for i in range(doublings + 1))


@given(value=st.floats(0, 1e15, allow_nan=False))
def test_printed_quantities_stay_within_their_digits(value: float) -> None:
    for printed in (
        units.format_bytes,
        units.format_duration,
        units.format_ns,
        units.format_share,
        units.format_count,
    ):
        assert "e" not in printed(value).split(" ")[0]


@given(text=st.text(max_size=30))
def test_any_text_is_a_range_or_not(text: str) -> None:
    if units.is_range(text):
        assert answered(lambda: len(units.parse_range(text, "count")))
    else:
        with pytest.raises(UnitError):
            units.parse_range(text, "count")
