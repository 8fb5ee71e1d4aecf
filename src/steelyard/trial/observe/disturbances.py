"""What else happened on the machines of a trial: steal, foreign processes, throttling, swapping.

The rules are declared and blind: they read machines, never a response or which system was measured.
What they find is a warning about the trial, which is measured nevertheless and never dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.host import Host
from steelyard.records.warnings import TrialWarning, WarningKind
from steelyard.trial.observe.window import WindowSamples

MOST_STEAL = 0.01
MOST_FOREIGN = 0.01
"""Shares of all processor time in the window: what a hypervisor took, what others computed."""
_LEAST_FOREIGN_NS = 50_000_000
"""Five ticks: both sides are counted in ticks of 10 ms, so that a short window proves nothing."""
OURS = "steelyard"
"""The process tree of everything that Steelyard runs on a machine."""

_COMPUTING = ("user", "nice")
_KERNEL = ("system", "irq", "softirq")
_CPU = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_OOM = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)
_REBUILDING = re.compile(r"(resync|recovery|check|reshape) *=")
_THROTTLED = "/sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count"


@dataclass(frozen=True)
class Incidents:
    """Counters of a machine that rest in an undisturbed trial; ``None`` where it has none."""

    oom_kills: int | None
    throttled: int | None
    rebuilding: bool


def incidents_of(host: Host) -> Incidents:
    """Reads them now; a machine that lacks one is not thereby disturbed."""
    oom = _OOM.search(_read(host, "/proc/vmstat"))
    throttled = _read(host, _THROTTLED).strip()
    return Incidents(
        oom_kills=int(oom[1]) if oom else None,
        throttled=int(throttled) if throttled.isdigit() else None,
        rebuilding=_REBUILDING.search(_read(host, "/proc/mdstat")) is not None,
    )


def _read(host: Host, path: str) -> str:
    try:
        return host.read_file(path)
    except AgentRefusal:
        return ""


def incident_warnings(machine: str, before: Incidents, after: Incidents) -> Iterator[TrialWarning]:
    """What happened on ``machine`` between two readings."""
    if _grew(before.oom_kills, after.oom_kills):
        yield _warning(WarningKind.OUT_OF_MEMORY, machine)
    if _grew(before.throttled, after.throttled):
        yield _warning(WarningKind.THROTTLED, machine)
    if before.rebuilding or after.rebuilding:
        yield _warning(WarningKind.RAID_REBUILDING, machine)


def sample_warnings(
    machine: str, window: WindowSamples, *, guest: bool = False, apart: tuple[str, ...] = ()
) -> Iterator[TrialWarning]:
    """What the samples of a machine in the window show of load that is not of the trial.

    ``apart`` are columns of what is ours as well, besides the process tree. Time stolen from a
    guest is a cost of the system under test, not of a foreign process.
    """
    whole = _total(window, [f"cpu.{name}_ns" for name in _CPU])
    if not whole:
        return
    steal = (window.rate_per_s("cpu.steal_ns") or 0.0) / whole
    if steal > MOST_STEAL:
        kind = WarningKind.GUEST_STEAL if guest else WarningKind.STEAL
        yield _warning(kind, machine, steal_ratio=steal)
    foreign = _foreign(window, whole, (f"process.{OURS}", *apart))
    if foreign > MOST_FOREIGN:
        yield _warning(WarningKind.FOREIGN_CPU, machine, cpu_ratio=foreign)
    if window.rate_per_s("memory.swap_in_pages"):
        yield _warning(WarningKind.SWAPPED, machine)


def _foreign(window: WindowSamples, whole: float, ours: tuple[str, ...]) -> float:
    """Share of the time that programs which are not ours computed; 0 when it is not known.

    Only their own computing: what the kernel does on behalf of ours (writing back, receiving) is
    booked on whoever runs at that moment. And no more than all that was done by anyone but ours:
    the kernel tells a process's whole time exactly, but how much of it was its own computing by a
    few ticks, so that ours seem to compute less than they did.
    """
    user = [f"{each}.user_ns" for each in ours]
    computing = _of_others(window, _COMPUTING, user)
    system = [f"{each}.system_ns" for each in ours]
    anything = _of_others(window, (*_COMPUTING, *_KERNEL), user + system)
    if computing is None or anything is None:
        return 0.0
    foreign = min(computing, anything)
    return foreign / whole if foreign * window.span_s >= _LEAST_FOREIGN_NS else 0.0


def _of_others(window: WindowSamples, everybody: tuple[str, ...], ours: list[str]) -> float | None:
    """Time of all less that of ours, in ns a second."""
    total = _total(window, [f"cpu.{name}_ns" for name in everybody])
    own = _total(window, ours)
    return None if total is None or own is None else total - own


def _total(window: WindowSamples, columns: list[str]) -> float | None:
    rates = [window.rate_per_s(column) for column in columns]
    known = [rate for rate in rates if rate is not None]
    return sum(known) if len(known) == len(rates) else None


def _grew(before: int | None, after: int | None) -> bool:
    return before is not None and after is not None and after > before


def _warning(kind: WarningKind, machine: str, **figures: float) -> TrialWarning:
    return TrialWarning(kind=kind, figures={"machine": machine, **figures})
