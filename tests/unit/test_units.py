"""Quantities as people write and read them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from steelyard import units
from steelyard.units import Kind, UnitError


@pytest.mark.parametrize(
    ("written", "kind", "value"),
    [
        ("10200 B", "size", 10200),
        ("4 KiB", "size", 4096),
        ("10 MB", "size", 10_000_000),
        ("1.5 KiB", "size", 1536),
        ("4KiB", "size", 4096),
        (0, "size", 0),
        (0.00001, "number", 0.00001),
        (-0.0000025, "number", -0.0000025),
        ("2 s", "duration", 2.0),
        ("100 ms", "duration", 0.1),
        ("250 us", "duration", 0.00025),
        ("4 min", "duration", 240.0),
        ("12 h", "duration", 43200.0),
        ("100 Mbit/s", "rate", 1e8),
        ("2 %", "share", 0.02),
        ("0.1 %", "share", 0.001),
        (10, "count", 10),
        ("10", "count", 10),
        (0.5, "number", 0.5),
        (-3, "number", -3),
    ],
)
def test_a_quantity_is_read_into_its_base_unit(written: object, kind: Kind, value: float) -> None:
    read = units.parse(written, kind)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("written", "kind", "message", "hint"),
    [
        ("2 sec", "duration", "unit `sec` is not known", "did you mean `s`?"),
        ("4 kib", "size", "unit `kib` is not known", "did you mean `KiB`?"),
        (4096, "size", "has no unit", "`4096 B` if that is what was meant"),
        (3, "duration", "has no unit", "`3 s` if that is what was meant"),
        (2, "share", "has no unit", "`2 %` if that is what was meant"),
        (True, "count", "`true` is not a whole number", "write it like `10`"),
        ("1.5 B", "size", "is not whole bytes", "4 KiB"),
        ("10 B", "count", "is not a whole number", "write it like `10`"),
        ("-1 s", "duration", "is below zero", "100 ms"),
        ([1], "count", "a list is not a whole number", "write it like `10`"),
        ({}, "size", "a mapping is not a size", "4 KiB"),
        ("9" * 17, "count", "is too large", "smaller"),
        ("1e3", "count", "is not a whole number", "write it like `10`"),
        ("٣ s", "duration", "is not a duration", "100 ms"),
    ],
)
def test_a_wrong_quantity_says_what_to_write(
    written: object, kind: Kind, message: str, hint: str
) -> None:
    with pytest.raises(UnitError) as caught:
        units.parse(written, kind)
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    ("written", "kind", "levels"),
    [
        ("1..4", "count", (1, 2, 3, 4)),
        ("20..50 by 10", "count", (20, 30, 40, 50)),
        ("1 KiB..8 KiB doubling", "size", (1024, 2048, 4096, 8192)),
        ("1..8 doubling", "count", (1, 2, 4, 8)),
        ("0 ms..20 ms by 10 ms", "duration", (0.0, 0.01, 0.02)),
    ],
)
def test_a_range_is_read_into_levels(written: str, kind: Kind, levels: tuple[float, ...]) -> None:
    assert units.is_range(written)
    assert units.parse_range(written, kind) == levels


@pytest.mark.parametrize(
    ("written", "kind", "message"),
    [
        ("10..1", "count", "does not rise"),
        ("5..5", "count", "does not rise"),
        ("1..10 by 4", "count", "does not end on a step"),
        ("1..10 doubling", "count", "does not end on a step"),
        ("0..8 doubling", "count", "cannot double from zero"),
        ("1..10 by 0", "count", "has no step above zero"),
        ("1 KiB..4 KiB", "size", "does not say its steps"),
        ("1..100000", "count", "more than 1000"),
        ("1..2 KiB by 1 KiB", "size", "has no unit"),
    ],
)
def test_a_wrong_range_says_why(written: str, kind: Kind, message: str) -> None:
    with pytest.raises(UnitError, match=message):
        units.parse_range(written, kind)


@pytest.mark.parametrize(
    ("printed", "value", "text"),
    [
        (units.format_bytes, 4096, "4 KiB"),
        (units.format_bytes, 1023.9, "1 KiB"),
        (units.format_bytes, 512, "512 B"),
        (units.format_ns, 1_234_567, "1.23 ms"),
        (units.format_ns, 950, "950 ns"),
        (units.format_ns, 0, "0 s"),
        (units.format_duration, 2.5, "2.5 s"),
        (units.format_duration, 59.97, "1 min"),
        (units.format_duration, 185, "3 min 5 s"),
        (units.format_duration, 7801, "2 h 10 min"),
        (units.format_share, 0.021, "2.1 %"),
        (units.format_count, 12345.6, "12,346"),
        (units.format_count, 0.5, "0.5"),
        (units.format_count, 3, "3"),
    ],
)
def test_a_value_is_printed_for_people(
    printed: Callable[[float], str], value: float, text: str
) -> None:
    assert printed(value) == text


def test_a_level_prints_as_it_would_be_written() -> None:
    assert units.format_level(4096, "size") == "4 KiB"
    assert units.format_level(100e6, "rate") == "100 Mbit/s"
    assert units.format_level("off", "word") == "off"
    assert units.format_level(16, "count") == "16"


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        ("rate", "100 Mbit/s"),
        ("rate", "1.5 Mbit/s"),
        ("rate", "1 Gbit/s"),
        ("rate", "123456789 bit/s"),
        ("size", "4 kB"),
        ("size", "4097 B"),
        ("size", "10 MiB"),
        ("duration", "250 ms"),
        ("duration", "90 s"),
        ("duration", "2 h"),
        ("share", "33.3 %"),
    ],
)
def test_a_level_is_printed_with_every_digit_that_was_written(kind: Kind, written: str) -> None:
    assert units.format_level(units.parse(written, kind), kind) == written


def test_a_level_of_nothing_needs_no_unit() -> None:
    assert units.format_level(0.0, "rate") == "0"


@pytest.mark.parametrize(
    ("margin_ratio", "text"),
    [
        (0.2, "20 % (0.833 to 1.2 times, -16.7 % to +20 %)"),
        (0.02, "2 % (0.9804 to 1.02 times, -1.96 % to +2 %)"),
        (0.005, "0.5 % (0.99502 to 1.005 times, -0.498 % to +0.5 %)"),
        (0.99, "99 % (0.503 to 1.99 times, -49.7 % to +99 %)"),
    ],
)
def test_a_margin_is_reported_by_both_of_its_bounds(margin_ratio: float, text: str) -> None:
    assert units.format_margin(margin_ratio) == text
