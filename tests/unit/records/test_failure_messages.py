"""What most attempts say, whatever their numbers."""

from __future__ import annotations

from steelyard.records.failure_messages import commonest


def test_messages_that_differ_in_numbers_are_one() -> None:
    said = ["port 80 is taken", "/x/0001-1: it died\nlog", "/x/0002-4: it died\nother"]
    assert commonest(said) == "/x/0001-1: it died"
