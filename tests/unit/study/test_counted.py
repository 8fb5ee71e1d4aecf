"""After how many operations a trial ends, where the clock does not end it."""

from __future__ import annotations

from steelyard.study.ending import Counted, counted


def test_a_total_of_bytes_is_as_many_files_as_hold_them() -> None:
    assert counted({"total": 1_000_001, "file": 1_000_000}) == Counted(operations=2)


def test_the_total_that_a_tool_works_on_ends_no_trial() -> None:
    assert counted({"total": 2 << 30}) is None
