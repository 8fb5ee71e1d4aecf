"""What a tool prints reaches a person as text and does nothing else; like messages count as one."""

from __future__ import annotations

import pytest

from steelyard.records.message_text import commonest, visible
from steelyard.records.schema import Outcome
from steelyard.trial.attempt.outcomes import TrialFailed


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("a\0b\x07", "a\\x00b\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("over\rwritten", "over\\x0dwritten"),
        ("a\u202eb", "a\\u202eb"),
        ("a line\r\nand\tanother: äöü €", "a line\nand\tanother: äöü €"),
    ],
)
def test_what_acts_on_a_terminal_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown


def test_the_failure_of_a_trial_is_recorded_as_text() -> None:
    failed = TrialFailed(Outcome.TOOL_FAILED, "it said \x1b[31mno", "ask \x07 again")
    assert failed.in_phase("measure").message == "it said \\x1b[31mno"
    assert failed.in_phase("measure").hint == "ask \\x07 again"


def test_messages_that_differ_in_numbers_are_one() -> None:
    said = ["port 80 is taken", "/x/0001-1: it died\nlog", "/x/0002-4: it died\nother"]
    assert commonest(said) == "/x/0001-1: it died"
