from __future__ import annotations

import math
import re
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steelyard.judge.findings import ResponseFinding
from steelyard.report.effects import AMOUNT, LENGTH, effect, interval, signed_effect
from steelyard.report.vocabulary import direction_of

MARGIN_LOG = math.log1p(0.02)
BOUNDS = (0.0, MARGIN_LOG, -MARGIN_LOG)

sizes = st.floats(1e-9, 8)
logs = st.builds(lambda size, sign: size * sign, sizes, st.sampled_from((-1, 1)))
untimed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def numbers(text: str) -> list[float]:
    return [float(found.replace(",", "")) for found in re.findall(r"[+-]?\d[\d,]*\.?\d*", text)]


@untimed
@given(st.lists(sizes, min_size=3, max_size=3), st.sampled_from((-1, 1)))
def test_an_interval_that_excludes_zero_never_prints_as_touching_it(
    found: list[float], sign: int
) -> None:
    low, middle, high = sorted(sign * size for size in found)
    text = interval(low, high, estimate_log=middle, exact_to=BOUNDS)
    if text.endswith("times"):
        assert all((number > 1) == (low > 0) and number != 1 for number in numbers(text))
    else:
        assert all(number > 0 for number in numbers(text))
        assert text.endswith("more" if low > 0 else "less")


@untimed
@given(st.floats(1e-9, 8), st.floats(1e-9, 0.69))
def test_an_interval_that_holds_zero_prints_both_signs(a: float, b: float) -> None:
    low, high = -a, b
    first, last = numbers(interval(low, high, estimate_log=0.0, exact_to=BOUNDS))
    assert first < 0 < last


@untimed
@given(st.floats(1e-9, 2.999999), st.floats(1e-9, 2.999999))
def test_an_interval_within_the_margin_never_prints_as_reaching_it(a: float, b: float) -> None:
    low, high = -MARGIN_LOG * a / 3, MARGIN_LOG * b / 3
    first, last = numbers(interval(low, high, estimate_log=0.0, exact_to=BOUNDS))
    assert first > 100 * math.expm1(-MARGIN_LOG)
    assert last < 2.0


@untimed
@given(logs)
def test_the_word_of_an_effect_agrees_with_its_sign(log: float) -> None:
    text = effect(log, "throughput", AMOUNT, exact_to=BOUNDS)
    if " times the " in text:
        assert log > 0
    else:
        assert ("more throughput" if log > 0 else "less throughput") in text
        assert numbers(text)[0] > 0
        assert log > 0 or numbers(text)[0] < 100


def test_a_modest_effect_is_a_percentage_and_a_large_one_a_factor() -> None:
    assert effect(math.log(1.38), "response time", LENGTH, exact_to=(0.0,)) == (
        "38.0 % longer response time"
    )
    assert effect(math.log(3.4), "response time", LENGTH, exact_to=(0.0,)) == (
        "3.4 times the response time"
    )
    assert effect(math.log(1 / 28), "throughput", AMOUNT, exact_to=(0.0,)) == (
        "96.4 % less throughput, 28.0 times less"
    )


def test_an_interval_too_wide_for_percent_is_printed_in_times() -> None:
    assert interval(math.log(0.19), math.log(11.1), estimate_log=-0.5) == "0.19 to 11.1 times"
    assert interval(math.log(0.045), math.log(6.5), estimate_log=0.8) == "0.045 to 6.5 times"


def test_an_end_without_a_bound_says_so() -> None:
    assert interval(0.1, None, estimate_log=0.2) == "above +10.5 %, not bounded above"
    assert interval(None, 0.1, estimate_log=0.0) == "below +10.5 %, not bounded below"
    assert interval(None, None, estimate_log=0.0) == "not bounded on either side"


def test_zero_never_carries_a_sign() -> None:
    assert signed_effect(-0.0001) == "0.0 %"


def test_what_is_left_of_a_value_keeps_two_digits() -> None:
    assert signed_effect(math.log(0.00031)) == "-99.969 %"
    ends = interval(math.log(0.00025), math.log(0.0004), estimate_log=math.log(0.00031))
    assert ends == "99.960 to 99.975 % less"


@pytest.mark.parametrize(
    ("label", "unit", "more"),
    [
        ("rate", "operations/s", "higher"),
        ("rate of copying by dd", "bytes/s", "higher"),
        ("memory rate", "bytes/s", "higher"),
        ("throughput", "operations/s", "more"),
        ("bytes moved by the disks", "bytes/s", "more"),
    ],
)
def test_a_rate_is_higher_and_not_more(label: str, unit: str, more: str) -> None:
    response = ResponseFinding(name="x", label=label, unit=unit, direction="higher", primary=True)
    assert direction_of(response).more == more


@pytest.mark.parametrize(
    ("direction", "more"), [("lower", "longer"), ("none", "longer"), ("higher", "higher")]
)
def test_a_time_is_longer_unless_it_is_better_when_higher(
    direction: Literal["lower", "none", "higher"], more: str
) -> None:
    response = ResponseFinding(
        name="x", label="median response time", unit="s", direction=direction, primary=True
    )
    assert direction_of(response).more == more


@pytest.mark.parametrize(
    ("low", "high", "estimate", "shown"),
    [
        (-0.381, -0.0, -0.2, "-31.7 % to below 0"),
        (0.0, 0.2, 0.1, "above 0 to +22.1 %"),
        (0.0, 1.8, 0.9, "above 1 to 6.0 times"),
    ],
)
def test_an_end_at_zero_that_the_word_excludes_is_open(
    low: float, high: float, estimate: float, shown: str
) -> None:
    for direction in (AMOUNT, None):
        ends = interval(low, high, estimate_log=estimate, direction=direction, excludes_zero=True)
        assert ends == shown
    assert "below" not in interval(low, high, estimate_log=estimate)


def test_an_interval_without_a_direction_carries_signs() -> None:
    assert interval(-0.7, -0.2, estimate_log=-0.4, direction=None) == "-50.3 to -18.1 %"
