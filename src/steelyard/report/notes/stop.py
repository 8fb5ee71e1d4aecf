"""Why a system or workload was no longer measured or compared, and whether clean-up is verified."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.judge.analyses.claims.findings import NothingToCompare
from steelyard.judge.kinds.caveats import (
    ChangedByOthers,
    CleanupIncomplete,
    CleanupNotVerified,
    CleanupVerified,
    SystemFutility,
    WorkloadDecided,
    WorkloadFutility,
)
from steelyard.records.events import CommonestFailure, EnvironmentDifference, FutilityReason
from steelyard.records.schema import Outcome
from steelyard.report.figures import counted, listed
from steelyard.report.notes.missing import missing_text
from steelyard.report.notes.registry import writes


@writes(SystemFutility)
def _system_futility(note: SystemFutility) -> str:
    why = "" if note.reason.commonest.outcome is Outcome.DAMAGED else " for futility"
    said = f"{note.system} was stopped{why}: {_reason(note.reason)}"
    if note.others_continued is None:
        return said
    others = "; the other systems were measured further" if note.others_continued else ""
    return f"{said}. Its comparisons were not continued{others}"


@writes(WorkloadFutility)
def _workload_futility(note: WorkloadFutility) -> str:
    said = _by_system(note.workload, note.reasons)
    if note.on_all_systems:
        said += (
            f". Nothing of {note.workload} can be compared without that, so it was stopped on the "
            "other systems as well"
        )
    return f"{said}. The other workloads were measured further" if note.others_continued else said


def _by_system(workload: str, by_system: Mapping[str, FutilityReason]) -> str:
    reasons = list(by_system.values())
    if len(reasons) > 1 and all(each == reasons[0] for each in reasons):
        return f"{workload} was stopped for futility: {_reason(reasons[0])}"
    return ". ".join(
        f"{workload} was stopped on {system} for futility: {_reason(reason)}"
        for system, reason in by_system.items()
    )


def _reason(reason: FutilityReason) -> str:
    if reason.commonest.outcome is Outcome.DAMAGED:
        return _message(reason.commonest)
    if reason.missing_responses:
        missing = " or ".join(reason.missing_responses)
        all_trials = f"{reason.trials} of {reason.trials} trials"
        return f"the primary response {missing} was missing in {all_trials}{_commonest(reason)}"
    if reason.identical_attempts:
        attempts = counted(reason.identical_attempts, "attempt")
        return f"{attempts} failed alike and none was ever good{_commonest(reason)}"
    noun = "visit" if len(reason.failed_visits) == 1 else "visits"
    visits = f"{noun} {listed(list(map(str, reason.failed_visits)))}"
    return f"no valid trial in {visits}{_commonest(reason)}"


def _commonest(reason: FutilityReason) -> str:
    """What most of the trials report."""
    often, outcome = reason.commonest.trials, reason.commonest.outcome
    most = "" if often == reason.trials else f"{often} of {reason.trials}: "
    failed = "" if outcome is None else f"{outcome.replace('_', ' ')}: "
    return f" ({most}{failed}{_message(reason.commonest)})"


def _message(commonest: CommonestFailure) -> str:
    if commonest.message is not None:
        return commonest.message.rstrip(".")
    return "" if commonest.missing is None else missing_text(commonest.missing)


@writes(WorkloadDecided)
def _workload_decided(note: WorkloadDecided) -> str:
    return (
        f"Measured up to visit {note.last_visit}, when all that the study waits for in it was "
        "decided. Later visits ran without its trials: results of the other workloads assume that "
        "a reset removes any carry-over of it (heat, caches, pending writes)"
    )


@writes(CleanupVerified)
def _cleanup_verified(note: CleanupVerified) -> str:
    but = ", but for what others changed" if note.by_others else ""
    return (
        "Clean-up verified: mounts, devices, settings, networks, containers and processes of "
        f"{', '.join(note.machines)} were the same after the run as before it{but}"
    )


@writes(CleanupIncomplete)
def _cleanup_incomplete(note: CleanupIncomplete) -> str:
    count = counted(note.count, "difference")
    if not note.pending:
        return (
            f"Every change of this run was undone; of other programs, or of one that was measured, "
            f"{count} from before it: {_shown(note)}"
        )
    are = "is" if note.pending == 1 else "are"
    left = (
        f"{counted(note.pending, 'change')} of this run {are} not undone; `steelyard restore` with "
        "the folder of the run tries again and says what hinders it"
    )
    return f"{left}. {count} from before the run: {_shown(note)}" if note.count else left


@writes(ChangedByOthers)
def _changed_by_others(note: ChangedByOthers) -> str:
    return (
        f"{counted(note.count, 'change')} that this run did not make, by others while it measured: "
        f"{_shown(note)}"
    )


def _shown(note: CleanupIncomplete | ChangedByOthers) -> str:
    shown = "; ".join(map(_difference, note.differences))
    rest = note.count - len(note.differences)
    return f"{shown}; and {rest} more, see the ledger" if rest else shown


def _difference(each: EnvironmentDifference) -> str:
    if each.before is None or each.after is None:
        now = "is new" if each.before is None else "is gone"
        value = each.after if each.before is None else each.before
        said = "" if value == "there" else f" ({value})"
        return f"{each.machine}: {each.kind} {each.name}{said} {now}"
    return f"{each.machine}: {each.kind} {each.name} was {each.before}, is {each.after}"


@writes(CleanupNotVerified)
def _cleanup_not_verified(note: CleanupNotVerified) -> str:
    why = "the stop was forced" if note.error is None else note.error.rstrip(".")
    return f"Clean-up of {note.machine} was not verified: {why}"


@writes(NothingToCompare)
def _nothing_to_compare(_: NothingToCompare) -> str:
    return "no system is left to be compared"
