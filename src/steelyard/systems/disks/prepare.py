"""From attached disks to a mounted filesystem and back: the inverse before every step."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.mounts import MOUNT_TABLE, mounted_at
from steelyard.hosts.tool import attempt, tell
from steelyard.hosts.undo.actions.command import Command
from steelyard.hosts.undo.actions.storage import Unmount
from steelyard.hosts.undo.log import PendingUndo, UndoLog
from steelyard.study.declared.machine import Filesystem, filesystems
from steelyard.systems.disks.arrays import LEVELS, make_array
from steelyard.systems.disks.own import wipe_of
from steelyard.systems.platform import AttachedDisk
from steelyard.systems.settings.applied import Place
from steelyard.systems.settings.changes import Changes
from steelyard.systems.settings.module import load_module

MAKE_TIMEOUT_S = 600.0
FOLDER = "folder"
"""The layout of what was there already."""


@dataclass(frozen=True)
class DiskPlan:
    """What becomes of the disks that a study calls ``name``.

    ``layout``: ``single`` takes the first disk; ``raid0`` and ``raid1`` join all of them by md,
    ``own-raid0`` and ``own-raid1`` by the filesystem itself.
    """

    name: str
    mount_point: str
    layout: str = "single"
    filesystem: str = "ext4"
    mkfs_options: str = ""
    mount_options: str = ""


@dataclass(frozen=True)
class Prepared:
    """A filesystem that is mounted: ``device`` bears it, ``members`` are the disks beneath."""

    plan: DiskPlan
    device: str
    members: tuple[AttachedDisk, ...]
    undos: tuple[PendingUndo, ...]
    facts: dict[str, str] = field(default_factory=dict)


def prepare(host: Host, disks: list[AttachedDisk], plan: DiskPlan, undo: UndoLog) -> Prepared:
    """Joins, makes, mounts, syncs. When a step fails, those before it are undone.

    Raises:
        SystemFailure: ``not_supported`` (the kernel lacks it), ``tool_missing``, ``no_space``,
            ``name_taken`` (a disk is not ours, or something is mounted there), ``tool_failed``.
    """
    changes = Changes(host, undo, Place(plan.name, plan.mount_point))
    try:
        return _prepared(changes, disks, plan)
    except Exception:
        changes.undo()
        raise


def take_down(host: Host, prepared: Prepared, undo: UndoLog) -> None:
    """Unmounts, stops, wipes, newest first; after a failure the others go on.

    Raises:
        AgentRefusal: the first that could not be undone; it stays in the ledger.
    """
    refusals = []
    for pending in reversed(prepared.undos):
        try:
            undo.apply(host, pending)
        except AgentRefusal as refusal:
            refusals.append(refusal)
    if refusals:
        raise refusals[0]


def _prepared(changes: Changes, disks: list[AttachedDisk], plan: DiskPlan) -> Prepared:
    host, filesystem = changes.host, filesystems()[plan.filesystem]
    members = _members(disks, plan)
    _needs_filesystem(changes, plan.filesystem)
    facts = {"filesystem": plan.filesystem, "layout": plan.layout}
    for offered in (disk.disk.offered for disk in members if disk.disk.offered is not None):
        facts |= {"protocol": offered.protocol, "url": offered.url}
    for disk in members:
        wipe = wipe_of(host, disk)
        if wipe is not None:
            changes.plan(wipe)
    devices = [disk.device for disk in members]
    if plan.layout in LEVELS:
        device, array = make_array(changes, plan.layout, devices)
        devices = [device]
        facts |= {f"array.{key}": value for key, value in array.items()}
    make = [*filesystem.make, *_own(plan, filesystem), *shlex.split(plan.mkfs_options)]
    tell(host, [*make, *devices], timeout_s=MAKE_TIMEOUT_S)
    facts |= {"mkfs": " ".join(make), "mkfs.version": _version(host, filesystem)}
    facts["mounted_with"] = _mount(changes, plan, devices)
    host.sync_filesystem(plan.mount_point)
    named = {f"disks.{plan.name}.{key}": value for key, value in facts.items()}
    return Prepared(plan, devices[0], tuple(members), tuple(changes.made), named)


def _members(disks: list[AttachedDisk], plan: DiskPlan) -> list[AttachedDisk]:
    if plan.layout == "single":
        return disks[:1]
    if len(disks) < 2:
        message = f"{plan.layout} of `{plan.name}` needs two disks, and there is one"
        raise SystemFailure(
            "not_supported", message, f"write `disks: {{{plan.name}: {{count: 2}}}}`"
        )
    return disks


def _own(plan: DiskPlan, filesystem: Filesystem) -> tuple[str, ...]:
    if not plan.layout.startswith("own-"):
        return ()
    words = (filesystem.own or {}).get(plan.layout)
    if words is None:
        message = f"{plan.filesystem} builds no arrays itself: `{plan.layout}` is not available"
        raise SystemFailure("not_supported", message, "take raid0 or raid1, or btrfs")
    return words


def _needs_filesystem(changes: Changes, name: str) -> None:
    known = changes.host.read_file("/proc/filesystems").split()
    if name in known:
        return
    try:
        load_module(changes, name, name)
    except SystemFailure as failure:
        message = (
            f"on {changes.host.name}: {name} is not available here: the kernel does not know it"
        )
        hint = f"take a guest whose kernel has it; it says: {failure.hint}"
        raise SystemFailure("not_supported", message, hint) from failure


def _mount(changes: Changes, plan: DiskPlan, devices: list[str]) -> str:
    """The options it is mounted with, as the kernel shows them."""
    host, place = changes.host, plan.mount_point
    there = mounted_at(host.read_file(MOUNT_TABLE), place)
    if there is not None:
        message = f"on {host.name}: {there.source} is mounted at {place} already"
        raise SystemFailure("name_taken", message, "take another place, or unmount it")
    if plan.filesystem == "btrfs":
        for device in devices:
            changes.plan(_forget(device))
    if not host.path_facts(place).exists:
        unless = ("test", "!", "-d", place)
        changes.plan(Command(("rmdir", place), f"remove the empty folder {place}", unless=unless))
        host.make_directory(place)
    changes.plan(Unmount(place, devices[0]))
    options = ["-o", plan.mount_options] if plan.mount_options else []
    tell(host, ["mount", "-t", plan.filesystem, *options, devices[0], place])
    mounted = mounted_at(host.read_file(MOUNT_TABLE), place)
    if mounted is None or mounted.source != devices[0]:
        raise SystemFailure("tool_failed", f"on {host.name}: {devices[0]} is not at {place}")
    return ",".join(mounted.options)


def _forget(device: str) -> Command:
    """Btrfs remembers devices that it has seen; some kernels only while they are used."""
    words = ("btrfs", "device", "scan", "--forget", device)
    fine = "cannot unregister device .*No such file or directory"
    return Command(words, f"let btrfs forget {device}", fine=fine)


def _version(host: Host, filesystem: Filesystem) -> str:
    """The first line that the tool says of itself, on whichever stream."""
    ran = attempt(host, list(filesystem.version))
    said = (ran.stdout.strip() or ran.stderr.strip()).splitlines()
    return said[0].strip() if said else "not told"
