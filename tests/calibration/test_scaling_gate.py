"""What is said of curves that are known: coverage, false peaks, power; slices and the whole."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from tests.calibration.curves import (
    FALLING,
    LEVELS,
    PEAK_AT,
    PEAKLESS,
    Law,
    holds,
    judged,
    saturating,
    studies,
    table,
    usl,
)

SLICE, WHOLE = 60, 1_000


def covered(count: int) -> tuple[int, int]:
    """How many intervals hold the peak, of how many curves that were not refused."""
    told = [found for found in studies(usl(0.03, PEAK_AT), count) if found.peak is not None]
    return sum(holds(found, PEAK_AT) for found in told), len(told)


def peaks_claimed(law: Law, count: int) -> int:
    return sum(found.peak_stated for found in studies(law, count))


def falls_found(law: Law, count: int) -> int:
    return sum(found.fall is not None and found.fall.falls for found in studies(law, count))


def test_the_falling_law_loses_ten_percent() -> None:
    logs = np.log(FALLING(LEVELS))
    assert np.expm1(logs[-1] - logs[:-1].max()) == pytest.approx(-0.10, abs=0.001)


def test_a_slice_of_peaks_lies_within_their_intervals() -> None:
    held, told = covered(SLICE)
    assert held >= told - int(binom.ppf(0.999, told, 0.05))


@pytest.mark.parametrize("name", PEAKLESS)
def test_a_slice_of_curves_without_a_peak_gets_none(name: str) -> None:
    assert peaks_claimed(PEAKLESS[name], 25) <= 2


def test_a_slice_of_falls_of_ten_percent_is_found() -> None:
    assert falls_found(FALLING, SLICE) >= int(binom.ppf(0.001, SLICE, 0.9))


def test_a_slice_of_flat_ends_is_not_called_falling() -> None:
    assert falls_found(saturating(10.0), SLICE) <= int(binom.ppf(0.999, SLICE, 0.05))


def test_a_visit_without_some_level_moves_the_peak_little() -> None:
    whole = table(usl(0.03, 40.0), 1, visits=6)
    gaps = whole.logs.copy()
    gaps[0, 2] = gaps[3, 5] = np.nan
    one, other = judged(whole), judged(type(whole)(whole.levels, gaps))
    assert one.peak is not None
    assert other.peak is not None
    assert other.peak.at == pytest.approx(one.peak.at, rel=0.05)


@pytest.mark.validate
def test_intervals_of_the_peak_hold_it_in_93_to_98_percent() -> None:
    held, told = covered(WHOLE)
    assert told > 0.9 * WHOLE
    assert 0.93 <= held / told <= 0.98


@pytest.mark.validate
@pytest.mark.parametrize("name", PEAKLESS)
def test_a_peak_is_claimed_in_two_percent_at_most_where_there_is_none(name: str) -> None:
    assert peaks_claimed(PEAKLESS[name], WHOLE) / WHOLE <= 0.02


@pytest.mark.validate
def test_a_fall_of_ten_percent_is_found_in_ninety_percent() -> None:
    assert falls_found(FALLING, WHOLE) / WHOLE >= 0.90


@pytest.mark.validate
def test_a_flat_end_is_called_falling_in_five_percent_at_most() -> None:
    assert falls_found(saturating(10.0), WHOLE) <= int(binom.ppf(0.99, WHOLE, 0.05))
