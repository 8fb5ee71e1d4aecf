"""Arrays of the kernel's md, made by mdadm under a uuid of their own."""

from __future__ import annotations

import uuid

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import attempt, tell
from steelyard.hosts.undo.actions.storage import StopArray
from steelyard.records.disk_checks import CopiesDiffer
from steelyard.systems.settings.changes import Changes
from steelyard.systems.settings.module import load_module

LEVELS = {"raid0": "0", "raid1": "1"}
_ARRAY_TIMEOUT_S = 120.0
_TOLD = ("MD_LEVEL", "MD_DEVICES", "MD_METADATA")


def make_array(changes: Changes, layout: str, devices: list[str]) -> tuple[str, dict[str, str]]:
    """The array's device and its facts. It starts in step, so that no rebuild disturbs a trial.

    Raises:
        SystemFailure: ``not_supported``: this kernel has no such arrays; or mdadm failed.
    """
    host = changes.host
    _needs_level(changes, layout)
    mark = uuid.uuid4().hex
    mark = ":".join(mark[i : i + 8] for i in range(0, 32, 8))
    device = _free_device(changes)
    changes.plan(StopArray(mark, device))
    words = ["--run", "--metadata=1.2", f"--level={LEVELS[layout]}", f"--uuid={mark}"]
    words += ["--assume-clean"] if layout == "raid1" else ["--chunk=64"]
    create = ["mdadm", "--create", device, *words, f"--raid-devices={len(devices)}", *devices]
    tell(host, create, timeout_s=_ARRAY_TIMEOUT_S)
    return device, _facts(changes, device)


def copies_differ(host: Host, device: str, *, timeout_s: float) -> list[CopiesDiffer]:
    """Lets the kernel compare the disks of a mirror, and only count; empty where they agree.

    Raises:
        SystemFailure: it could not.
    """
    folder = f"/sys/block/{device.removeprefix('/dev/')}/md"
    tell(host, ["mdadm", "--action=check", device])
    attempt(host, ["mdadm", "--wait", device], timeout_s=timeout_s)  # fails where it has ended
    action = host.read_file(f"{folder}/sync_action").strip()
    if action != "idle":
        raise SystemFailure("not_ready", f"on {host.name}: {device} is still at `{action}`")
    sectors = int(host.read_file(f"{folder}/mismatch_cnt"))
    return [CopiesDiffer(sectors=sectors)] if sectors else []


def _needs_level(changes: Changes, layout: str) -> None:
    if f"[{layout}]" in _personalities(changes.host):
        return
    try:
        load_module(changes, layout, layout)
    except SystemFailure as failure:
        raise SystemFailure(
            "not_supported",
            f"on {changes.host.name}: {layout} is not available here: the kernel has no such "
            "arrays (md)",
            "a guest with a kernel that has them can do it; btrfs can do it alone: `own-raid0`",
        ) from failure


def _personalities(host: Host) -> str:
    """What md can do now; nothing where the kernel has none, or has not loaded it."""
    there = host.path_facts("/proc/mdstat").exists
    return host.read_file("/proc/mdstat") if there else ""


def _free_device(changes: Changes) -> str:
    taken = tell(changes.host, ["find", "/sys/block", "-maxdepth", "1", "-name", "md*"])
    names = {path.rpartition("/")[2] for path in taken.splitlines()}
    return next(f"/dev/md{n}" for n in range(len(names) + 1) if f"md{n}" not in names)


def _facts(changes: Changes, device: str) -> dict[str, str]:
    told = tell(changes.host, ["mdadm", "--detail", "--export", device]).splitlines()
    detail = dict(line.split("=", 1) for line in told if "=" in line)
    facts = {key.removeprefix("MD_").lower(): detail[key] for key in _TOLD if key in detail}
    chunk = f"/sys/block/{device.removeprefix('/dev/')}/md/chunk_size"
    if changes.host.path_facts(chunk).exists:
        facts["chunk_bytes"] = changes.host.read_file(chunk).strip()
    return facts
