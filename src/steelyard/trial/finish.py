"""The end of an attempt: services end, disks are checked, what was changed is undone.

A system that stays up goes through the same at the end of its stay.
"""

from __future__ import annotations

from functools import partial

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError
from steelyard.hosts.failures import SystemFailure
from steelyard.records.schema import Outcome
from steelyard.systems import services
from steelyard.trial.attempt.attempt import Attempt, Ending
from steelyard.trial.attempt.disk_checks import are_checked, check_disks_of, damaged
from steelyard.trial.attempt.outcomes import as_failed
from steelyard.trial.attempt.prepare import undo_inside, undo_load, undo_outside, undo_owed
from steelyard.trial.attempt.servers_of_disks import is_lost
from steelyard.trial.session_state.context import KeptSystem


def finish(attempt: Attempt, ending: Ending | None) -> Ending | None:
    """Keeps the system or takes it down; how the attempt ends if that changes it."""
    good = ending is not None and ending.outcome is Outcome.OK
    try:
        if not attempt.stays_up:
            take_down(attempt)
        elif good:
            with attempt.timeline.during("undo"):
                keep(attempt)
        else:
            take_down_all(attempt)
    except (AgentRefusal, EngineError, SystemFailure) as error:
        failed = as_failed(error)
        attempt.session.pool.forget()
        outcome = failed.outcome if _is_undone_anew(attempt) else Outcome.UNDO_FAILED
        return Ending(outcome, failed.in_phase("undo"))
    return _ending_by_disks(attempt, ending)


def _is_undone_anew(attempt: Attempt) -> bool:
    """Whether a second time undoes everything: where an agent or a command was killed on the way.

    What was undone before stays so, and each step looks whether there is anything left for it. Of
    what stays up, all is taken down.
    """
    try:
        if attempt.stays_up:
            take_down_all(attempt)
            return True
        with attempt.timeline.during("undo"):
            undo(attempt)
    except (AgentRefusal, EngineError, SystemFailure):
        return False
    return True


def _ending_by_disks(attempt: Attempt, ending: Ending | None) -> Ending | None:
    """Damage explains whatever else went wrong; a check that the user ended leaves it open."""
    failed = damaged(attempt.disk_checks)
    good = ending is not None and ending.failure is None
    if failed is None and good and attempt.unchecked:
        failed = as_failed(KeyboardInterrupt())
    if failed is None:
        return None
    stop = None if ending is None else ending.stop
    return Ending(failed.outcome, failed.in_phase("check_disks"), stop)


def end_services(attempt: Attempt) -> None:
    """Ends what serves, so that nothing writes any more."""
    for instance in reversed(attempt.instances):
        if instance.service is not None and not instance.host.lost and not is_lost(instance):
            hurried = attempt.session.interrupt.hurried
            ended = services.stop(instance.service, hurried=hurried)
            if not attempt.stays_up:  # else it counted the operations of all trials
                attempt.keep_counters(instance, ended)


def check_disks(attempt: Attempt) -> None:
    """Holds disks against what was written to them; damage makes the outcome of the trial."""
    for instance in attempt.instances:
        if not instance.host.lost:
            attempt.disk_checks += check_disks_of(attempt, instance)


def undo(attempt: Attempt) -> None:
    """Undoes what was changed, in reverse."""
    undo_owed(attempt)
    for instance in reversed(attempt.instances):
        undo_inside(attempt, instance)
    undo_outside(attempt)


def keep(attempt: Attempt) -> None:
    """Leaves the system up for its next trial; what was made for the load of this one is undone."""
    for instance in attempt.instances:
        undo_load(attempt, instance)
    up = KeptSystem(attempt.instances, partial(_take_down_kept, attempt))
    attempt.session.kept[attempt.trial.cell.system] = up


def take_down(attempt: Attempt) -> None:
    """Ends services, checks disks, undoes. Who asks to stop does not wait for the check."""
    during = attempt.timeline.during
    with during("undo"):
        end_services(attempt)
    if are_checked(attempt):
        with during("check_disks"):
            attempt.unchecked = not _checked(attempt)
    with during("undo"):
        undo(attempt)


def _checked(attempt: Attempt) -> bool:
    """Whether it could be done before the user asked to stop."""
    try:
        with attempt.session.interrupt.cutting():
            check_disks(attempt)
    except KeyboardInterrupt:
        attempt.disk_checks = []
        return False
    return True


def _take_down_kept(attempt: Attempt) -> None:
    """A system that stayed up: what its disks are is no part of the record of any one trial."""
    take_down(attempt)
    if attempt.disk_checks:
        attempt.session.record_disk_checks(attempt.trial.cell.system, attempt.disk_checks)


def take_down_all(attempt: Attempt) -> None:
    """Takes down the system of a trial that failed, and all that stayed up beside it."""
    attempt.session.kept.pop(attempt.trial.cell.system, None)
    take_down(attempt)
    attempt.session.take_down_kept()
