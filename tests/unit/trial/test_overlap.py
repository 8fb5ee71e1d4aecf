"""How much of their work instances must do at the same time."""

from __future__ import annotations

import pytest

from steelyard.records.warnings import WarningKind
from steelyard.trial.attempt.overlap import overlap_warnings

_S = 1_000_000_000


@pytest.mark.parametrize(
    ("works", "together_s"),
    [
        ([(0, 1), (0.6, 1.6), (1.4, 2.4)], 0),  # the first was done before the last began
        ([(0, 1), (0.2, 1.2)], 0.8),
        ([(0, 1), (0, 2)], 1),  # half of its time the slower one had all for itself
    ],
)
def test_one_that_works_without_the_others_is_warned_of(
    works: list[tuple[float, float]], together_s: float
) -> None:
    (warning,) = overlap_warnings([(round(a * _S), round(b * _S)) for a, b in works])
    assert (warning.kind, warning.state) == (WarningKind.INSTANCES_APART, "suspect")
    assert warning.figures["together_ns"] == pytest.approx(together_s * _S)
    assert warning.figures["longest_ns"] == max(round((b - a) * _S) for a, b in works)


@pytest.mark.parametrize(
    "works",
    [
        [],
        [(0, 10)],
        [(0, 10), None],  # one that was not measured says nothing of the other
        [(0, 10), (1, 11)],
        [(0, 100), (2, 102), (5, 105)],
    ],
)
def test_those_that_work_together_or_are_not_known_are_not(
    works: list[tuple[int, int] | None],
) -> None:
    assert overlap_warnings(works) == []
