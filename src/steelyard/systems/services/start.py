"""From a service of a study to one that is ready, on any machine with an agent."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Failure, Started
from steelyard.errors import EngineError
from steelyard.hosts.digests import digests_of
from steelyard.hosts.host import Host
from steelyard.hosts.site import filled
from steelyard.hosts.undo.log import UndoLog
from steelyard.study import catalogue
from steelyard.study.declared.conditions import holds
from steelyard.study.declared.value import defaults_of, read_value
from steelyard.study.lookup import ready_timeout_s, service_of
from steelyard.study.model import ServiceSpec
from steelyard.study.service.entry import Process, Service, SharedSettings
from steelyard.systems.services import certificate, ports
from steelyard.systems.services.alias import SOCKET_PATH_BYTES, Alias, shortened
from steelyard.systems.services.command import command_line
from steelyard.systems.services.external import reach
from steelyard.systems.services.prepare import Prepared, certified, prepare
from steelyard.systems.services.ready import FIRST, await_ready
from steelyard.systems.services.running import STOP_GRACE_S, RunningService, stop
from steelyard.systems.services.site import accounts, look
from steelyard.systems.services.values import named_ports, values_for, wanted_ports
from steelyard.systems.services.version import version_of

_LIST_S = 20.0


def start(
    host: Host,
    spec: ServiceSpec,
    folder: str,
    name: str,
    *,
    address: str = "127.0.0.1",
    data: str | None = None,
    study: str = "",
    undo: UndoLog | None = None,
    enter: tuple[str, ...] = (),
) -> RunningService:
    """The service on ``host``, ready, with ``folder`` for its files and ``data`` for its data.

    ``address`` is where it listens: an IP address of that machine. ``data`` is a folder on another
    disk, or below ``folder`` unless it is said. ``study`` is the folder of the study file, on the
    controller's machine. ``undo`` takes the inverse of what has to be made
    outside of them: a short name for a folder whose own is too long for unix sockets. ``enter`` are
    words that go before those of the service, such as those that put it into a control group.

    Raises:
        AgentRefusal: it could not be started, or was not ready in time; typed.
        SystemFailure: something is missing there, or somebody has to act before it can start.
    """
    entry = service_of(spec)
    if not entry.started:
        return reach(host, spec, name)
    begun = _Start(host, spec, entry, folder, name, address, data, study, undo, enter)
    with ExitStack() as failed:
        running = replace(begun, parts=_start_parts(begun, failed)).go(failed)
        failed.pop_all()
        return running


def _start_parts(whole: _Start, failed: ExitStack) -> dict[str, RunningService]:
    parts = {}
    for part, process in whole.entry.processes.items():
        if holds(process.when, whole.spec.settings):
            folder, name = f"{whole.folder}/{part}", f"{whole.name}.{part}"
            spec = part_spec(process, whole.spec)
            started = start(
                whole.host,
                spec,
                folder,
                name,
                address=whole.address,
                study=whole.study,
                undo=whole.undo,
                enter=whole.enter,
            )
            failed.callback(stop, started)
            parts[part] = started
    return parts


def part_spec(process: Process, spec: ServiceSpec) -> ServiceSpec:
    """A part with its settings: as written, or taken over from the service it is a part of."""
    declared = catalogue.service(process.use).settings
    settings = defaults_of(declared)
    for name, written in process.settings.items():
        if isinstance(written, str) and written[:1] == "{" and written[-1:] == "}":
            settings[name] = spec.settings.get(written[1:-1])
        else:
            settings[name] = read_value(written, declared[name])
    return ServiceSpec(use=process.use, settings=settings, ready_timeout_s=spec.ready_timeout_s)


_ENGINE = "@engine"


@dataclass(frozen=True)
class _Start:
    """One start, after the parts that the service needs."""

    host: Host
    spec: ServiceSpec
    entry: Service
    folder: str
    name: str
    address: str
    data: str | None
    study: str
    undo: UndoLog | None
    enter: tuple[str, ...] = ()
    parts: Mapping[str, RunningService] = field(default_factory=dict)

    def go(self, failed: ExitStack) -> RunningService:
        self.host.make_directory(self.folder)
        prepared = self._prepared(self.folder, self.folder)
        alias = self._alias(prepared, failed)
        if alias is not None:
            prepared = self._prepared(alias.path, alias.sockets)
        version = version_of(prepared)
        self.host.make_directory(prepared.values["data"])
        prepare(prepared)
        words = prepared.site.resolved(command_line(self.spec, prepared.values))
        argv = self._entered(words)
        said = self.entry.ready in ("announced", "first line")
        started = self.host.start(
            self.name,
            argv,
            directory=self.folder,
            ready_timeout_s=ready_timeout_s(self.spec) if said else None,
        )
        failed.callback(self._end)
        listeners = await_ready(prepared, started, self.name, self.address)
        running = self._running(prepared, started, listeners, version)
        return replace(running, alias=alias)

    def _entered(self, words: list[str]) -> list[str]:
        """The command behind the words that enter groups: there no agent knows ``@engine``."""
        if not self.enter:
            return words
        first = self.host.engine if words[0] == _ENGINE else words[0]
        return [*self.enter, first, *words[1:]]

    def _alias(self, prepared: Prepared, failed: ExitStack) -> Alias | None:
        """A short name for the folder, if a socket of the service would not fit into it."""
        sockets = [filled(socket, prepared.values) for socket in self.entry.sockets]
        if all(len(socket.encode()) <= SOCKET_PATH_BYTES for socket in sockets):
            return None
        alias = shortened(self.host, self.folder, self.undo)
        failed.callback(alias.remove)
        return alias

    def _end(self) -> None:
        try:
            self.host.stop(self.name, grace_s=STOP_GRACE_S)
        except EngineError:
            return  # it has died with its agent

    def _prepared(self, folder: str, sockets: str) -> Prepared:
        """What is known before the start, with ``folder`` as the name of its folder."""
        secure = certified(self.entry, self.spec)
        site = look(self.host, self.entry, self.spec.use, certified=secure)
        given = {
            "folder": folder,
            "study": self.study,
            "sockets": sockets,
            "data": self.data or f"{folder}/data",
            "address": self.address,
            "threads": site.threads,
            **accounts(site, self.entry),
            **self._ports(),
            **{
                f"{part}_{protocol}": address
                for part, running in self.parts.items()
                for protocol, address in running.listeners.items()
            },
        }
        values = values_for(self.entry, self.spec, given)
        return Prepared(self.host, self.spec, self.entry, site, folder, values)

    def _ports(self) -> dict[str, str]:
        wanted, named = wanted_ports(self.entry, self.spec), named_ports(self.entry, self.spec)
        if not wanted and not named:
            return {}
        listed = self.host.run(["sh", "-c", ports.LIST], timeout_s=_LIST_S).stdout
        for port in ports.taken(named, self.address, listed):
            message = f"port {port} of {self.address} is in use on {self.host.name}"
            hint = "leave the port out, or end what listens there"
            failure = Failure(kind="address_in_use", message=message, hint=hint)
            raise AgentRefusal("start", failure)
        free = ports.free_ports(len(wanted), ports.used_ports(listed), self.folder)
        return {name: str(port) for name, port in zip(wanted, free, strict=True)}

    def _facts(self, prepared: Prepared) -> dict[str, str | None]:
        """Versions of the parts; of a server of the user's own, which program it is."""
        parts = self.parts.items()
        facts: dict[str, str | None] = {f"service.{part}.version": s.version for part, s in parts}
        if self.spec.text is not None:
            words = prepared.site.resolved(command_line(self.spec, prepared.values))
            facts["service.sha256"] = digests_of(self.host, words, self.folder)
        return facts

    def _running(
        self, prepared: Prepared, started: Started, listeners: dict[str, str], version: str
    ) -> RunningService:
        first = listeners.pop(FIRST, None)
        all_listeners = {
            protocol: address
            for running in self.parts.values()
            for protocol, address in running.listeners.items()
        } | listeners
        processes = {self.name: started.pid}
        for running in self.parts.values():
            processes |= running.processes
        return RunningService(
            host=self.host,
            name=self.name,
            address=first or listeners[self.entry.speaks[0]],
            version=version,
            listeners=all_listeners,
            authority=_authority(prepared),
            processes=processes,
            data=self.data or f"{self.folder}/data",
            facts=self._facts(prepared),
            stop_command=tuple(prepared.filled(self.entry.stop)),
            parts=tuple(self.parts.values()),
        )


def _authority(prepared: Prepared) -> str | None:
    """The file that clients need: what verifies a certificate, or the key to log in with."""
    if certified(prepared.entry, prepared.spec):
        return f"{prepared.folder}/{certificate.CERTIFICATE}"
    file = prepared.entry.authority
    has_tls = "tls" in prepared.entry.settings
    tls = SharedSettings.of(prepared.spec.settings).tls
    if file is None or (has_tls and tls in (None, "none")):
        return None
    return filled(file, prepared.values)
