"""Of which kind a machine is: what makes a mean over several one of something else."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.host import Host

Kind = tuple[str, ...]
"""Architecture, model and number of the processors, as the kernel tells them."""
_ARCHITECTURE = "/proc/sys/kernel/arch"
_UNTOLD = "not told"


def kind_of(host: Host) -> Kind:
    """Kernels before 6.1 do not tell their architecture, and those of Arm no model."""
    facts = host.facts()
    told = (_architecture(host), facts.get("cpu.model"), facts.get("cpu.count"))
    return tuple(each or _UNTOLD for each in told)


def _architecture(host: Host) -> str | None:
    try:
        return host.read_file(_ARCHITECTURE).strip()
    except AgentRefusal:
        return None


def kinds_of(machines: Iterable[tuple[str, Kind]]) -> dict[Kind, list[str]]:
    """The machines of each kind, in their order."""
    found: dict[Kind, list[str]] = {}
    for name, kind in machines:
        found.setdefault(kind, []).append(name)
    return found
