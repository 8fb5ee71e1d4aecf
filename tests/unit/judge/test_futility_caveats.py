"""Why systems and workloads were stopped for futility."""

from __future__ import annotations

from steelyard.judge.kinds.caveats import SystemFutility
from steelyard.judge.stopping.stop import futility_caveats, workload_futility
from steelyard.records.events import (
    CommonestFailure,
    Event,
    FutilityReason,
    SessionClosed,
    SystemStopped,
    WorkloadStopped,
)
from steelyard.report import notes
from steelyard.study.labels import Labels

ENDED = SessionClosed(reason="failures")


def reason(*, trials: int = 6, **figures: tuple[object, ...]) -> FutilityReason:
    """``trials`` of six report that the line is missing."""
    message = "the output has no line `rate`."
    commonest = CommonestFailure(trials=trials, outcome=None, message=message)
    return FutilityReason.model_validate({"trials": 6, "commonest": commonest, **figures})


def caveat(reason: FutilityReason, *events: Event) -> SystemFutility:
    (found,) = futility_caveats([SystemStopped(system="slow", reason=reason), *events])
    return found


def test_a_response_that_was_never_measured_is_named_with_what_most_trials_report() -> None:
    found = caveat(reason(missing_responses=("rate",)), ENDED)
    assert found.others_continued is False
    assert notes.text(found, Labels()) == (
        "slow was stopped for futility: the primary response rate was missing in 6 of 6 trials "
        "(the output has no line `rate`). Its comparisons were not continued"
    )


def test_a_reason_that_only_most_trials_report_has_their_number() -> None:
    found = caveat(reason(failed_visits=(1, 3, 4), trials=4))
    assert found.others_continued is True
    assert notes.text(found, Labels()) == (
        "slow was stopped for futility: no valid trial in visits 1, 3 and 4 (4 of 6: the output "
        "has no line `rate`). Its comparisons were not continued; the other systems were measured "
        "further"
    )


def test_a_workload_that_fails_alike_on_all_systems_has_one_reason() -> None:
    why = reason(missing_responses=("rate",))
    event = WorkloadStopped(
        workload="web", reasons={"a": why, "b": why}, stopped_on=("a", "b"), visit=4
    )
    assert notes.text(workload_futility(event), Labels()) == (
        "web was stopped for futility: the primary response rate was missing in 6 of 6 trials "
        "(the output has no line `rate`)"
    )


def test_a_workload_that_fails_on_one_system_says_where_and_what_that_ends() -> None:
    why = reason(failed_visits=(1, 3, 4))
    event = WorkloadStopped(workload="web", reasons={"a": why}, stopped_on=("a",), visit=4)
    alone = workload_futility(event)
    assert not alone.on_all_systems
    assert "web was stopped on a for futility: no valid trial in visits" in notes.text(
        alone, Labels()
    )
    both = workload_futility(event.model_copy(update={"stopped_on": ("a", "b")}))
    assert both.on_all_systems
    assert "stopped on the other systems as well" in notes.text(both, Labels())
