"""Where it was measured: what a machine is, in rows that a reader asks for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from steelyard.judge.findings import RunFindings
from steelyard.judge.validity.findings import MachineFinding
from steelyard.report.figures import listed
from steelyard.report.view import NONE, Table
from steelyard.report.vocabulary import compared_all
from steelyard.units import format_bytes

_SECTOR_BYTES = 512
_MACHINES = {
    "system": "Machine",
    "host": "Host",
    "generator": "Load generator",
    "local": "Controller",
}
_ACCELERATORS = {"tcg": "TCG: emulated, without KVM", "kvm": "KVM"}
_DISK = re.compile(r"disk\.([^.]+)\.size_sectors")
_PROGRAM = re.compile(r"(?!kernel\.)(.+)\.(version|image\.digest|image\.id)")
_NO_LIMIT = "max"

Facts = Mapping[str, str]


def environment_table(run: RunFindings) -> Table:
    """A column for each machine; rows that no machine knows are left out."""
    columns = [dict(_rows(each.facts)) for each in run.machines]
    names = list(dict.fromkeys(name for column in columns for name in column))
    rows = [(name, *(column.get(name, NONE) for column in columns)) for name in names]
    if rows:
        rows.append(("Steelyard", *(run.measured_by or run.tool_version for _ in columns)))
    head = ("", *(_head(each, run) for each in run.machines))
    return Table("Machines and versions", head, tuple(rows))


def _head(found: MachineFinding, run: RunFindings) -> str:
    part, _, number = found.machine.partition(".")
    title = _MACHINES.get(part, part) + (f" {number}" if number else "")
    title += f" on {found.on}," if found.on else ""
    if set(found.systems) == set(run.systems) and len(run.systems) > 1:
        return f"{title} of all {compared_all(run)}"
    return f"{title} of {listed(found.systems)}"


def _rows(facts: Facts) -> Iterator[tuple[str, str]]:
    accelerators = [value for fact, value in facts.items() if fact.endswith("accelerator")]
    told = {
        "Processor": facts.get("cpu.model", ""),
        "Cores": facts.get("cpu.count", "") + _quota(facts),
        "Memory": _bytes(facts.get("memory.total_bytes", "")) + _memory_limit(facts),
        "Disks": "; ".join(_disks(facts)),
        "Kernel": facts.get("kernel.release", ""),
        "Distribution": facts.get("os.name", ""),
        "Virtualisation": ", ".join(_virtualisation(facts)),
        "Accelerator": ", ".join(_ACCELERATORS.get(each, each) for each in accelerators),
        "Platform": facts.get("system.platform", ""),
        "Reset before a trial": facts.get("system.reset", ""),
    }
    yield from ((name, text) for name, text in told.items() if text)
    for fact, value in facts.items():
        if (program := _PROGRAM.fullmatch(fact)) is not None:
            yield _program(program), value


def _program(found: re.Match[str]) -> str:
    name = {"engine": "Load engine", "service": "Service"}.get(found[1], found[1])
    return name if found[2] == "version" else f"{name} ({found[2].removeprefix('image.')})"


def _quota(facts: Facts) -> str:
    quota, period = facts.get("cgroup.cpu_quota_us"), facts.get("cgroup.cpu_period_us")
    if quota is None or period is None or not (quota.isdigit() and period.isdigit()):
        return ""
    return f", limited to {int(quota) / int(period):g}"


def _memory_limit(facts: Facts) -> str:
    limit = facts.get("cgroup.memory_bytes", _NO_LIMIT)
    return f", limited to {_bytes(limit)}" if limit.isdigit() else ""


def _bytes(value: str) -> str:
    return format_bytes(int(value)) if value.isdigit() else value


def _disks(facts: Facts) -> Iterator[str]:
    for fact, sectors in facts.items():
        found = _DISK.fullmatch(fact)
        if found is None:
            continue
        name = found[1]
        size = format_bytes(_SECTOR_BYTES * int(sectors)) if sectors.isdigit() else sectors
        model = facts.get(f"disk.{name}.model")
        yield " ".join(filter(None, (name, model, size)))


def _virtualisation(facts: Facts) -> Iterator[str]:
    if facts.get("virtualization.guest_flag") == "true":
        named = facts.get("virtualization.hypervisor") or facts.get("virtualization.product")
        yield f"virtual machine ({named})" if named else "virtual machine"
    if container := facts.get("virtualization.container"):
        yield f"container ({container})"
