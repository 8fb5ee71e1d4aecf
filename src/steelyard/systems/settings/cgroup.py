"""Limits of a service by a cgroup of its own, made for the trial.

The service enters it by words before its command, so that no process of it is ever outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.mounts import MOUNT_TABLE, Mount, read_mounts
from steelyard.hosts.undo.actions.processes import RemoveCgroup
from steelyard.study.declared.setting import OFF
from steelyard.study.model import Level
from steelyard.systems.confinement import how_to_give
from steelyard.systems.settings.applied import Applied
from steelyard.systems.settings.changes import Changes

PERIOD_US = 100_000
LARGEST_PAGE_BYTES = 65536
_ENTER = (
    'while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 126; shift; done; '
    'shift; exec "$@"'
)


@dataclass(frozen=True)
class _Limit:
    """A file of a controller, and what is written there."""

    controller: str
    file: str
    value: str


def change_cgroup(changes: Changes, name: str, levels: Mapping[str, Level]) -> list[Applied]:
    """All limits together: in version 2 they are one group.

    Raises:
        SystemFailure: ``not_supported``: the controller is not there.
    """
    applied = [Applied(f"{name}.{key}", level) for key, level in levels.items() if level == OFF]
    wanted = {key: level for key, level in levels.items() if level != OFF}
    if not wanted:
        return applied
    mounts = read_mounts(changes.host.read_file(MOUNT_TABLE))
    groups: dict[str, None] = {}
    for key, level in wanted.items():
        first = len(changes.made)
        setting = f"{name}.{key}"
        group, limit = _group(changes, mounts, setting, level)
        _make(changes, group, groups)
        path = f"{group}/{limit.file}"
        _write(changes.host, setting, path, limit.value)
        facts = {setting: _read_back(changes.host, setting, path, limit)}
        undos = tuple(changes.made[first:])
        applied.append(Applied(setting, level, undos, facts, {setting: (path,)}))
    enter = ("sh", "-c", _ENTER, "sh", *groups, "--")
    last = applied[-1]
    applied[-1] = Applied(last.setting, last.level, last.undos, last.facts, last.watched, enter)
    return applied


def _group(changes: Changes, mounts: list[Mount], setting: str, level: Level) -> tuple[str, _Limit]:
    """The folder of our group and the limit, for version 1 or 2, whichever has the controller."""
    one, two = _limits(setting, level)
    for mount in mounts:
        if mount.filesystem == "cgroup" and one.controller in mount.options:
            return f"{mount.mount_point}/{changes.place.label}", one
    for mount in mounts:
        if mount.filesystem == "cgroup2" and two.controller in _given(changes.host, mount):
            return f"{mount.mount_point}/{changes.place.label}", two
    raise SystemFailure(
        "not_supported",
        f"on {changes.host.name}: `{setting}` is not available here: no hierarchy of cgroups "
        f"gives the controller {one.controller} to its children",
        f"in version 2: {how_to_give(two.controller)}",
    )


def _given(host: Host, mount: Mount) -> list[str]:
    return host.read_file(f"{mount.mount_point}/cgroup.subtree_control").split()


def _limits(setting: str, level: Level) -> tuple[_Limit, _Limit]:
    """The same limit in version 1 and in version 2."""
    if setting == "cgroup.cpus":
        quota_us = round(float(level) * PERIOD_US)
        return (
            _Limit("cpu", "cpu.cfs_quota_us", str(quota_us)),
            _Limit("cpu", "cpu.max", f"{quota_us} {PERIOD_US}"),
        )
    size = str(int(level))
    return (
        _Limit("memory", "memory.limit_in_bytes", size),
        _Limit("memory", "memory.max", size),
    )


def _write(host: Host, setting: str, path: str, value: str) -> None:
    try:
        host.write_file(path, value)
    except AgentRefusal as refusal:
        message = f"on {host.name}: `{setting}` cannot be {value}: {refusal.failure.message}"
        raise SystemFailure("not_supported", message, refusal.failure.hint) from refusal


def _make(changes: Changes, group: str, groups: dict[str, None]) -> None:
    if group in groups:
        return
    if changes.host.path_facts(group).exists:
        message = f"on {changes.host.name}: there is a cgroup {group} that is not of this trial"
        raise SystemFailure("name_taken", message, "run `steelyard restore --all`")
    changes.plan(RemoveCgroup(group))
    changes.host.make_directory(group)
    groups[group] = None


def _read_back(host: Host, setting: str, path: str, limit: _Limit) -> str:
    now = " ".join(host.read_file(path).split())
    if now != limit.value and not _rounded_to_pages(now, limit):
        message = f"on {host.name}: `{setting}`: {limit.value} was written, {path} shows {now}"
        raise SystemFailure("not_supported", message)
    return now


def _rounded_to_pages(now: str, limit: _Limit) -> bool:
    """Sizes are rounded down to pages."""
    if limit.controller != "memory" or not now.isdigit():
        return False
    return 0 <= int(limit.value) - int(now) < LARGEST_PAGE_BYTES
