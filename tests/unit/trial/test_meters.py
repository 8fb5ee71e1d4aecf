"""Energy of a window from what a meter told: figures with a bound, or a kind, and never 0."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from steelyard.records.missing import MeterTooCoarse, MeterUnusable, Missing, TooFewSamples
from steelyard.records.warnings import WarningKind
from steelyard.systems.meters import MeterReading, MeterSeries
from steelyard.systems.meters.reading import Problem, without_repeated
from steelyard.trial.observe.meters import Metered, meter_warnings, metered

SECOND = 10**9
START, END = 10 * SECOND, 40 * SECOND
TOOK_NS = 20_000_000


def reading(at_s: float, value: float | None, problem: Problem | None = None) -> MeterReading:
    asked_ns = round(at_s * SECOND) - TOOK_NS // 2
    return MeterReading(asked_ns, asked_ns + TOOK_NS, value, problem=problem, said="words")


def power(
    of: Callable[[float], float], *, step: float = 0.0, without: tuple[int, ...] = ()
) -> MeterSeries:
    """One reading a second, from before the window until after it."""
    told = [
        reading(at_s, None, "silent") if at_s in without else reading(at_s, of(at_s))
        for at_s in range(8, 44)
    ]
    return MeterSeries(tuple(told), counts=False, step=step, every_s=1.0)


def counter(of: Callable[[float], float], step: float) -> MeterSeries:
    told = [reading(at_s, of(at_s) // step * step) for at_s in range(8, 44)]
    return MeterSeries(tuple(told), counts=True, step=step, every_s=1.0)


def figure(told: Metered | Missing) -> Metered:
    assert isinstance(told, Metered), told
    return told


def missing_kind(told: Metered | Missing) -> str:
    assert not isinstance(told, Metered)
    return told.kind


def test_power_that_is_constant_is_energy_within_the_steps_of_the_meter() -> None:
    told = figure(metered(power(lambda _: 50.0, step=1.0), START, END))
    assert told.energy_j == pytest.approx(1500)
    assert told.mean_w == pytest.approx(50)
    assert told.within_j == pytest.approx(15)


@pytest.mark.parametrize(
    "of",
    [
        lambda t: 20 + t,
        lambda t: 90.0 if 15 <= t < 35 else 60.0,
        lambda t: 50 + 5 * math.sin(t / 2),
        lambda t: 30.0 if t < START / SECOND or t > END / SECOND else 60.0,
    ],
)
def test_the_true_energy_lies_within_the_bound(of: Callable[[float], float]) -> None:
    told = figure(metered(power(of), START, END))
    ticks = [START / SECOND + (i + 0.5) / 1000 for i in range(30_000)]
    true_j = sum(of(at_s) for at_s in ticks) / 1000
    assert abs(told.energy_j - true_j) <= told.within_j + 1e-6 * true_j


@pytest.mark.parametrize("delay_s", [0.0, 0.4, 1.0])
def test_readings_that_are_up_to_one_period_old_lie_within_the_bound(delay_s: float) -> None:
    told = figure(metered(power(lambda t: 20 + (t - delay_s)), START, END))
    assert abs(told.energy_j - 30 * (20 + 25)) <= told.within_j


@pytest.mark.parametrize("step", [1.0, 36.0, 100.0])
def test_a_counter_tells_what_it_grew_by_within_its_steps(step: float) -> None:
    told = figure(metered(counter(lambda t: 5000 + 70 * t, step), START, END))
    assert abs(told.energy_j - 2100) <= told.within_j
    assert step <= told.within_j <= 2 * step + 300


def test_a_counter_of_watt_hours_is_too_coarse_for_half_a_minute_and_not_zero() -> None:
    told = metered(counter(lambda t: 70 * t, 3600.0), START, END)
    assert isinstance(told, MeterTooCoarse)


def test_a_meter_that_reads_zero_all_the_while_is_no_measurement() -> None:
    assert missing_kind(metered(power(lambda _: 0.0), START, END)) == "meter_too_coarse"


def test_a_few_lost_readings_are_a_warning_and_more_in_a_row_are_no_figure() -> None:
    few = power(lambda _: 50.0, without=(20, 21))
    told = figure(metered(few, START, END))
    [warning] = meter_warnings(few, told, (START, END), 0.02)
    assert warning.kind is WarningKind.METER_READINGS_LOST
    assert warning.figures == {"lost": 2, "readings": 31, "said": "words"}
    missing = metered(power(lambda _: 50.0, without=(20, 21, 22)), START, END)
    assert missing == MeterUnusable(kind="meter_silent", gap_s=4.0, said="words")


@pytest.mark.parametrize(
    "problem", ["silent", "late", "unreadable", "negative", "other_unit", "stale"]
)
def test_a_meter_that_fails_throughout_is_missing_with_what_went_wrong(problem: Problem) -> None:
    told = [reading(at_s, None, problem) for at_s in range(8, 44)]
    missing = metered(MeterSeries(tuple(told), False, 1.0, 1.0), START, END)
    assert missing == MeterUnusable(kind=f"meter_{problem}", gap_s=30.0, said="words")


@pytest.mark.parametrize(("first", "last"), [(8, 39), (12, 44)])
def test_a_window_that_readings_do_not_cover_has_no_figure(first: int, last: int) -> None:
    told = [reading(at_s, 50.0) for at_s in range(first, last)]
    series = MeterSeries(tuple(told), False, 0.0, 1.0)
    assert missing_kind(metered(series, START, END)) == "meter_late"


def test_no_reading_at_all_is_late() -> None:
    assert missing_kind(metered(MeterSeries((), False, 0.0, 1.0), START, END)) == "meter_late"


def test_a_counter_that_falls_says_so() -> None:
    series = counter(lambda t: 5000 + 70 * t if t < 25 else 70 * t, 1.0)
    assert missing_kind(metered(series, START, END)) == "meter_fell"


def test_a_window_with_few_readings_has_no_figure() -> None:
    told = metered(power(lambda _: 50.0), START, START + 2 * SECOND)
    assert told == TooFewSamples(samples=3, needed=4)


def test_a_bound_beyond_the_margin_is_a_warning() -> None:
    series = power(lambda _: 50.0, step=5.0)
    told = figure(metered(series, START, END))
    [warning] = meter_warnings(series, told, (START, END), 0.02)
    assert warning.kind is WarningKind.METER_COARSE
    assert warning.figures == {"share": pytest.approx(0.05), "margin": 0.02}


def test_a_reading_of_a_moment_that_came_before_is_stale() -> None:
    told = [MeterReading(i, i + 1, 5.0, moment) for i, moment in enumerate("aabb")]
    assert [each.problem for each in without_repeated(tuple(told))] == [
        None, "stale", None, "stale",
    ]  # fmt: skip
    assert [each.value for each in without_repeated(tuple(told))] == [5.0, None, 5.0, None]


def test_readings_are_stored_in_whole_microwatts_and_lost_ones_as_none() -> None:
    series = power(lambda _: 50.25, without=(9,))
    stored = series.counters()
    assert stored["meter.power_uw"][:3] == [50_250_000, None, 50_250_000]
    assert stored["controller_ns"][0] == 8 * SECOND
    assert "meter.energy_uj" in counter(lambda t: t, 1.0).counters().columns
