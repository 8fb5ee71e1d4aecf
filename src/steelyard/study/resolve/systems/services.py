"""The server under test of a system: its file found, its settings read, contradictions named."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from steelyard.study.file.complaints import Complaints
from steelyard.study.file.grammar import ServicePart
from steelyard.study.file.source import Where
from steelyard.study.lookup import SERVICE_FILES, known_service
from steelyard.study.model import ServiceSpec, SystemSpec, TrialsSpec, WorkloadSpec
from steelyard.study.platform.settings import SharedSettings as PlatformSettings
from steelyard.study.resolve.entries import named_entry
from steelyard.study.resolve.settings import Factors, single_settings
from steelyard.study.service.entry import SharedSettings


def resolve_service(part: ServicePart, where: Where, complaints: Complaints) -> ServiceSpec:
    """One service with every setting of its file."""
    named = named_entry(SERVICE_FILES, part.use, (*where, "use"), complaints)
    if named is None:
        return ServiceSpec(use=part.use)
    entry, text = named
    values = single_settings(
        part.further(),
        entry.settings,
        where,
        complaints,
        of=("service", part.use),
        instead="write a second system with the other value",
    )
    own = SharedSettings.of(values)
    if own.store == "none" and own.sync not in (None, "none"):
        hint = "add `store: maildir`, or take `sync` out"
        complaints.add((*where, "sync"), "`sync` needs a `store`", hint)
    if part.ready_timeout is not None and not entry.started:
        message = f"`{part.use}` runs already: nothing waits for it to be ready"
        complaints.add((*where, "ready_timeout"), message, "take it out", at_key=True)
    return ServiceSpec(use=part.use, settings=values, text=text, ready_timeout_s=part.ready_timeout)


def check_resets(
    systems: Mapping[str, SystemSpec], trials: TrialsSpec, complaints: Complaints
) -> None:
    """What is left alone cannot be reset; a study that asks for more than ``service`` is wrong."""
    for name, system in systems.items():
        entry = None if system.service is None else known_service(system.service)
        if entry is not None and not entry.started and trials.reset != "service":
            message = f"`{name}` cannot be reset: its service is never started, stopped or changed"
            hint = "write `reset: service`; every record then says that nothing was reset"
            complaints.add(("trials", "reset"), message, hint)


_ONE_NETWORK = ("native", "ssh")
"""Platforms whose systems are on the network of their machine, unless one says otherwise."""
_FREE_PORT = "take it out: then a free one is taken"
_Ports = list[tuple[Where, int]]
"""Named ports, each with its place in the file."""


def check_ports(
    systems: Mapping[str, SystemSpec],
    workloads: Mapping[str, WorkloadSpec],
    factors: Factors,
    trials: TrialsSpec,
    complaints: Complaints,
) -> None:
    """A port of a machine is for one server: of one part, one instance, one system at a time."""
    machines: dict[tuple[object, ...], _Ports] = defaultdict(list)
    for name, system in systems.items():
        counts = [int(n) for n in factors.get("system.instances", (system.instances,))]
        for spec, where in placed_services(system, workloads, complaints):
            named = [((*where, key), port) for key, port in _named_ports(spec)]
            _complain_of_twice(named, "more than one key of it names port {}", complaints)
            if not _shares_a_network(system):
                continue
            machines[system.host_machine, system.settings.get("host")] += named
            for place, port in named if max(counts) > 1 else ():
                message = f"all instances of `{name}` would listen on port {port}"
                complaints.add(place, message, _FREE_PORT)
    for named in machines.values() if trials.systems_stay_up else ():
        message = "systems that stay up side by side cannot all listen on port {}"
        _complain_of_twice(named, message, complaints)


def _complain_of_twice(named: _Ports, message: str, complaints: Complaints) -> None:
    seen: set[int] = set()
    for place, port in named:
        if port in seen:
            complaints.add(place, message.format(port), _FREE_PORT)
        seen.add(port)


def placed_services(
    system: SystemSpec, workloads: Mapping[str, WorkloadSpec], complaints: Complaints
) -> Iterator[tuple[ServiceSpec, Where]]:
    """All that a system may start, each with its place in the file."""
    if system.service is not None:
        yield system.service, ("systems", system.name, "service")
    single = ("workload",) in complaints.source.keys
    for name, workload in workloads.items():
        if workload.service is not None:
            yield workload.service, (*(("workload",) if single else ("workloads", name)), "service")


def _named_ports(spec: ServiceSpec) -> Iterator[tuple[str, int]]:
    entry = known_service(spec)
    if entry is not None and entry.started:
        for key, setting in entry.settings.items():
            port = spec.settings.get(key)
            if setting.kind == "port" and isinstance(port, int) and port:
                yield key, port


def _shares_a_network(system: SystemSpec) -> bool:
    network = PlatformSettings.of(system.settings).network
    return system.platform in _ONE_NETWORK and network != "lab"
