"""The verdict on one comparison, in one word."""

from __future__ import annotations

from enum import StrEnum


class VerdictWord(StrEnum):
    """What the judge says of one comparison. ``faster``/``slower`` speak of the good direction.

    ``trade_off``: one of the two is faster and worse in a guardrail metric.
    """

    FASTER = "faster"
    SLOWER = "slower"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"
    TRADE_OFF = "trade_off"
    NOT_JUDGED = "not_judged"


DECIDED = frozenset(
    {VerdictWord.FASTER, VerdictWord.SLOWER, VerdictWord.EQUIVALENT, VerdictWord.TRADE_OFF}
)
"""The words that end a comparison."""
