"""Waits before a trial: as long as the study says, or until the machine has come to rest."""

from __future__ import annotations

import time
from collections.abc import Sequence

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
        hosts = [*(each.host for each in attempt.instances), attempt.host_machine()]
        busy = not_at_rest(hosts, trials.settle_s)
    if busy:
        attempt.warn(WarningKind.NOT_IDLE, machines=", ".join(busy), waited_s=trials.settle_s)


def not_at_rest(hosts: Sequence[Host], at_most_s: float) -> list[str]:
    """Names of the machines that have not come to rest in this time.

    All are looked at in the same seconds, a machine that carries several systems once; each at
    least once, for the whole time where that is less than a second.
    """
    every_s = min(_LOOK_EVERY_S, at_most_s)
    by_name = {host.name: host for host in hosts}
    before = {name: cpu_times(host.read_file("/proc/stat")) for name, host in by_name.items()}
    for _ in range(int(at_most_s / every_s)):
        time.sleep(every_s)
        after = {name: cpu_times(by_name[name].read_file("/proc/stat")) for name in before}
        before = {
            name: times
            for name, times in after.items()
            if idle_share(before[name], times) < IDLE_SHARE
        }
        if not before:
            break
    return list(before)


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
