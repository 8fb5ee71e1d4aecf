"""Where a process stands in the cgroups of its machine."""

from __future__ import annotations

_ACCOUNTS = "cpuacct"


def cgroup_folder(mounts: str, told: str) -> str | None:
    """The folder of a process's cgroup, from ``/proc/self/mounts`` and ``/proc/PID/cgroup``.

    Where version 1 and 2 are mounted side by side, the one that accounts processor time. ``None``
    for the group that holds the whole machine.
    """
    paths: dict[str, str] = {}
    for line in told.splitlines():
        _, controllers, path = line.split(":", 2)
        paths |= dict.fromkeys(controllers.split(","), path)
    places: dict[str, str] = {}
    for line in mounts.splitlines():
        _, place, kind, options, *_ = line.split()
        if kind == "cgroup":
            places |= dict.fromkeys(options.split(","), place)
        elif kind == "cgroup2":
            places[""] = place
    name = _ACCOUNTS if _ACCOUNTS in paths else ""
    if name not in places or paths.get(name, "/") == "/":
        return None
    return places[name] + paths[name]
