"""From what went wrong to a word, and whether trying again may help."""

from __future__ import annotations

from steelyard.engine.agent import OTHER_VERSION, AgentRefusal
from steelyard.errors import EngineError, HostError
from steelyard.hosts.failures import FailureKind, SystemFailure
from steelyard.records.message_text import visible
from steelyard.records.schema import AttemptFailure, Outcome

OF_FAILURE_KIND: dict[str, Outcome] = {
    "address_in_use": Outcome.ADDRESS_IN_USE,
    "permission_denied": Outcome.PERMISSION_DENIED,
    "disk_full": Outcome.DISK_FULL,
    "not_found": Outcome.NOT_FOUND,
    "not_ready": Outcome.SERVICE_NOT_READY,
    "late_start": Outcome.SERVICE_NOT_READY,
    "process_died": Outcome.SERVICE_DIED,
    "unreachable": Outcome.UNREACHABLE,
    "resource_limit": Outcome.RESOURCE_LIMIT,
    "cancelled": Outcome.INTERRUPTED,
}

OF_SYSTEM_FAILURE: dict[FailureKind, Outcome] = {
    "tool_failed": Outcome.TOOL_FAILED,
    "not_ready": Outcome.SYSTEM_NOT_READY,
    "unreachable": Outcome.UNREACHABLE,
    "timed_out": Outcome.TIMED_OUT,
    "reset_not_proved": Outcome.RESET_NOT_PROVED,
}
"""Kinds that are not here need somebody to act: the session ends with them."""

RETRY_HELPS = frozenset(
    {
        Outcome.SYSTEM_NOT_READY,
        Outcome.TOOL_FAILED,
        Outcome.COMMAND_FAILED,
        Outcome.OUTPUT_NOT_UNDERSTOOD,
        Outcome.RESET_NOT_PROVED,
        Outcome.SETTING_CHANGED,
        Outcome.EVENT_FAILED,
        Outcome.EVENT_MISSED,
        Outcome.SERVICE_NOT_READY,
        Outcome.SERVICE_DIED,
        Outcome.ADDRESS_IN_USE,
        Outcome.UNREACHABLE,
        Outcome.RESOURCE_LIMIT,
        Outcome.TIMED_OUT,
        Outcome.REFUSED_BY_GATE,
        Outcome.INVALID,
        Outcome.AGENT_LOST,
        Outcome.SYSTEM,
    }
)

FOR_THE_OPERATOR = frozenset({Outcome.NEEDS_OPERATOR, Outcome.DISK_FULL})
"""Somebody has to act before another attempt at any trial makes sense: the session ends."""

NOT_AN_ATTEMPT = FOR_THE_OPERATOR | {Outcome.INTERRUPTED, Outcome.CONTROLLER_LOST}
"""Ended from outside: kept and shown, but no retry is used up, and the next session tries again."""


class TrialFailed(Exception):  # noqa: N818 - an outcome on its way to a record, never printed
    """The trial cannot go on; becomes a record."""

    def __init__(self, outcome: Outcome, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.outcome = outcome
        self.message = visible(message)
        self.hint = None if hint is None else visible(hint)

    def in_phase(self, phase: str) -> AttemptFailure:
        """As it is recorded."""
        return AttemptFailure(phase=phase, message=self.message, hint=self.hint)


def _with_last_words(failure: SystemFailure) -> str:
    words = failure.last_words.strip()
    return f"{failure.message}\n{words}" if words else failure.message


def what_ends_the_session(error: BaseException, failed: TrialFailed) -> HostError | None:
    """For an error that somebody has to act on before another try makes sense."""
    if isinstance(error, SystemFailure) and error.for_operator:
        return as_host_error(error)
    if isinstance(error, EngineError) and failed.outcome is Outcome.NEEDS_OPERATOR:
        return HostError(failed.message, hint=failed.hint, slug=OTHER_VERSION)
    if failed.outcome in FOR_THE_OPERATOR:
        return HostError(failed.message, hint=failed.hint, slug="disk-is-full")
    return None


def not_by_the_user(failed: TrialFailed) -> TrialFailed:
    """Nobody asked to stop: what was cancelled failed like anything else, and uses up a retry."""
    if failed.outcome is not Outcome.INTERRUPTED:
        return failed
    return TrialFailed(Outcome.SYSTEM, failed.message, failed.hint)


def as_host_error(failure: SystemFailure) -> HostError:
    """The error that the operator sees."""
    return HostError(failure.message, hint=failure.hint, slug="system-cannot-be-prepared")


def as_failed(error: BaseException) -> TrialFailed:
    """The word for an error that ended a trial; re-raises what is a defect of ours."""
    match error:
        case TrialFailed():
            return error
        case AgentRefusal(failure=failure):
            outcome = OF_FAILURE_KIND.get(failure.kind, Outcome.SYSTEM)
            return TrialFailed(outcome, failure.message, failure.hint)
        case SystemFailure():
            return TrialFailed(
                OF_SYSTEM_FAILURE.get(error.kind, Outcome.NEEDS_OPERATOR),
                _with_last_words(error),
                error.hint,
            )
        case EngineError():
            other = error.slug == OTHER_VERSION
            outcome = Outcome.NEEDS_OPERATOR if other else Outcome.AGENT_LOST
            return TrialFailed(outcome, error.message, error.hint)
        case TimeoutError():
            return TrialFailed(
                Outcome.TIMED_OUT,
                "the load run did not end in its time",
                "look whether the machine was suspended or overloaded",
            )
        case KeyboardInterrupt():
            return TrialFailed(
                Outcome.INTERRUPTED, "interrupted by the user", "go on with `steelyard resume`"
            )
        case _:
            raise error
