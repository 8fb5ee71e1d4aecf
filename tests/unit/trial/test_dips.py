"""What an event did to the service, read off the course of the window."""

from __future__ import annotations

from typing import Any

import pytest

from steelyard.records.missing import LateBefore, NotRecovered, Reason
from steelyard.records.schema import Measured
from steelyard.trial.observe.dips import Happened, course_of, figures_of

WIDTH_NS = 10_000_000
ROWS = 200
NORMAL_NS = 2_000_000
EVENT = Happened(
    began_ns=50 * WIDTH_NS,
    ended_ns=52 * WIDTH_NS,
    since_ns=0,
    late_ns=10_000_000,
    calm_ns=20 * WIDTH_NS,
)


def rows(changed: dict[int, dict[str, Any]]) -> dict[str, Any]:
    """A result whose intervals have ten answers each, but for some."""
    usual = {"ok": 10, "errors": 0, "max_ns": NORMAL_NS}
    return {
        "series": [
            {"start_ns": i * WIDTH_NS, **usual, **changed.get(i, {})} for i in range(ROWS + 1)
        ]
    }


def stopped(first: int, last: int) -> dict[int, dict[str, Any]]:
    """No answer in these intervals; what waited is answered in the next."""
    silent = {i: {"ok": 0, "max_ns": None} for i in range(first, last + 1)}
    waited_ns = (last - first + 1) * WIDTH_NS
    return silent | {last + 1: {"ok": 10 * (last - first + 2), "max_ns": waited_ns}}


def figures(changed: dict[int, dict[str, Any]], event: Happened = EVENT) -> dict[str, Measured]:
    return figures_of(course_of(rows(changed)), event)


def values(changed: dict[int, dict[str, Any]]) -> dict[str, float | None]:
    return {name: one.value for name, one in figures(changed).items()}


def test_a_stop_lasts_as_long_as_the_first_that_waited() -> None:
    found = values(stopped(50, 79))
    assert found["duration"] == found["worst_time"] == 30 * WIDTH_NS
    assert found["slowdown"] == 30 * WIDTH_NS / NORMAL_NS
    assert found["rate"] == 0
    assert found["recovery"] == pytest.approx(30 * WIDTH_NS, abs=WIDTH_NS)


def test_late_answers_one_after_the_other_are_one_dip() -> None:
    found = values({i: {"max_ns": 50_000_000} for i in range(55, 75)})
    assert found["duration"] == 19 * WIDTH_NS + 50_000_000
    assert found["recovery"] == 24.5 * WIDTH_NS
    assert found["rate"] == 1


def test_what_is_late_again_before_it_was_calm_for_long_enough_belongs_to_the_dip() -> None:
    late = {"max_ns": 15_000_000}
    found = values({55: late, 65: late, 120: late})
    assert found["recovery"] == 15.5 * WIDTH_NS
    assert found["duration"] == 30_000_000


def test_without_a_dip_the_longest_response_time_bounds_it() -> None:
    found = values({51: {"max_ns": 3_000_000}})
    assert found["duration"] == found["recovery"] == found["worst_time"] == 3_000_000
    assert found["rate"] == 1


def test_failed_operations_are_part_of_the_dip() -> None:
    found = values({i: {"ok": 0, "errors": 10, "max_ns": None} for i in range(50, 60)})
    assert found["duration"] == pytest.approx(10 * WIDTH_NS, abs=WIDTH_NS)
    assert found["rate"] == 0


@pytest.mark.parametrize("figure", ["duration", "recovery", "worst_time", "slowdown"])
def test_what_has_not_recovered_lies_beyond_all_values(figure: str) -> None:
    found = figures({i: {"ok": 0, "max_ns": None} for i in range(60, ROWS + 1)})[figure]
    assert found.infinite
    assert found.value is None
    assert found.missing == NotRecovered(after_ms=1500)


def test_a_service_that_was_late_before_tells_nothing_of_the_event() -> None:
    found = figures({i: {"max_ns": 30_000_000} for i in range(9, 50, 50)} | stopped(50, 60))
    assert found["duration"].missing is None
    found = figures({i: {"max_ns": 30_000_000} for i in range(9, 50, 10)} | stopped(50, 60))
    assert found["duration"].missing == LateBefore(share=0.31)
    assert not found["duration"].infinite


def test_what_is_late_before_an_earlier_event_was_over_does_not_count() -> None:
    second = Happened(100 * WIDTH_NS, 101 * WIDTH_NS, 80 * WIDTH_NS, 10_000_000, 20 * WIDTH_NS)
    found = figures(stopped(50, 70) | stopped(100, 109), second)
    assert found["duration"].value == 10 * WIDTH_NS


def test_a_low_rate_with_silent_intervals_is_no_dip() -> None:
    silent = {i: {"ok": 0, "max_ns": None} for i in range(ROWS) if i % 3}
    assert values(silent)["duration"] == NORMAL_NS


def test_a_load_without_intervals_gives_a_reason() -> None:
    found = figures_of(course_of({"series": []}), EVENT)
    assert {one.missing for one in found.values()} == {Reason(kind="no_good_answer")}
