"""What else happened on the machines of a trial: steal, foreign processes, throttling, swapping.

The rules are declared and blind: they read machines, never a response or which system was measured.
What they find is a warning about the trial, which is measured nevertheless and never dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.host import Host
from steelyard.records.warnings import TrialWarning, WarningKind
from steelyard.study.declared.setting import OFF
from steelyard.study.model import Level
from steelyard.trial.observe.devices import STORE
from steelyard.trial.observe.network_queues import held_back
from steelyard.trial.observe.window import WindowSamples

MOST_STEAL = 0.01
MOST_FOREIGN = 0.01
"""Shares of all processor time in the window: what a hypervisor took, what others computed."""
_LEAST_FOREIGN_NS = 50_000_000
"""Five ticks: both sides are counted in ticks of 10 ms, so that a short window proves nothing."""
_MOST_FOREIGN_FAULTS_PER_S = 100
"""Pages that others read from a disk: at 0.1 ms each, 1 % of the time. Programs that start read
some, once."""
_MOST_FOREIGN_BYTES_PER_S = 10e6
"""Of the disk of the service: a tenth of what one that turns can write."""
_WRITTEN_FOR_A_BYTE = 10
"""A small file that is synced is written with its journal: up to so many times its bytes, which
the kernel charges to no process."""
_MOST_RETRANSMITS = 0.001
"""Of the packets sent: bit errors lose fewer."""
_LEAST_RETRANSMITS = 10
_OF_A_LINE = frozenset({WarningKind.LINK_THROTTLED, WarningKind.RETRANSMITS})
OURS = "steelyard"
"""The process tree of everything that Steelyard runs on a machine."""

_COMPUTING = ("user", "nice")
_KERNEL = ("system", "irq", "softirq")
_CPU = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
_OOM = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)
_SENT = re.compile(r"net\..+\.tx_packets")
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


def without_effects_of_a_line(
    found: Iterable[TrialWarning], settings: Mapping[str, Level]
) -> Iterator[TrialWarning]:
    """Those that say more than that the line of the system is as the study declares it.

    A rate holds packets back, and what does not fit into its queue is sent again, as what is lost.
    """
    shaped = any(name.startswith("line.") and level != OFF for name, level in settings.items())
    for warning in found:
        if not shaped or warning.kind not in _OF_A_LINE:
            yield warning


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
        yield _warning(kind, machine, steal_ratio=steal, taken_cores=steal * whole / 1e9)
    foreign = _foreign(window, whole, (f"process.{OURS}", *apart))
    if foreign > MOST_FOREIGN:
        taken = {"cpu_ratio": foreign, "taken_cores": foreign * whole / 1e9}
        yield _warning(WarningKind.FOREIGN_CPU, machine, **taken, **_waited(window))
    if not apart:  # of what is beside our processes only the computing is known
        yield from _foreign_traffic(machine, window)
    retransmits = _retransmits(window)
    if retransmits > _MOST_RETRANSMITS:
        yield _warning(WarningKind.RETRANSMITS, machine, segment_ratio=retransmits)
    held = held_back(window)
    if held is not None:
        yield TrialWarning(kind=WarningKind.LINK_THROTTLED, figures={"machine": machine, **held})
    if window.rate_per_s("memory.swap_in_pages"):
        yield _warning(WarningKind.SWAPPED, machine)


def _waited(window: WindowSamples) -> dict[str, float]:
    """How long ours waited for a processor, all threads together, where the kernel tells."""
    waited = window.rate_per_s(f"process.{OURS}.run_delay_ns")
    return {} if waited is None else {"waited_cores": waited / 1e9}


def _foreign_traffic(machine: str, window: WindowSamples) -> Iterator[TrialWarning]:
    """What others read and wrote: pages of their memory, and on the disk of the service."""
    faults = _beyond(window, "memory.major_faults", f"process.{OURS}.major_faults")
    if faults > _MOST_FOREIGN_FAULTS_PER_S:
        yield _warning(WarningKind.FOREIGN_PAGING, machine, faults_per_s=faults)
    moved = _beyond(window, f"disk.{STORE}.read_bytes", f"process.{OURS}.read_bytes") + _beyond(
        window, f"disk.{STORE}.write_bytes", f"process.{OURS}.write_bytes", _WRITTEN_FOR_A_BYTE
    )
    if moved > _MOST_FOREIGN_BYTES_PER_S:
        yield _warning(WarningKind.FOREIGN_DISK, machine, bytes_per_s=moved)


def _beyond(window: WindowSamples, everybody: str, ours: str, times: int = 1) -> float:
    """A rate of all less that of ours; 0 when one of them is not known."""
    whole, own = window.rate_per_s(everybody), window.rate_per_s(ours)
    return 0.0 if whole is None or own is None else max(0.0, whole - times * own)


def _retransmits(window: WindowSamples) -> float:
    """Segments of open connections that were lost, of all that devices sent; 0 of few.

    Lost are those sent again, less those of which the receiver says that it had them: a busy
    machine answers late, and what it was sent is then sent again though no line lost it.
    """
    late = window.rate_per_s("tcp.dsacks_received") or 0.0
    lost = _beyond(window, "tcp.retransmits", "tcp.syn_retransmits") - late
    devices = [name for name in window.counters.columns if _SENT.fullmatch(name)]
    sent = _total(window, devices)
    if not sent or lost * window.span_s < _LEAST_RETRANSMITS:
        return 0.0
    return lost / sent


def _foreign(window: WindowSamples, whole: float, ours: tuple[str, ...]) -> float:
    """Share of the time that programs which are not ours computed; 0 when it is not known.

    Only their own computing: what the kernel does on behalf of ours (writing back, receiving) is
    booked on whoever runs at that moment. And no more than all that was done by anyone but ours:
    the kernel tells a process's whole time exactly, but how much of it was its own computing by a
    few ticks, so that ours seem to compute less than they did.
    """
    computing = _total(window, [f"cpu.{name}_ns" for name in _COMPUTING])
    anything = _total(window, [f"cpu.{name}_ns" for name in (*_COMPUTING, *_KERNEL)])
    own = _total(window, [f"{each}.user_ns" for each in ours])
    spent = [_spent(window, each) for each in ours]
    if computing is None or anything is None or own is None or None in spent:
        return 0.0
    foreign = min(computing - own, anything - sum(each for each in spent if each is not None))
    return foreign / whole if foreign * window.span_s >= _LEAST_FOREIGN_NS else 0.0


def _spent(window: WindowSamples, group: str) -> float | None:
    """All time of a group, to the nanosecond where the kernel tells it so.

    Ticks are rounded down for each process, so that of a server that starts many of them in a
    window a fifth of the machine seemed to be used by others.
    """
    exact = window.rate_per_s(f"{group}.cpu_ns")
    if exact is not None:
        return exact
    return _total(window, [f"{group}.user_ns", f"{group}.system_ns"])


def _total(window: WindowSamples, columns: list[str]) -> float | None:
    rates = [window.rate_per_s(column) for column in columns]
    known = [rate for rate in rates if rate is not None]
    return sum(known) if len(known) == len(rates) else None


def _grew(before: int | None, after: int | None) -> bool:
    return before is not None and after is not None and after > before


def _warning(kind: WarningKind, machine: str, **figures: float) -> TrialWarning:
    return TrialWarning(kind=kind, figures={"machine": machine, **figures})
