"""Longer windows or more of them: what brings the same certainty sooner."""

from __future__ import annotations

import math

import numpy as np
import pytest

from steelyard.judge.planning.findings import LengthFinding
from steelyard.judge.planning.lengths import best, within
from steelyard.records.courses import Course
from steelyard.report.resolution import length_lines


def noise_of(between: float, within_one_second: float, window_s: float) -> float:
    return math.sqrt(between**2 + within_one_second**2 / window_s)


def test_the_best_window_is_where_the_rule_of_square_roots_puts_it() -> None:
    found = best(1.0, 4.0, noise_of(0.01, 0.02, 1.0), 0.02)
    assert found.best_window_s == pytest.approx(math.sqrt(4.0) * 0.02 / 0.01)
    assert found.between_log == pytest.approx(0.01)


def test_no_window_near_the_best_one_takes_less_time() -> None:
    def price(window_s: float) -> float:
        return (4.0 + window_s) * noise_of(0.01, 0.02, window_s) ** 2

    found = best(1.0, 4.0, noise_of(0.01, 0.02, 1.0), 0.02)
    assert found.time_ratio == pytest.approx(price(found.best_window_s) / price(1.0))
    assert price(found.best_window_s) < min(price(3.5), price(4.5))


def test_noise_that_lies_between_visits_asks_for_short_windows() -> None:
    found = best(10.0, 0.1, noise_of(0.05, 0.001, 10.0), 0.001)
    assert found.best_window_s == 1.0
    assert length_lines(found)[0].startswith(
        "A shorter window would bring the same certainty sooner"
    )


def test_noise_that_lies_within_windows_asks_for_longer_ones_but_no_farther_than_was_seen() -> None:
    found = best(1.0, 5.0, noise_of(0.0, 0.02, 1.0), 0.02)
    assert found.best_window_s == 10.0
    assert length_lines(found)[0].startswith(
        "A longer window would bring the same certainty sooner"
    )


def test_what_saves_less_than_a_fifth_is_not_worth_a_sentence() -> None:
    found = best(4.0, 4.0, noise_of(0.01, 0.02, 4.0), 0.02)
    assert length_lines(found) == []
    assert length_lines(None) == []


def test_the_noise_of_a_second_is_found_from_the_course_of_a_window() -> None:
    random = np.random.default_rng(5)
    rates = 1000 * np.exp(random.normal(0, 0.02 / math.sqrt(0.1), 5000))
    found = [within(Course(0.1, tuple(rates[start : start + 50]))) for start in range(0, 5000, 50)]
    known = [value for value in found if value is not None]
    assert len(known) == 100
    assert math.sqrt(float(np.mean(known))) == pytest.approx(0.02, rel=0.15)


def test_a_short_course_and_one_that_stands_still_tell_nothing() -> None:
    assert within(Course(1.0, (5.0, 5.0, 6.0))) is None
    assert within(Course(0.1, (0.0,) * 50)) is None


def test_no_noise_between_visits_is_said_as_not_seen() -> None:
    found = LengthFinding(
        window_s=10.0,
        setup_s=1.0,
        noise_log=0.02,
        between_log=0.0,
        within_log=0.06,
        best_window_s=40.0,
        time_ratio=0.5,
    )
    (line,) = length_lines(found)
    assert "no noise between visits is seen" in line
    assert "noise 0" not in line
