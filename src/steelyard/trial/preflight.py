"""What a study needs and its machines do not have: one list, before anything is started.

What the catalogue says is needed is looked for on every machine that is there before the first
trial: those that carry systems, those that are systems, and the one that drives the load. Inside
a container or a guest nothing can be seen before it is up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError, HostError
from steelyard.hosts.clocks import WallOffset
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.machines import LOCAL
from steelyard.hosts.site import look_around
from steelyard.hosts.ssh import SCHEME
from steelyard.hosts.tool import attempt
from steelyard.study.bind import BoundCell, OneCell, bind
from steelyard.study.declared.network_disks import read_network_disk
from steelyard.study.lookup import has_agent, machines_of_events, workload_of
from steelyard.study.model import (
    Level,
    MeterSpec,
    ServiceSpec,
    Study,
    SystemSpec,
    WorkloadSpec,
)
from steelyard.study.platform.settings import (
    DiskSettings,
    NativeSettings,
    QemuSettings,
    SharedSettings,
)
from steelyard.study.resolve.entries import COMMAND
from steelyard.study.workload.entry import Workload
from steelyard.systems.disks.folder import refuse_unusable
from steelyard.systems.disks.preflight import refuse_what_cannot_be_made
from steelyard.systems.meters import refuse_unreadable
from steelyard.systems.pinning import check_cpus
from steelyard.systems.preflight import holds_the_engine_only, looked_at, refuse_what_cannot_come_up
from steelyard.systems.qemu.memory import refuse_too_much
from steelyard.systems.qemu.network_disks import refuse_unusable as refuse_unusable_offer
from steelyard.systems.services.external import refuse_unserved
from steelyard.systems.services.preflight import (
    refuse_in_empty_image,
    refuse_what_cannot_start,
    services_within,
)
from steelyard.systems.settings.preflight import unavailable
from steelyard.systems.ssh import FILES_IN
from steelyard.trial.shortfall import Shortfall
from steelyard.trial.wall_clocks import (
    has_certificate,
    other_machines,
    place_of,
    refuse_certificate,
)

_T = TypeVar("_T")
_NATIVE, _QEMU, _SSH = "native", "qemu", "ssh"
_MACHINES = (_NATIVE, _SSH)
"""Platforms whose systems are machines: what is inside them can be seen before they are up."""
FREE_BYTES_NEEDED = 64 * 1024 * 1024
Found = Iterable[tuple[str, SystemFailure]]
"""Dotted keys with what is wrong; a look at one thing raises instead."""


@dataclass
class Preflight:
    """Looks at machines, each question once; ``at`` opens a machine by its address.

    ``disks_in`` is the folder that would hold the disks of this machine and files of its trials,
    ``study_folder`` that of the study. ``unreachable`` collects the machines that could not be
    opened, with why; their trials may reach them, but one of an event is missing. ``meter`` asks
    one meter, ``served`` the service of a machine without an agent. ``walls`` collects how far the
    wall clocks of other machines are ahead.
    """

    study: Study
    at: Callable[[str], Host]
    disks_in: str
    study_folder: str
    check: Callable[[], None] = lambda: None
    unreachable: dict[str, str] = field(default_factory=dict)
    meter: Callable[[MeterSpec], None] = refuse_unreadable
    served: Callable[[ServiceSpec], None] = refuse_unserved
    walls: dict[str, WallOffset] = field(default_factory=dict)
    _asked: set[object] = field(default_factory=set)
    _found: dict[tuple[str, str], Shortfall] = field(default_factory=dict)

    def look(self, cells: Iterable[OneCell]) -> list[Shortfall]:
        """All that is missing for these cells, in their order.

        Raises:
            StudyError: the recipe of an image has mistakes.
        """
        for cell in cells:
            bound = bind(self.study, cell)
            for question in self._questions(bound):
                self.check()
                self._ask(bound.system, question)
        self._note_events()
        return list(self._found.values())

    def _note_events(self) -> None:
        """Every trial needs the machines of events: none could be measured without them."""
        first = next(iter(self.study.systems.values()))
        for name, machine in machines_of_events(self.study).items():
            if machine in self.unreachable:
                failure = SystemFailure(
                    "not_supported",
                    f"event `{name}` cannot happen: {self.unreachable[machine]}",
                    f"try `ssh {machine}` by hand, or name another machine",
                )
                self._note(first, machine, f"events.{name}.on", failure)

    def _ask(self, spec: SystemSpec, question: _Question) -> None:
        if question.same in self._asked or question.machine in self.unreachable:
            return
        self._asked.add(question.same)
        try:
            for key, failure in question.ask(self.at(question.machine)):
                self._note(spec, question.machine, key, failure)
        except SystemFailure as failure:
            self._note(spec, question.machine, question.key, failure)
        except AgentRefusal as refusal:
            self._note(spec, question.machine, question.key, _refused(question.machine, refusal))
        except (EngineError, HostError) as error:
            self.unreachable[question.machine] = error.message

    def _note(self, spec: SystemSpec, machine: str, key: str, failure: SystemFailure) -> None:
        if failure.for_operator:
            found = Shortfall(machine, spec.name, key, failure.message, failure.hint)
            self._found.setdefault((machine, failure.message), found)
        elif failure.kind == "unreachable":
            self.unreachable[machine] = failure.message

    def _questions(self, bound: BoundCell) -> Iterator[_Question]:
        spec = bound.system
        yield from self._of_clocks(bound)
        yield _Question(
            spec.host_machine,
            "image",
            looked_at(spec),
            partial(_look_at_image, spec),
        )
        for service in _once(map(bound.service_of, range(1, spec.instances + 1))):
            yield _of_service(spec, service)
            if not has_agent(spec):
                yield _on_controller("service", service, self.served)
        for workload in _once(_workloads(bound)):
            wanted = _programs(workload_of(workload), workload, self.study_folder)
            yield from _of_tool(spec, workload, wanted, self.study.generator.host)
        yield from _of_settings(spec)
        yield from _of_processors(spec)
        yield from _of_memory(spec)
        if spec.meter is not None:
            yield _on_controller("meter", spec.meter, self.meter)
        if spec.platform in _MACHINES:
            files_in = FILES_IN if spec.platform == _SSH else self.disks_in
            if spec.platform == _SSH or spec.host_machine == LOCAL:
                yield _of_room(spec, files_in)
            yield from _of_disks(spec, files_in)
        yield from _of_network_disks(spec)

    def _of_clocks(self, bound: BoundCell) -> Iterator[_Question]:
        """Of every other machine, whether it can be reached as well."""

        def read(machine: str, host: Host) -> Found:
            self.walls[machine] = host.wall_offset()
            return ()

        def verified(system: str, generator: str, _: Host) -> Found:
            refuse_certificate(self.walls, system, generator)
            return ()

        for machine, key in other_machines(self.study, bound.system):
            if machine.startswith(SCHEME):
                yield _Question(machine, key, ("clock", machine), partial(read, machine))
        if has_certificate(bound) and self.study.generator.instance is None:
            system = place_of(bound.system)
            for generator in self.study.generator.hosts:
                same = ("certificate", system, generator)
                yield _Question(generator, "service", same, partial(verified, system, generator))


def _refused(machine: str, refusal: AgentRefusal) -> SystemFailure:
    """An agent that refuses one question answers the others."""
    message = f"on {machine}: {refusal.failure.message}"
    return SystemFailure("not_supported", message, refusal.failure.hint)


@dataclass(frozen=True)
class _Question:
    """``same`` is equal for questions with the same answer."""

    machine: str
    key: str
    same: object
    ask: Callable[[Host], Found]


def _on_controller(key: str, spec: _T, asked: Callable[[_T], None]) -> _Question:
    """Asked from here, whatever machine it is of."""

    def ask(_: Host) -> Found:
        asked(spec)
        return ()

    return _Question(LOCAL, key, (key, repr(spec)), ask)


def _once(specs: Iterable[_T | None]) -> list[_T]:
    return [each for each in {repr(each): each for each in specs}.values() if each is not None]


def _workloads(bound: BoundCell) -> Iterator[WorkloadSpec]:
    for number in range(1, bound.system.instances + 1):
        yield bound.workload_of(number)
        yield from bound.co_located.get(number, ())


def _of_service(spec: SystemSpec, service: ServiceSpec) -> _Question:
    own_network = NativeSettings.of(spec.settings).network != "host" or spec.instances > 1

    def ask(host: Host) -> Found:
        if spec.platform in _MACHINES:
            refuse_what_cannot_start(host, service, own_network=own_network)
        elif holds_the_engine_only(spec):
            for each, entry in services_within(service):
                words = (entry.requires, entry.command, entry.packages)
                refuse_in_empty_image(each.use, *words)
        return ()

    same = (place_of(spec), spec.platform, own_network, repr(service), looked_at(spec))
    return _Question(place_of(spec), "service", same, ask)


def _of_tool(
    spec: SystemSpec, workload: WorkloadSpec, wanted: tuple[str, ...], generator: str
) -> Iterator[_Question]:
    entry = workload_of(workload)
    if not entry.is_tool:
        return
    on_system = entry.on == "system"
    machine = place_of(spec) if on_system else generator
    same = (machine, spec.platform, looked_at(spec), workload.use, wanted)

    def ask(host: Host) -> Found:
        if on_system and holds_the_engine_only(spec):
            refuse_in_empty_image(workload.use, wanted, (), entry.packages)
        elif not on_system or spec.platform in _MACHINES:
            root = entry.needs == "root"
            if wanted or root:
                look_around(host, workload.use, wanted, entry.packages, root=root)
            for path in wanted if workload.use == COMMAND else ():
                _refuse_no_program(host, path)
        return ()

    if on_system or not generator.startswith("instance "):
        yield _Question(machine, "workload", same, ask)


def _refuse_no_program(host: Host, path: str) -> None:
    """Of the path of a command, whether that can be run.

    Raises:
        SystemFailure: ``not_supported``.
    """
    if "/" not in path:
        return
    if attempt(host, ["test", "-f", path]).exit_code:
        message = f"on {host.name}: {path} is no file"
        raise SystemFailure("not_supported", message, "name the program itself")
    if attempt(host, ["test", "-x", path]).exit_code:
        message = f"on {host.name}: {path} is not executable"
        hint = f"`chmod +x {path}`, or name what reads it first, as `[sh, {path}]`"
        raise SystemFailure("not_supported", message, hint)


def _programs(entry: Workload, workload: WorkloadSpec, study_folder: str) -> tuple[str, ...]:
    """What the file says that it needs; of a command of the study, its first word."""
    words = workload.settings.get(COMMAND)
    if workload.use != COMMAND or not isinstance(words, tuple) or not words:
        return entry.requires
    first = str(words[0]).replace("{study}", study_folder)
    return () if set(first) & set("{@") else (first,)


def _of_settings(spec: SystemSpec) -> Iterator[_Question]:
    inside = spec.inside if spec.platform in _MACHINES else {}
    parts = (
        ("settings", place_of(spec), inside),
        ("host_settings", spec.host_machine, spec.outside),
    )
    for part, machine, levels in parts:
        if levels:
            ask = partial(_unavailable, part, levels)
            yield _Question(machine, part, (machine, part, repr(levels)), ask)


def _unavailable(part: str, levels: Mapping[str, Level], host: Host) -> Found:
    for name, failure in unavailable(host, levels):
        yield f"{part}.{name}", failure


def _of_processors(spec: SystemSpec) -> Iterator[_Question]:
    """The processors that it is declared to run on, whatever runs there."""
    own = SharedSettings.of(spec.settings)
    confined = None if own.confine is None else own.confine.cpuset
    keys = {"cpuset": own.cpuset, "vcpu_cpus": own.vcpu_cpus, "confine": confined}
    for key, cpuset in keys.items():
        if cpuset is not None:
            ask = partial(_look_at_processors, cpuset)
            yield _Question(spec.host_machine, key, (spec.host_machine, "cpus", cpuset), ask)


def _look_at_processors(cpuset: str, host: Host) -> Found:
    check_cpus(host, cpuset)
    return ()


def _of_memory(spec: SystemSpec) -> Iterator[_Question]:
    """The memory of a guest, of whose instances each may have as much as the machine has."""
    if spec.platform != _QEMU or spec.platform_text is not None:
        return
    memory_bytes = QemuSettings.of(spec.settings).memory

    def ask(host: Host) -> Found:
        refuse_too_much(host, memory_bytes)
        return ()

    yield _Question(spec.host_machine, "memory", (spec.host_machine, "memory", memory_bytes), ask)


def _of_room(spec: SystemSpec, folder: str) -> _Question:
    """Where trials on the machine of a system keep their files."""

    def ask(host: Host) -> Found:
        refuse_full_disk(host, folder)
        return ()

    return _Question(place_of(spec), "platform", (place_of(spec), "room"), ask)


def refuse_full_disk(host: Host, folder: str) -> None:
    """Looks for the room that one trial takes.

    Raises:
        SystemFailure: ``no_space``.
    """
    free_bytes = host.path_facts(folder).free_bytes
    if free_bytes is not None and free_bytes < FREE_BYTES_NEEDED:
        other = ", or keep results on another disk with --results" * (host.name == LOCAL)
        raise SystemFailure(
            "no_space",
            f"on {host.name}: {free_bytes >> 20} MiB are free in {folder}, where trials store "
            "their files; 64 MiB are needed",
            f"free some space{other}",
        )


def _of_disks(spec: SystemSpec, folder: str) -> Iterator[_Question]:
    for name, settings in spec.disks.items():
        disk = DiskSettings.of(settings)
        yield _Question(
            place_of(spec),
            f"disks.{name}",
            (place_of(spec), repr(disk)),
            partial(_look_at_disk, disk, folder),
        )


def _look_at_disk(disk: DiskSettings, folder: str, host: Host) -> Found:
    if disk.folder is not None:
        refuse_unusable(host, disk)
    else:
        refuse_what_cannot_be_made(host, disk, folder)
    return ()


def _of_network_disks(spec: SystemSpec) -> Iterator[_Question]:
    for name, settings in spec.disks.items():
        disk = DiskSettings.of(settings)
        if disk.url is not None:
            ask = partial(_look_at_network_disk, disk, disk.url)
            same = (spec.host_machine, "url", repr(disk))
            yield _Question(spec.host_machine, f"disks.{name}", same, ask)


def _look_at_network_disk(disk: DiskSettings, url: str, host: Host) -> Found:
    """A server that does not answer now has to be started by somebody."""
    size_bytes, anything = disk.size_bytes, disk.overwrite == "anything"
    try:
        refuse_unusable_offer(host, read_network_disk(url), size_bytes, anything=anything)
    except SystemFailure as failure:
        if failure.for_operator:
            raise
        raise SystemFailure("not_supported", failure.message, failure.hint) from failure
    return ()


def _look_at_image(spec: SystemSpec, host: Host) -> Found:
    refuse_what_cannot_come_up(spec, host)
    return ()
