"""What this machine is, and what would disturb a measurement on it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from steelyard.cli.doctor.readings import Facts
from steelyard.cli.doctor.rules import Check, rule_checks

_BUSY = 0.5
"""Processors' worth of other work: from here on it is felt in every trial."""
_HYPERVISORS = "qemu|kvm|vmware|virtualbox|innotek|xen|bochs|parallels|bhyve|amazon|virtual machine"
"""Where a guest's processor has no flag (Arm), its vendor or product names the hypervisor."""


def machine_checks(facts: Facts) -> Iterator[Check]:
    """By every rule, then what lies below the machine, its load and its tools."""
    yield from rule_checks(facts)
    yield _virtualization(facts)
    load, count = facts.get("load.average"), facts.get("cpu.count")
    if load is not None:
        yield load_check(float(load), None if count is None else int(count))
    for name, version in facts.items():
        if name.startswith("tool.") and version is not None:
            yield _tool(name.removeprefix("tool."), version, facts)


def _tool(name: str, version: str, facts: Facts) -> Check:
    if not version.startswith("Docker ") or facts.get("docker.server") is not None:
        return Check(name, "good", version)
    seen = f"{version}; its server does not answer"
    remedy = "systemctl start docker, or join the group docker"
    return Check(name, "note", seen, "systems on `docker` cannot be started", remedy)


def _virtualization(facts: Facts) -> Check:
    advice = "others on the same host may steal time; steal is sampled and shown"
    told = virtual(facts)
    return Check("virtualisation", "note" if told else "good", told or "none seen", advice)


def virtual(facts: Facts) -> str | None:
    """The hypervisor below the machine and the container around it, as far as they tell."""
    names = [facts.get(f"virtualization.{key}") for key in ("hypervisor", "vendor", "product")]
    named = " ".join(name for name in names if name)
    named = named or facts.get("virtualization.told_by_processor") or ""
    marked = facts.get("virtualization.guest_flag") == "true"
    known = re.search(_HYPERVISORS, named, re.IGNORECASE)
    found = []
    if marked or known:
        found.append(f"a guest ({named})" if named else "a guest of a hypervisor without a name")
    if container := facts.get("virtualization.container"):
        found.append(f"a container ({container})")
    return " and ".join(found) or None


def load_check(load: float, processors: int | None) -> Check:
    """The load average of the last minute, held against the processors that bear it."""
    advice = "other programs take part in every trial: end them, or wait until they have ended"
    count = processors or 1
    seen = f"{load:.1f} on average in the last minute, {load / count:.1f} for each of {count}"
    seen += " processors" if count > 1 else " processor"
    return Check("load", "good" if load < _BUSY else "note", seen, advice)
