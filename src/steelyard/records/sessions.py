"""What the ledger says of the sittings of a run: the time they took, and how the last one ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from steelyard.records.ledger import Event


def spent_ns(events: Iterable[Event]) -> int:
    """Time that all sittings took; one that was killed counts to its last event.

    Calibration at the beginning of a sitting is no part of it: a budget counts from the first
    trial on.
    """
    total, opened, last = 0, None, 0
    for event in events:
        if event["event"] == "session_opened":
            total += 0 if opened is None else last - opened
            opened = event["at_unix_ns"]
        elif event["event"] == "calibrated" and opened is not None:
            opened = event["at_unix_ns"]
        elif event["event"] == "session_closed" and opened is not None:
            total += event["at_unix_ns"] - opened
            opened = None
        last = event["at_unix_ns"]
    return total + (0 if opened is None else last - opened)


def last_reason(events: Sequence[Event]) -> str | None:
    """Why the last sitting ended; ``None`` when it was killed, failed, or is going on."""
    for event in reversed(events):
        if event["event"] == "session_opened":
            return None
        if event["event"] == "session_closed":
            reason: str | None = event["reason"]
            return reason
    return None
