"""Why systems left a run, in words."""

from __future__ import annotations

from typing import Any

from steelyard.judge.stop import given_up_words, why_workload_left

LEFT = {"event": "system_given_up", "at_unix_ns": 1, "system": "slow"}
ENDED = {"event": "session_closed", "at_unix_ns": 2, "reason": "failures"}
WHY = {"trials": 6, "why": "the output has no line `rate`.", "so_often": 6}


def words(*events: dict[str, Any]) -> str:
    (said,) = given_up_words(events)
    return said


def test_a_response_that_was_never_measured_is_told_with_its_reason() -> None:
    said = words(LEFT | {"missing": ["rate"]} | WHY, ENDED)
    assert said == (
        "slow left the study: the primary response rate was missing in 6 of 6 trials: the output "
        "has no line `rate`. What compares it was not continued."
    )


def test_a_reason_that_only_most_trials_give_says_how_many() -> None:
    said = words(LEFT | {"visits": [1, 3, 4]} | WHY | {"so_often": 4})
    assert said == (
        "slow left the study: visits 1, 3 and 4 of it brought no good trial: in 4 of 6 the output "
        "has no line `rate`. What compares it was not continued; the other systems went on without "
        "it."
    )


def test_a_ledger_that_does_not_tell_the_reason_is_read() -> None:
    assert "brought no good trial. What" in words(LEFT | {"visits": [1, 3, 4]})


def test_a_workload_of_which_nothing_comes_is_told_once_for_all_systems() -> None:
    reason = {"missing": ["rate"], **WHY}
    event = {"workload": "web", "systems": {"a": reason, "b": reason}, "gone": ["a", "b"]}
    assert why_workload_left(event) == (
        "web left the study: the primary response rate was missing in 6 of 6 trials: the output "
        "has no line `rate`."
    )


def test_a_workload_that_fails_on_one_system_says_where_and_what_that_ends() -> None:
    event: dict[str, Any] = {"workload": "web", "systems": {"a": {"visits": [1, 3, 4], **WHY}}}
    alone = why_workload_left(event | {"gone": ["a"]})
    assert alone.startswith("web on a left the study: visits 1, 3 and 4 of it brought no good")
    assert "other systems" not in alone
    assert "was not measured on the other systems either" in why_workload_left(
        event | {"gone": ["a", "b"]}
    )
