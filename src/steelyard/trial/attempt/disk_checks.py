"""The disks of an attempt, held against themselves after all that wrote to them has ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError
from steelyard.hosts.failures import SystemFailure
from steelyard.records.disk_checks import (
    CannotBeMounted,
    ContentChanged,
    CopiesDiffer,
    Damage,
    DiskCheck,
    FilesystemDamaged,
)
from steelyard.records.schema import Outcome
from steelyard.study.platform.settings import DiskSettings
from steelyard.systems import disks
from steelyard.trial.attempt.attempt import Attempt
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.attempt.outcomes import TrialFailed
from steelyard.trial.attempt.servers_of_disks import what_a_server_failed


def are_checked(attempt: Attempt) -> bool:
    """Whether there is a disk that the study wants to be checked."""
    return any(_wanted(attempt, each) for each in attempt.instances)


def check_disks_of(attempt: Attempt, instance: Instance) -> Iterator[DiskCheck]:
    """Each disk of an instance; one whose machine or server does not answer was not checked."""
    for name in _wanted(attempt, instance):
        failed = what_a_server_failed(instance)
        if failed is None:
            check = _checked(attempt, instance, name)
            failed = what_a_server_failed(instance)
        if failed is not None:
            check = _not_checked(instance, name, failed)
        yield check


def _checked(attempt: Attempt, instance: Instance, name: str) -> DiskCheck:
    prepared, sums = instance.prepared[name], instance.checksums_of(name)
    every_file = DiskSettings.of(attempt.cell.system.disks[name]).check == "files"
    number = instance.number
    try:
        return disks.check_disk(
            instance.host, prepared, sums, instance=number, every_file=every_file
        )
    except (AgentRefusal, EngineError, SystemFailure) as error:
        return _not_checked(instance, name, str(error))


def _not_checked(instance: Instance, name: str, why: str) -> DiskCheck:
    device = instance.prepared[name].device
    return DiskCheck(
        instance=instance.number, disk=name, device=device, not_checked={"filesystem": why}
    )


def _wanted(attempt: Attempt, instance: Instance) -> list[str]:
    """The disks by name whose test file was written."""
    asked = attempt.cell.system.disks
    return [name for name in instance.prepared if DiskSettings.of(asked[name]).check != "none"]


def damaged(checks: Sequence[DiskCheck]) -> TrialFailed | None:
    """The failure that damage is, by the first disk that has any."""
    found = [(check, damage) for check in checks for damage in check.damage]
    if not found:
        return None
    check, damage = found[0]
    whose = "" if check.instance == 1 else f" of instance {check.instance}"
    return TrialFailed(
        Outcome.DAMAGED,
        f"the disk `{check.disk}`{whose} ({check.device}) is damaged: {_said(damage)}",
        "look into the kernel log of its machine, and at what lies beneath the disk; the system "
        "is not measured further",
    )


def _said(damage: Damage) -> str:
    match damage:
        case FilesystemDamaged():
            return f"`{damage.command}` ended with code {damage.exit_code}: {damage.said}"
        case CopiesDiffer():
            return f"{damage.sectors} sectors differ between the disks of its array"
        case CannotBeMounted():
            return damage.said
        case ContentChanged():
            more = " and others" if damage.files > len(damage.names) else ""
            return f"not what was written: {', '.join(damage.names)}{more}"
