"""What this machine is, and what would disturb a measurement on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

_BUSY = 0.5
"""Processors' worth of other work: from here on it is felt in every trial."""
_HYPERVISORS = "qemu|kvm|vmware|virtualbox|innotek|xen|bochs|parallels|bhyve|amazon|virtual machine"
"""Where a guest's processor has no flag (Arm), its vendor or product names the hypervisor."""

Facts = dict[str, str | None]
Grade = Literal["good", "note", "bad"]


@dataclass(frozen=True)
class Check:
    """One thing that was looked at; ``advice`` says what to do unless it is good."""

    name: str
    grade: Grade
    seen: str
    advice: str | None = None


def machine_checks(facts: Facts) -> Iterator[Check]:
    """One check of each fact that matters."""
    for look in _LOOKS:
        yield look(facts)


def _cores(facts: Facts) -> Check:
    count = facts.get("cpu.count")
    enough = count is not None and int(count) >= 2
    advice = (
        "load and service share one processor: only compare systems, believe no absolute figure"
    )
    return Check("processors", "good" if enough else "note", count or "not told", advice)


def _governor(facts: Facts) -> Check:
    governor = facts.get("cpu.governor")
    if governor is None:
        return Check("CPU governor", "note", "not told", "a guest cannot see it; look on the host")
    advice = "it changes the clock with the load; `performance` makes trials alike"
    return Check("CPU governor", "good" if governor == "performance" else "note", governor, advice)


def _clocksource(facts: Facts) -> Check:
    source = facts.get("clocksource")
    good = source in {"tsc", "kvm-clock", "arch_sys_counter"}
    advice = "reading this clock is slow, so latencies below some µs are those of the clock"
    return Check("clock source", "good" if good else "note", source or "not told", advice)


def _virtualization(facts: Facts) -> Check:
    advice = "others on the same host may steal time; steal is sampled and shown"
    told = virtual(facts)
    return Check("virtualisation", "note" if told else "good", told or "none seen", advice)


def virtual(facts: Facts) -> str | None:
    """The hypervisor below the machine and the container around it, as far as they tell."""
    names = [facts.get(f"virtualization.{key}") for key in ("hypervisor", "vendor", "product")]
    named = " ".join(name for name in names if name)
    marked = facts.get("virtualization.guest_flag") == "true"
    known = re.search(_HYPERVISORS, named, re.IGNORECASE)
    found = []
    if marked or known:
        found.append(f"a guest ({named})" if named else "a guest of a hypervisor without a name")
    if container := facts.get("virtualization.container"):
        found.append(f"a container ({container})")
    return " and ".join(found) or None


def _files(facts: Facts) -> Check:
    limit = facts.get("limit.open_files")
    enough = limit is not None and (limit == "unlimited" or int(limit) >= 4096)
    advice = "more than this many users need a larger `ulimit -n`"
    return Check("open files", "good" if enough else "note", limit or "not told", advice)


_LOOKS: tuple[Callable[[Facts], Check], ...] = (
    _cores,
    _governor,
    _clocksource,
    _virtualization,
    _files,
)


def load_check(load: float, processors: int | None) -> Check:
    """The load average of the last minute, held against the processors that bear it."""
    advice = "other programs take part in every trial: end them, or wait until they have ended"
    count = processors or 1
    seen = f"{load:.1f} on average in the last minute, {load / count:.1f} for each of {count}"
    seen += " processors" if count > 1 else " processor"
    return Check("load", "good" if load < _BUSY else "note", seen, advice)
