"""Disks that a server offers: what it failed to do is no result of the system, and no damage."""

from __future__ import annotations

from steelyard.records.schema import Outcome
from steelyard.trial.attempt.attempt import Attempt
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.attempt.outcomes import TrialFailed


def what_a_server_failed(instance: Instance) -> str | None:
    """Of the first disk whose server failed; ``None`` where none did."""
    said = ((disk.disk.name, disk.failed()) for disk in instance.attached)
    return next((f"disk `{name}`: {why}" for name, why in said if why is not None), None)


def is_lost(instance: Instance) -> bool:
    """Whether nothing inside can be ended or undone in order, because the server of a disk failed.

    Only what is thrown away as a whole can be left so.
    """
    return instance.throwaway and what_a_server_failed(instance) is not None


def server_failed(attempt: Attempt) -> TrialFailed | None:
    """The failure that this makes of a trial."""
    said = filter(None, map(what_a_server_failed, attempt.instances))
    message = next(said, None)
    if message is None:
        return None
    hint = "look whether the server of the disk still runs and is reached"
    return TrialFailed(Outcome.UNREACHABLE, message, hint)


def refuse_failed_servers(attempt: Attempt) -> None:
    """Raises ``TrialFailed`` where the server of a disk failed during the trial."""
    failed = server_failed(attempt)
    if failed is not None:
        raise failed
