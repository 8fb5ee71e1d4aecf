"""Where a process stands in the cgroups of its machine."""

from __future__ import annotations

_ACCOUNTS = "cpuacct"


def cgroup_of(told: str) -> str:
    """The path within the hierarchy, from ``/proc/PID/cgroup``.

    Where version 1 and 2 are mounted side by side, the one that accounts processor time.
    """
    unified = "/"
    for line in told.splitlines():
        _, controllers, path = line.split(":", 2)
        if _ACCOUNTS in controllers.split(","):
            return path
        if not controllers:
            unified = path
    return unified
