from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steelyard.report.figures import (
    counted,
    decimals_for,
    fixed,
    listed,
    percent,
    quantity,
    scale_for,
    significant,
)

untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def test_all_values_of_a_response_share_one_unit() -> None:
    scale = scale_for([240_000, 3_200_000], "ns")
    assert (scale.unit, 240_000 / scale.divisor) == ("ms", 0.24)


def test_a_quantity_is_shown_in_the_unit_that_fits_it() -> None:
    assert quantity(4120.4, "messages/s") == "4,120 messages/s"
    assert quantity(1_234_567, "ns") == "1.23 ms"
    assert quantity(3 * 2**20, "bytes/s") == "3.00 MiB/s"
    assert quantity(0.125, "ratio") == "12.5 %"
    assert quantity(0, "cores") == "0 cores"


def test_a_level_close_to_one_never_prints_as_certainty() -> None:
    assert percent(0.95) == "95 %"
    assert percent(1 - 0.05 / 3) == "98.3 %"
    assert percent(0.9999) == "99.99 %"


def test_counts_and_lists_read_as_people_say_them() -> None:
    assert counted(1, "visit") == "1 visit"
    assert counted(1200, "visit") == "1,200 visits"
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c"]) == "a, b and c"


@untimed
@given(st.floats(1e-9, 1e6), st.sampled_from((-1, 1)))
def test_rounding_keeps_a_value_on_its_side_of_zero(size: float, sign: int) -> None:
    value = size * sign
    shown = float(fixed(value, decimals_for([value], [0.0], 1)).replace(",", ""))
    assert (shown > 0) == (value > 0)


@untimed
@given(st.floats(1e-5, 1e9))
def test_three_digits_are_within_half_a_percent(value: float) -> None:
    assert abs(float(significant(value).replace(",", "")) / value - 1) <= 0.0051


def test_an_interval_end_on_the_margin_itself_needs_no_further_digits() -> None:
    margin_percent = 100 * (1 / 1.02 - 1)
    assert decimals_for([margin_percent, -82.5], [margin_percent, 0.0], 1) == 1
