"""What the report says of the machines after a run."""

from __future__ import annotations

from typing import Any

from steelyard.judge.environment import left_as_found


def compared(*what: str, untold: dict[str, str] | None = None) -> dict[str, Any]:
    told = untold or {}
    return {
        "event": "environment_compared",
        "machines": [] if told else ["local"],
        "untold": told,
        "count": len(what),
        "differences": [{"machine": "local", "what": text} for text in what],
    }


def test_a_run_that_was_not_compared_claims_nothing() -> None:
    assert list(left_as_found([{"event": "session_opened"}])) == []


def test_machines_that_are_the_same_were_left_as_found() -> None:
    (said,) = left_as_found([compared()])
    assert said.startswith("Left as found: ")
    assert "of local were the same" in said


def test_what_is_otherwise_is_named_and_counted() -> None:
    (said,) = left_as_found([compared("a", "b"), compared("c", "d")])
    assert said.startswith("Not left as found: 4 things are otherwise")
    assert "local: c; and 1 more, see the ledger." in said


def test_a_machine_that_could_not_be_listed_is_not_called_clean() -> None:
    (said,) = left_as_found([compared(untold={"ssh://far": "unreachable"})])
    assert said == "Whether ssh://far was left as found is not known: unreachable."
