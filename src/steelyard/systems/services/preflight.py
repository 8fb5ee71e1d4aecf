"""What a service or a tool needs of its machine or image, before either is started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.study.declared.conditions import holds
from steelyard.study.lookup import service_of
from steelyard.study.model import ServiceSpec
from steelyard.study.service.entry import Service
from steelyard.systems.images.recipe import names, shipped
from steelyard.systems.services.prepare import certified
from steelyard.systems.services.site import look
from steelyard.systems.services.start import part_spec

_ENGINE = "@engine"
_LISTENING = "0A"
_READS = 3
"""The kernel may leave a line out while other sockets come and go: it reads on by count."""


def services_within(spec: ServiceSpec) -> Iterator[tuple[ServiceSpec, Service]]:
    """The services that are started for one: itself, or its parts."""
    entry = service_of(spec)
    if not entry.started:
        return
    yield spec, entry
    for process in entry.processes.values():
        if holds(process.when, spec.settings):
            yield from services_within(part_spec(process, spec))


def refuse_what_cannot_start(host: Host, spec: ServiceSpec, *, own_network: bool) -> None:
    """Looks for programs, root, and the ports that a study names.

    Raises:
        SystemFailure: ``tool_missing``, ``no_rights``, ``name_taken``.
    """
    for each, entry in services_within(spec):
        look(host, entry, each.use, certified=certified(entry, each))
    ports = set() if own_network else _named_ports(spec)
    for port in sorted(ports & _listening(host) if ports else ()):
        message = f"on {host.name}: port {port} of {spec.use} is in use"
        raise SystemFailure("name_taken", message, "leave `port` out: then a free one is taken")


def _named_ports(spec: ServiceSpec) -> set[int]:
    entry = service_of(spec)
    if not entry.started:
        return set()
    ports = (spec.settings.get(name) for name, s in entry.settings.items() if s.kind == "port")
    return {port for port in ports if isinstance(port, int) and port}


def _listening(host: Host) -> set[int]:
    """The TCP ports on which something listens (proc(5), ``/proc/net/tcp``)."""
    ports = set()
    for path in ("/proc/net/tcp", "/proc/net/tcp6") * _READS:
        if not host.path_facts(path).exists:
            continue
        rows = (line.split() for line in host.read_file(path).splitlines()[1:])
        ports |= {int(row[1].rpartition(":")[2], 16) for row in rows if row[3] == _LISTENING}
    return ports


def refuse_in_empty_image(
    use: str,
    requires: Sequence[str],
    command: Sequence[str],
    packages: Mapping[str, Sequence[str]],
) -> None:
    """Refuses what needs a program where the image holds only the engine.

    Raises:
        SystemFailure: ``image_missing``, with the catalogue's images that have the packages.
    """
    wanted = requires or [word for word in command[:1] if word != _ENGINE]
    if not wanted:
        return
    asked = {package for words in packages.values() for package in words}
    fit = max(names(), key=lambda name: len(asked & set(shipped(name).recipe.packages)))
    hint = "give the system an `image` that has it"
    if asked & set(shipped(fit).recipe.packages):
        hint = f"write `image: {fit}`, after `steelyard image build {fit} --kind container`"
    message = f"{use} needs {', '.join(wanted)}, and a system without `image` holds only the engine"
    raise SystemFailure("image_missing", message, hint)
