"""Limits on processor and memory by control groups, version 1 or 2, whichever the machine has.

Pure: from what the machine says of its mounts to the folders to be made and what is written there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from steelyard.hosts.failures import SystemFailure

_PERIOD_US = 100_000
ACCOUNTS, NAMED, UNIFIED = "cpuacct", "name=systemd", "unified"
_CONTROLLERS = {"cpus": "cpu", "memory": "memory"}
_ENTER = (
    'n=$1; shift; while [ "$n" -gt 0 ]; do echo 0 > "$1" || exit 126; shift; n=$((n - 1)); done; '
    'exec "$@"'
)


@dataclass(frozen=True)
class Group:
    """One control group to be made: its folder, and what is written to which of its files."""

    folder: str
    limits: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Hierarchy:
    """Where control groups are mounted; without ``controllers`` it is version 2."""

    mount_point: str
    controllers: frozenset[str]


def enter(groups: list[Group], argv: list[str]) -> list[str]:
    """Words that run ``argv`` inside the groups, from its first instant on."""
    if not groups:
        return argv
    files = [f"{group.folder}/cgroup.procs" for group in groups]
    return ["sh", "-c", _ENTER, "sh", str(len(files)), *files, *argv]


def plan_groups(
    wanted: dict[str, int],
    label: str,
    mounts: str,
    own: str,
    enabled: Callable[[str], str],
) -> list[Group]:
    """The groups for limits such as ``{"cpus": 1, "memory": BYTES}``.

    ``mounts`` is ``/proc/self/mounts``, ``own`` ``/proc/PID/cgroup`` of the machine's agent:
    version 1 groups are made below its own, so that limits above it hold. ``enabled`` reads
    ``cgroup.subtree_control`` of a version 2 mount.

    Raises:
        SystemFailure: ``not_supported``: a controller is not there, or not for new groups.
    """
    hierarchies = list(_hierarchies(mounts))
    paths = dict(_own_paths(own))
    groups: dict[str, Group] = {}
    for name, value in wanted.items():
        controller = _CONTROLLERS[name]
        one = _below_own(controller, hierarchies, paths)
        two = None if one is not None else _at_the_top(controller, hierarchies, enabled)
        if one is not None:
            _add(groups, f"{one}/{label}", _version_1(name, value))
        elif two is not None:
            _add(groups, f"{two}/{label}", _version_2(name, value))
        else:
            raise _absent(name, controller)
    return list(groups.values())


def plan_bare_groups(names: frozenset[str], label: str, mounts: str, own: str) -> list[Group]:
    """Groups without limits: to account (``cpuacct``), or for a tool that makes others below.

    ``names`` are controllers of version 1, ``name=systemd`` among them, and ``unified``, which
    stands for version 2.
    """
    paths = dict(_own_paths(own))
    groups = []
    for hierarchy in _hierarchies(mounts):
        wanted = sorted(hierarchy.controllers & names)
        if wanted:
            above = paths.get(wanted[0], "/").rstrip("/")
            groups.append(Group(f"{hierarchy.mount_point}{above}/{label}", ()))
        elif not hierarchy.controllers and UNIFIED in names:
            groups.append(Group(f"{hierarchy.mount_point}/{label}", ()))
    return groups


def joined(*several: list[Group]) -> list[Group]:
    """Each folder once, with all its limits."""
    groups: dict[str, Group] = {}
    for group in (group for each in several for group in each):
        _add(groups, group.folder, group.limits)
    return list(groups.values())


def _add(groups: dict[str, Group], folder: str, limits: tuple[tuple[str, str], ...]) -> None:
    known = groups.get(folder)
    groups[folder] = Group(folder, (*(known.limits if known else ()), *limits))


def _below_own(controller: str, hierarchies: list[Hierarchy], paths: dict[str, str]) -> str | None:
    """Of version 1."""
    for hierarchy in hierarchies:
        if controller in hierarchy.controllers:
            return hierarchy.mount_point + paths.get(controller, "/").rstrip("/")
    return None


def _at_the_top(
    controller: str, hierarchies: list[Hierarchy], enabled: Callable[[str], str]
) -> str | None:
    """Of version 2, where a group with processes can have no groups below it."""
    for hierarchy in hierarchies:
        if not hierarchy.controllers and controller in enabled(hierarchy.mount_point).split():
            return hierarchy.mount_point
    return None


def _absent(name: str, controller: str) -> SystemFailure:
    return SystemFailure(
        "not_supported",
        f"`confine.{name}` needs the cgroup controller {controller}, which is not there",
        f"in version 2: {how_to_give(controller)}",
    )


def how_to_give(controller: str) -> str:
    """What has the top of version 2 give a controller to new groups.

    systemd writes that file itself whenever units come and go, and would undo what it has
    not been told of.
    """
    if controller == "cpu":
        return (
            "systemctl set-property --runtime system.slice CPUWeight=100; without systemd: "
            "echo +cpu > /sys/fs/cgroup/cgroup.subtree_control"
        )
    return f"echo +{controller} > /sys/fs/cgroup/cgroup.subtree_control"


def _version_1(name: str, value: int) -> tuple[tuple[str, str], ...]:
    if name == "memory":
        return (("memory.limit_in_bytes", str(value)),)
    quota = str(value * _PERIOD_US)
    return (("cpu.cfs_period_us", str(_PERIOD_US)), ("cpu.cfs_quota_us", quota))


def _version_2(name: str, value: int) -> tuple[tuple[str, str], ...]:
    if name == "memory":
        return (("memory.max", str(value)),)
    return (("cpu.max", f"{value * _PERIOD_US} {_PERIOD_US}"),)


def _hierarchies(mounts: str) -> Iterator[Hierarchy]:
    for line in mounts.splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup":
            yield Hierarchy(place, frozenset(options.split(",")))
        elif kind == "cgroup2":
            yield Hierarchy(place, frozenset())


def _own_paths(own: str) -> Iterator[tuple[str, str]]:
    """Version 1 groups of a process by controller."""
    for line in own.splitlines():
        _, controllers, path = line.split(":", 2)
        for controller in filter(None, controllers.split(",")):
            yield controller, path


def cgroup_folder(mounts: str, listed: str) -> str | None:
    """The folder of a process's cgroup, from ``/proc/self/mounts`` and ``/proc/PID/cgroup``.

    Where version 1 and 2 are mounted side by side, the one that accounts processor time. ``None``
    for the group that holds the whole machine.
    """
    paths: dict[str, str] = {}
    for line in listed.splitlines():
        _, controllers, path = line.split(":", 2)
        paths |= dict.fromkeys(controllers.split(","), path)
    places: dict[str, str] = {}
    for line in mounts.splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup":
            places |= dict.fromkeys(options.split(","), place)
        elif kind == "cgroup2":
            places[""] = place
    name = ACCOUNTS if ACCOUNTS in paths else ""
    if name not in places or paths.get(name, "/") == "/":
        return None
    return places[name] + paths[name]
