"""Disks and settings of an instance for one attempt, and taking them back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.host import Host
from steelyard.hosts.undo.log import INSIDE
from steelyard.records.schema import Outcome
from steelyard.study.declared.network_disks import read_network_disk
from steelyard.study.declared.setting import Settings
from steelyard.study.platform.settings import DiskSettings
from steelyard.systems import disks
from steelyard.systems.disks import DiskPlan, Prepared
from steelyard.systems.platform import RawDisk
from steelyard.systems.settings import (
    Applied,
    Place,
    apply_settings,
    held_values,
    revert_settings,
)
from steelyard.trial.attempt.attempt import Attempt, Outside
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.attempt.outcomes import TrialFailed
from steelyard.trial.attempt.servers_of_disks import is_lost

Held = Mapping[str, str | None]


def lay_out_disks(attempt: Attempt, instance: Instance) -> None:
    """Attaches the disks of the study, joins them, makes filesystems, and mounts those.

    Raises:
        SystemFailure: the platform or the kernel inside cannot do it; typed.
    """
    for name, wanted in attempt.cell.system.disks.items():
        disk_settings = DiskSettings.of(wanted)
        if disk_settings.folder is not None:
            own, undo = f"{instance.platform.context.label}-{name}", attempt.session.undo
            used = disks.use_folder(instance.host, name, disk_settings, own, undo)
            _take_over(instance, name, used, disk_settings)
            continue
        attached = []
        for raw in raw_disks(name, wanted):
            disk = instance.platform.attach(raw)
            instance.attached.append(disk)
            attached.append(disk)
        plan = disk_plan(name, wanted, f"{instance.folder}/{name}")
        prepared = disks.prepare(instance.host, attached, plan, attempt.session.undo)
        _take_over(instance, name, prepared, disk_settings)


def _take_over(
    instance: Instance, name: str, prepared: Prepared, disk_settings: DiskSettings
) -> None:
    instance.prepared[name] = prepared
    instance.caches += disks.caching_places(instance.host, prepared)
    if disk_settings.check != "none":
        size_bytes = disk_settings.size_bytes
        disks.write_test_file(instance.host, prepared, size_bytes, instance.checksums_of(name))


def raw_disks(name: str, settings: Settings) -> list[RawDisk]:
    """The disks of one entry of ``disks``: one for the layout ``single``, else all of them."""
    wanted = DiskSettings.of(settings)
    count = 1 if wanted.layout == "single" else wanted.count
    return [
        RawDisk(
            name=f"{name}-{number}",
            size_bytes=wanted.size_bytes,
            cache=wanted.cache,
            offered=None if wanted.url is None else read_network_disk(wanted.url),
            anything=wanted.overwrite == "anything",
        )
        for number in range(1, count + 1)
    ]


def disk_plan(name: str, settings: Settings, mount_point: str) -> DiskPlan:
    """What becomes of the disks of one entry."""
    wanted = DiskSettings.of(settings)
    return DiskPlan(
        name=name,
        mount_point=mount_point,
        layout=wanted.layout,
        filesystem=wanted.filesystem,
        mkfs_options=wanted.mkfs or "",
        mount_options=wanted.mount or "",
    )


def configure_outside(attempt: Attempt) -> None:
    """Applies the settings of the machine that carries the system."""
    settings = attempt.cell.system.outside
    if settings:
        host, context = attempt.host_machine(), attempt.instances[0].platform.context
        place = Place(
            f"steelyard-{attempt.session.mark}",
            context.folder,
            profiles=attempt.cell.system.profiles,
        )
        applied = apply_settings(host, settings, attempt.session.undo, place)
        attempt.outside = Outside(host, applied, held_values(host, applied))


def configure_inside(attempt: Attempt, instance: Instance) -> None:
    """Applies the settings of the machine that the system is."""
    settings = attempt.cell.system.inside
    if settings:
        devices = tuple(disk.device.removeprefix("/dev/") for disk in instance.attached)
        label, profiles = instance.platform.context.label, attempt.cell.system.profiles
        place = Place(label, instance.data, devices, profiles)
        instance.applied = apply_settings(instance.host, settings, attempt.session.undo, place)
        instance.held = held_values(instance.host, instance.applied)


def refuse_changed_settings(host: Host, applied: Sequence[Applied], held: Held) -> None:
    """Reads settings back once more when the window is over.

    Raises:
        TrialFailed: ``setting_changed``: somebody else changed one that the study sets.
    """
    now = held_values(host, applied)
    changed = [name for name, was in held.items() if now.get(name) != was]
    if changed:
        name = changed[0]
        raise TrialFailed(
            Outcome.SETTING_CHANGED,
            f"on {host.name} `{name}` was {held[name]!r}, and is {now.get(name)!r} after the window"
            + (f"; {len(changed) - 1} others changed too" if changed[1:] else ""),
            "look for what else sets it there: tuned, a power daemon, a timer, another person",
        )


def undo_owed(attempt: Attempt) -> None:
    """What steps that failed could not undo because their agent had ended; by a new one.

    What lies inside a throwaway instance is gone with it.
    """
    undo, machines = attempt.session.undo, attempt.session.machines
    while undo.owed:
        newest = max(undo.owed, key=lambda pending: pending.undo)
        if not newest.inside:
            undo.apply(machines.at(newest.host), newest)
        undo.owed.remove(newest)


def undo_inside(attempt: Attempt, instance: Instance) -> None:
    """Settings, disks and the folder of an instance, in reverse.

    What lies inside a throwaway instance whose agent has ended, or on a disk whose server failed,
    is gone with it: the next trial makes it anew. On a machine that stays, a new agent undoes what
    the lost one did.
    """
    lost = is_lost(instance)
    gone = instance.host if lost else None
    with suppress(AgentRefusal):  # of a disk that is mounted read-only, say; it is asked again
        undo_load(attempt, instance, but_on=gone)
    host = None if lost else _still_there(attempt, instance.host)
    if lost or instance.host.lost:
        attempt.session.pool.forget()
    if host is not None:
        _take_down(attempt, instance, host)
    undo_load(attempt, instance, but_on=gone)


def _take_down(attempt: Attempt, instance: Instance, host: Host) -> None:
    undo = attempt.session.undo
    revert_settings(host, instance.applied, undo)
    for prepared in reversed(instance.prepared.values()):
        disks.take_down(host, prepared, undo)
    while instance.attached:
        instance.platform.detach(instance.attached[-1])
        instance.attached.pop()
    host.remove_tree(instance.folder)


def undo_load(attempt: Attempt, instance: Instance, *, but_on: Host | None = None) -> None:
    """What was made for the load or the tool of this trial; ``but_on`` is gone with all of it."""
    while instance.undos:
        machine, pending = instance.undos[-1]
        there = None if machine is but_on else _still_there(attempt, machine)
        if there is not None:
            attempt.session.undo.apply(there, pending)
        instance.undos.pop()


def undo_outside(attempt: Attempt) -> None:
    """Settings of the machine that carries the system."""
    if attempt.outside is not None:
        host = _still_there(attempt, attempt.outside.host) or attempt.host_machine()
        revert_settings(host, attempt.outside.applied, attempt.session.undo)


def _still_there(attempt: Attempt, host: Host) -> Host | None:
    """The machine by an agent that answers; ``None`` when it was thrown away with its agent."""
    if not host.lost:
        return host
    if host.name.startswith(INSIDE):
        return None
    machines = attempt.session.machines
    return machines.at(machines.address_of(host))
