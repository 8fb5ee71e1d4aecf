"""Why systems left a run, in words."""

from __future__ import annotations

from steelyard.judge.stop import given_up_words, why_workload_left
from steelyard.records.events import (
    CommonestFailure,
    Event,
    FutilityReason,
    SessionClosed,
    SystemStopped,
    WorkloadStopped,
)

ENDED = SessionClosed(reason="failures")


def reason(*, trials: int = 6, **figures: tuple[object, ...]) -> FutilityReason:
    """``trials`` of six report that the line is missing."""
    message = "the output has no line `rate`."
    commonest = CommonestFailure(trials=trials, outcome=None, message=message)
    return FutilityReason.model_validate({"trials": 6, "commonest": commonest, **figures})


def words(reason: FutilityReason, *events: Event) -> str:
    (said,) = given_up_words([SystemStopped(system="slow", reason=reason), *events])
    return said


def test_a_response_that_was_never_measured_is_told_with_its_reason() -> None:
    assert words(reason(missing_responses=("rate",)), ENDED) == (
        "slow left the study: the primary response rate was missing in 6 of 6 trials: the output "
        "has no line `rate`. What compares it was not continued."
    )


def test_a_reason_that_only_most_trials_give_says_how_many() -> None:
    assert words(reason(failed_visits=(1, 3, 4), trials=4)) == (
        "slow left the study: visits 1, 3 and 4 of it brought no good trial: in 4 of 6 the output "
        "has no line `rate`. What compares it was not continued; the other systems went on without "
        "it."
    )


def test_a_workload_of_which_nothing_comes_is_told_once_for_all_systems() -> None:
    why = reason(missing_responses=("rate",))
    event = WorkloadStopped(
        workload="web", reasons={"a": why, "b": why}, stopped_on=("a", "b"), visit=4
    )
    assert why_workload_left(event) == (
        "web left the study: the primary response rate was missing in 6 of 6 trials: the output "
        "has no line `rate`."
    )


def test_a_workload_that_fails_on_one_system_says_where_and_what_that_ends() -> None:
    why = reason(failed_visits=(1, 3, 4))
    event = WorkloadStopped(workload="web", reasons={"a": why}, stopped_on=("a",), visit=4)
    alone = why_workload_left(event)
    assert alone.startswith("web on a left the study: visits 1, 3 and 4 of it brought no good")
    assert "other systems" not in alone
    both = event.model_copy(update={"stopped_on": ("a", "b")})
    assert "was not measured on the other systems either" in why_workload_left(both)
