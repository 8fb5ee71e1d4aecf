"""A system that produces no valid trial is dropped; one that fails by chance stays."""

from __future__ import annotations

from steelyard.plan.model import Cell, Forecast, Plan, PlannedTrial, PlannedVisit
from steelyard.records.disk_checks import CopiesDiffer, DiskCheck
from steelyard.records.events import (
    AttemptStarted,
    CommonestFailure,
    DisksChecked,
    FutilityReason,
    StoppedRetried,
)
from steelyard.records.missing import Reason
from steelyard.records.schema import AttemptFailure, Measured, Outcome, TrialRecord
from steelyard.records.sessions import damaged_while_up
from steelyard.study.model import ResponseSpec
from steelyard.trial.session_state.futility import damage_of_kept, futility_of
from steelyard.trial.session_state.progress import Progress, forgiven_attempts

RATE = ResponseSpec(name="rate", label="rate", unit="1/s", direction="higher", primary=True)
USERS = (1, 2)


def plan(systems: str, users: tuple[int, ...] = USERS) -> Plan:
    """A letter for each visit, which has a trial for each number of users."""
    numbers = iter(range(1, 1000))
    visits = tuple(
        PlannedVisit(
            visit=visit,
            block=visit,
            system=system,
            trials=tuple(
                PlannedTrial(trial=next(numbers), visit=visit, cell=cell(system, each))
                for each in users
            ),
        )
        for visit, system in enumerate(systems, start=1)
    )
    return Plan(
        seed=1,
        study_sha256="0",
        design="big_stick",
        systems=tuple(dict.fromkeys(systems)),
        conditions=tuple({"load.users": each} for each in users),
        assignment=tuple(systems),
        visits=visits,
        forecast=Forecast(trial_s=1, visit_s=1, total_s=1, earliest_verdict_s=1, disk_bytes=1),
    )


def cell(system: str, users: int) -> Cell:
    return Cell(system=system, conditions={"load.users": users})


def record(planned: PlannedTrial, told: str) -> TrialRecord:
    """``+`` has a value, ``.`` succeeded without one, ``i`` is beyond all others, ``x`` failed,
    ``d`` found its disks damaged.
    """
    why = Reason(kind="zero_printed")
    response = {
        "+": Measured(value=1.0, unit="1/s"),
        ".": Measured(value=None, unit="1/s", missing=why),
        "i": Measured(value=None, unit="1/s", missing=why, infinite=True),
    }
    failure = AttemptFailure(phase="measure", message="it ended with exit code 3\nand more")
    outcome = {"x": Outcome.COMMAND_FAILED, "d": Outcome.DAMAGED}.get(told, Outcome.OK)
    return TrialRecord(
        trial=planned.trial,
        attempt=1,
        visit=planned.visit,
        cell=planned.cell,
        outcome=outcome,
        failure=None if outcome is Outcome.OK else failure,
        started_unix_ns=0,
        finished_unix_ns=0,
        phases_ns={},
        responses={"rate": response[told]} if told in response else {},
        facts={},
    )


def left(planned: Plan, told: str) -> dict[str, FutilityReason]:
    """Who leaves after as many trials as there are signs, without retries."""
    trials = [trial for visit in planned.visits for trial in visit.trials]
    records = [record(trial, sign) for trial, sign in zip(trials, told, strict=False)]
    return futility_of(Progress(0, records), planned, lambda _: RATE)


EXIT_3 = CommonestFailure(
    trials=6, outcome=Outcome.COMMAND_FAILED, message="it ended with exit code 3"
)
NO_LINE = CommonestFailure(trials=6, outcome=None, missing=Reason(kind="zero_printed"))


def test_a_system_that_fails_three_visits_in_a_row_leaves() -> None:
    planned = plan("aaabab")
    assert left(planned, "+.xxxx++x+") == {}
    assert left(planned, "+.xxxx++xx") == {
        "a": FutilityReason(failed_visits=(2, 3, 5), trials=6, commonest=EXIT_3)
    }


def test_a_system_that_never_did_anything_but_fail_says_how() -> None:
    assert left(plan("aaba"), "xxxx++xx") == {
        "a": FutilityReason(
            failed_visits=(1, 2, 4), missing_responses=("rate",), trials=6, commonest=EXIT_3
        )
    }


def test_a_run_that_never_measured_its_primary_response_ends() -> None:
    planned = plan("abab")
    assert left(planned, "....") == {}
    never = FutilityReason(missing_responses=("rate",), trials=6, commonest=NO_LINE)
    assert left(planned, "......") == {"a": never, "b": never}


def test_six_trials_are_needed_however_many_visits_there_are() -> None:
    planned = plan("abababab", users=(1,))
    assert left(planned, ".....") == {}
    assert set(left(planned, "......")) == {"a", "b"}


def test_one_value_of_all_keeps_those_that_lack_it_by_chance() -> None:
    planned = plan("abababab")
    assert set(left(planned, "+...............")) == {"b"}
    assert left(planned, "+.+.............") == {}


def test_a_value_beyond_all_others_is_reported() -> None:
    assert left(plan("abab"), "i.......") == {}


def failed(
    planned: PlannedTrial, attempt: int, words: str, outcome: Outcome = Outcome.SERVICE_NOT_READY
) -> TrialRecord:
    failure = AttemptFailure(phase="start_service", message=words)
    update = {"attempt": attempt, "outcome": outcome, "failure": failure}
    return record(planned, "x").model_copy(update=update)


