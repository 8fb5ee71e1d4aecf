"""Processors by number, as systems name those that they run on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.study.file.complaints import Complaints
from steelyard.study.file.source import Where
from steelyard.study.model import Level, SystemSpec
from steelyard.study.platform.settings import SharedSettings
from steelyard.study.resolve.settings import Factors

_MOST = 8191
"""The last number that a kernel of Linux can be built for."""


def check_processors(
    systems: Mapping[str, SystemSpec], factors: Factors, complaints: Complaints
) -> None:
    """A range of processors goes up, and ends where a kernel can have the last."""
    found = [named for system in systems.values() for named in _named(system)]
    varied: list[tuple[Where, Level]] = [
        (("factors", name), level)
        for name in ("system.cpuset", "system.vcpu_cpus")
        for level in factors.get(name, ())
    ]
    for where, cpuset in [*found, *varied]:
        for part in str(cpuset).split(","):
            _check(part, where, complaints)


def _named(system: SystemSpec) -> Iterator[tuple[Where, Level]]:
    own, where = SharedSettings.of(system.settings), ("systems", system.name)
    confined = None if own.confine is None else own.confine.cpuset
    named: dict[Where, str | None] = {
        (*where, "cpuset"): own.cpuset,
        (*where, "vcpu_cpus"): own.vcpu_cpus,
        (*where, "confine", "cpuset"): confined,
    }
    yield from ((place, cpuset) for place, cpuset in named.items() if cpuset is not None)


def _check(part: str, where: Where, complaints: Complaints) -> None:
    first, _, last = part.partition("-")
    if int(last or first) < int(first):
        hint = f"write `{last}-{first}`"
        complaints.add(where, f"`{part}` is a range of processors that goes down", hint)
    elif int(last or first) > _MOST:
        hint = f"the last that a kernel can have is {_MOST}"
        complaints.add(where, f"`{part}` names a processor that no machine has", hint)
