"""Waits before a trial: as long as the study says, or until the machine has come to rest."""

from __future__ import annotations

import time

from steelyard.hosts.host import Host
from steelyard.records.warnings import WarningKind
from steelyard.trial.attempt.attempt import Attempt

IDLE_SHARE = 0.97
"""A machine is idle when its processors were that idle, or waited for nothing, for a second."""
_LOOK_EVERY_S = 1.0


def wait_until_idle(attempt: Attempt) -> None:
    """Pauses for the whole time, or at most that long when the study says ``until idle``.

    A machine that is not idle by then is measured nevertheless, with a warning.
    """
    trials = attempt.session.study.trials
    if not trials.settle_s:
        return
    with attempt.session.interrupt.waiting():
        if not trials.settle_until_idle:
            time.sleep(trials.settle_s)
            return
        deadline = time.monotonic() + trials.settle_s
        hosts = {id(each.host): each.host for each in attempt.instances}
        hosts[id(attempt.host_machine())] = attempt.host_machine()
        busy = [host.name for host in hosts.values() if not _rests(host, deadline)]
    if busy:
        attempt.warn(WarningKind.NOT_IDLE, machines=", ".join(busy), waited_s=trials.settle_s)


def _rests(host: Host, deadline: float) -> bool:
    before = cpu_times(host.read_file("/proc/stat"))
    while time.monotonic() + _LOOK_EVERY_S <= deadline:
        time.sleep(_LOOK_EVERY_S)
        after = cpu_times(host.read_file("/proc/stat"))
        if idle_share(before, after) >= IDLE_SHARE:
            return True
        before = after
    return False


def cpu_times(stat: str) -> tuple[int, int]:
    """Idle and whole time of all processors, in ticks (proc(5), ``/proc/stat``).

    Waiting for a disk is no rest.
    """
    ticks = [int(word) for word in stat.splitlines()[0].split()[1:9]]
    return ticks[3], sum(ticks)


def idle_share(before: tuple[int, int], after: tuple[int, int]) -> float:
    """Share of the time between two readings in which processors idled; 0 without any time."""
    whole = after[1] - before[1]
    return (after[0] - before[0]) / whole if whole > 0 else 0.0