WAITED = "nobody listens at port 4711"


def test_what_never_worked_and_fails_alike_is_not_tried_a_fourth_time() -> None:
    first, second = plan("ab").visits[0].trials
    progress = Progress(3, [failed(first, n, WAITED) for n in (1, 2)])
    assert not progress.finished(first)
    progress.add(failed(first, 3, WAITED.replace("4711", "4712")))
    assert progress.finished(first), "only a number differs"
    assert not progress.finished(second), "under another condition it may work"
    progress.add(failed(second, 1, WAITED))
    assert progress.finished(second)
    progress.add(record(second, "+"))
    assert not progress.finished(first), "it works, so a trial is tried as often as any other"


def test_a_system_that_fails_alike_under_every_condition_leaves_after_one_visit() -> None:
    planned = plan("ab")
    first, second = planned.visits[0].trials
    records = [failed(first, n, WAITED) for n in (1, 2, 3)]
    assert futility_of(Progress(3, records), planned, lambda _: RATE) == {}
    records.append(failed(second, 1, WAITED))
    reason = futility_of(Progress(3, records), planned, lambda _: RATE)["a"]
    assert (reason.identical_attempts, reason.failed_visits, reason.trials) == (4, (1,), 2)
    assert reason.commonest.outcome is Outcome.SERVICE_NOT_READY


def test_other_words_another_outcome_or_one_that_ends_by_chance_begin_anew() -> None:
    planned = plan("ab", users=(1,))
    (trial,) = planned.visits[0].trials
    for other in (
        failed(trial, 2, "the service was killed"),
        failed(trial, 2, WAITED, Outcome.SERVICE_DIED),
        failed(trial, 2, WAITED, Outcome.UNREACHABLE),
    ):
        records = [failed(trial, 1, WAITED), other, failed(trial, 3, WAITED)]
        assert not Progress(3, records).finished(trial)


def test_what_worked_once_is_tried_as_often_as_the_study_says() -> None:
    first, second = plan("ab").visits[0].trials
    progress = Progress(3, [record(first, "+"), *(failed(second, n, WAITED) for n in (1, 2, 3))])
    assert not progress.finished(second)


def test_what_fails_and_what_is_not_printed_count_together() -> None:
    found = left(plan("abab"), "x.x.x...")
    assert found["a"].trials == 8
    assert found["a"].commonest == NO_LINE.model_copy(update={"trials": 5})


def test_a_stopped_system_that_is_asked_for_again_has_all_its_attempts_anew() -> None:
    planned = plan("abab")
    trials = [trial for visit in planned.visits for trial in visit.trials]
    failed = [record(trial, "x") for trial in trials[:2]]
    begun = [AttemptStarted(trial=each.trial, attempt=1) for each in failed]
    asked = [*begun, StoppedRetried(systems=("a",))]
    before, after = Progress(0, failed), Progress(0, failed, forgiven_attempts(asked, failed))
    assert before.finished(trials[0])
    assert not after.finished(trials[0])
    assert after.next_attempt(trials[0]) == 2
    other = StoppedRetried(systems=("b",))
    assert forgiven_attempts([*begun, other], failed) == frozenset()


def test_a_trial_whose_changes_could_not_be_undone_is_tried_again_by_the_next_session() -> None:
    first, *_ = (trial for visit in plan("abab").visits for trial in visit.trials)
    left = record(first, "x").model_copy(update={"outcome": Outcome.UNDO_FAILED})
    in_that_session = Progress(3, [left])
    in_the_next = Progress(3, [left], forgiven_attempts([], [left]))
    assert in_that_session.finished(first)
    assert not in_the_next.finished(first)


def test_what_was_forgiven_stops_no_system_and_what_fails_later_does() -> None:
    planned = plan("aaaaaa")
    trials = [trial for visit in planned.visits for trial in visit.trials]
    records = [record(trial, "x") for trial in trials]
    forgiven = frozenset((trial.trial, 1) for trial in trials[:6])
    early = Progress(0, records[:8], forgiven)
    assert futility_of(early, planned, lambda _: RATE) == {}
    late = futility_of(Progress(0, records, forgiven), planned, lambda _: RATE)
    assert late["a"].failed_visits == (4, 5, 6)


def test_a_system_whose_disks_are_damaged_leaves_at_once_and_is_not_tried_again() -> None:
    planned = plan("abab")
    gone = left(planned, "++++d")
    assert gone.keys() == {"a"}
    assert gone["a"].failed_visits == (3,)
    assert gone["a"].commonest.outcome is Outcome.DAMAGED
    trials = [trial for visit in planned.visits for trial in visit.trials]
    records = [record(trial, sign) for trial, sign in zip(trials, "++++d", strict=False)]
    progress = Progress(3, records)
    assert [progress.finished(trial) for trial in trials] == [True] * 6 + [False] * 2


def test_damage_to_a_system_that_stayed_up_stops_it_until_it_is_asked_for_again() -> None:
    bad = DiskCheck(instance=1, disk="data", device="/dev/loop0", damage=(CopiesDiffer(sectors=8),))
    good = bad.model_copy(update={"damage": ()})
    events = [
        DisksChecked(system="a", disk_checks=(good, bad)),
        DisksChecked(system="b", disk_checks=(good,)),
    ]
    found = damage_of_kept(damaged_while_up(events))
    assert found.keys() == {"a"}
    assert found["a"].commonest.outcome is Outcome.DAMAGED
    assert not damaged_while_up([*events, StoppedRetried(systems=("a",))])
