"""A platform that is driven by the command line of its tool, as its file says.

Hypervisors and container tools differ in words, not in what is done with them: so they are data
(``catalogue/platforms`` or a file of the user's own) and this is the one class that runs them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping, Sequence

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError
from steelyard.hosts.calls import Presence
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.undo.log import PendingUndo
from steelyard.study.catalogue import Platform
from steelyard.study.lookup import platform_of
from steelyard.study.model import Reset
from steelyard.study.platform.entry import Commands, Proof, Reading, StepWritten, Verb
from steelyard.study.reference import UNVERIFIED
from steelyard.systems.command_line.console import GuestConsole
from steelyard.systems.command_line.disks import appeared, block_devices, disappeared
from steelyard.systems.command_line.proofs import Evidence, compared, judge
from steelyard.systems.command_line.render import Renderer, inverse_of, values_of
from steelyard.systems.command_line.tool import Tool, value_in
from steelyard.systems.images.engine_layer import engine_path
from steelyard.systems.platform import (
    VCPU,
    AttachedDisk,
    Costs,
    InstanceContext,
    RawDisk,
    ResetProof,
    Threads,
    vcpus_by_name,
)
from steelyard.systems.qemu.snapshot import set_clock

_CONSOLE_TAIL_CHARACTERS = 2000


class CommandLinePlatform:
    """One instance of a system whose platform is a file of commands."""

    def __init__(self, context: InstanceContext, platform: Platform | None = None) -> None:
        """Reads the file (or takes ``platform``, which was read from one); nothing is touched."""
        self.context = context
        self._platform = platform or platform_of(context.spec)
        if self._platform.commands is None:
            raise ValueError(f"platform {context.spec.platform} has no commands")
        self._commands: Commands = self._platform.commands
        self._renderer = Renderer(self._commands, values_of(context, self._platform))
        self._tool = Tool(context.host_machine, self._commands.failures)
        self._pending: PendingUndo | None = None
        self._host: Host | None = None
        self._address: str | None = None
        self._disks: dict[int, str] = {}

    def up(self) -> None:
        """Makes the system anew; one of ours that an earlier session left is removed first.

        Raises:
            SystemFailure: ``name_taken`` when something of this name is not ours.
        """
        if self._pending is not None:
            return
        present = self._look()
        if present == "foreign":
            raise SystemFailure(
                "name_taken",
                f"{self.context.label} is there already and was not made by this run",
                "it is not touched; rename or remove it yourself",
            )
        host_machine = self.context.host_machine()
        self._pending = self.context.undo.plan(
            host_machine.name, inverse_of(self.context, self._renderer), removes=self.context.label
        )
        if present == "ours":
            with self._tool.typed():
                self._pending.inverse.apply(host_machine)
        self._make(host_machine)
        self._recognise()
        self.host()

    def down(self) -> None:
        """Ends and removes the system."""
        self._close()
        if self._pending is not None:
            with self._tool.typed():
                self.context.undo.apply(self.context.host_machine(), self._pending)
            self._pending = None
            self._disks.clear()

    def reset(self, strength: Reset) -> ResetProof:
        """As the file says; ``service`` and ``process`` only wait for the disk inside."""
        started_ns = time.monotonic_ns()
        reset = self._commands.reset.get(strength)
        if reset is None:
            host = self.host()
            host.sync_filesystem(self.folder())
            evidence = {"boot_id": host.boot_id or "not told"}
            return ResetProof(strength, time.monotonic_ns() - started_ns, evidence)
        before = self._evidence(compared(reset.prove))
        self._close()
        if reset.remake:
            self.down()
            self.up()
        else:
            self._do(reset.steps, "reset")
            self._await_ready()
            self._put_clock_right(strength)
        after = self._evidence(reset.prove)
        took_ns = time.monotonic_ns() - started_ns
        judge(reset.prove, before, after, self._renderer.text)
        return ResetProof(strength, took_ns, after)

    def pipe(self, argv: Sequence[str]) -> list[str]:
        return self._entrance().words(argv)

    def host(self) -> Host:
        """The agent inside; opened when first asked for and after it was lost."""
        if self._host is not None and self._host.lost:
            self._close()
        if self._host is None:
            self._host = self._entrance().open()
        return self._host

    def folder(self) -> str:
        self.host()
        return self._renderer.text(self._commands.folder)

    def address(self) -> str:
        """Read once for each time the system was started."""
        if self._address is None:
            self._address = self._read(self._commands.address)
        return self._address

    def attach(self, disk: RawDisk) -> AttachedDisk:
        """An empty disk for the running system; the device is what is new inside afterwards."""
        if not self._commands.attach:
            raise SystemFailure(
                "not_supported",
                f"platform {self.context.spec.platform} cannot attach disks",
                "leave `disks` out, or use another platform",
            )
        host = self.host()
        before = block_devices(host)
        number = next(n for n in range(1, 100) if n not in self._disks)
        self._disks[number] = disk.name
        self._do(self._commands.attach, "attach", self._renderer.with_disk(disk, number))
        within_s = self._commands.deadline_s("attach")
        device = appeared(host, before, disk.size_bytes, within_s)
        return AttachedDisk(disk, device, tuple(self._commands.caches))

    def detach(self, disk: AttachedDisk) -> None:
        """Takes the disk off and removes it; returns when it has gone inside."""
        number = next(n for n, name in self._disks.items() if name == disk.disk.name)
        self._do(self._commands.detach, "detach", self._renderer.with_disk(disk.disk, number))
        del self._disks[number]
        disappeared(self.host(), disk.device, self._commands.deadline_s("detach"))

    def costs(self) -> Costs:
        costs = self._commands.costs
        return Costs(
            processes={name: int(self._read(r)) for name, r in costs.processes.items()},
            threads=self._threads(),
            cgroups={name: self._read(r) for name, r in costs.cgroups.items()},
        )

    def _threads(self) -> dict[str, Threads]:
        """The guest's processors, of an emulator that gives its threads names."""
        pids = [int(self._read(reading)) for reading in self._commands.costs.threads.values()]
        named = [vcpus_by_name(self.context.host_machine(), pid) for pid in pids]
        found = next((threads for threads in named if threads is not None), None)
        return {} if found is None else {VCPU: found}

    def facts(self) -> dict[str, str | None]:
        """What the file reads; a value that the tool does not print is ``None``."""
        facts: dict[str, str | None] = {
            "verified": "yes" if self._platform.verified else UNVERIFIED
        }
        for name, reading in self._commands.facts.items():
            try:
                facts[name] = self._read(reading)
            except SystemFailure:
                facts[name] = None
        return facts

    def _put_clock_right(self, strength: Reset) -> None:
        """A guest's own clock stood still in its snapshot; a container has that of its machine."""
        host, host_machine = self.host(), self.context.host_machine()
        if strength == "snapshot" and host.boot_id != host_machine.boot_id:
            set_clock(host, host_machine)

    def _look(self) -> Presence:
        with self._tool.typed():
            return self._renderer.identity().look(self.context.host_machine())

    def _recognise(self) -> None:
        """What was just made must be known as ours, or it would never be taken down."""
        seen = self._look()
        if seen != "ours":
            raise SystemFailure(
                "tool_failed",
                f"`exists` says that {self.context.label} is {seen}, and it was just made",
                f"fix `exists` in the file of {self.context.spec.platform}; "
                "what was made has to be removed by hand",
            )

    def _make(self, host_machine: Host) -> None:
        for file in self._commands.files.values():
            content = self._renderer.text(file.content, file.escape)
            host_machine.write_file(self._renderer.text(file.path), content, create=True)
        here = host_machine.engine or engine_path(host_machine)
        self._do(self._commands.up, "up", self._renderer.knowing(engine_here=here))
        self._await_ready()
        if self._commands.keep:
            self._settle()
            self._do(self._commands.keep, "keep")

    def _settle(self) -> None:
        """What is kept has been entered once: a guest has no boot id before somebody reads it."""
        self.host().sync_filesystem(self.folder())
        self._close()

    def _do(
        self, steps: Sequence[StepWritten], verb: Verb, renderer: Renderer | None = None
    ) -> None:
        for step in steps:
            self._tool.do((renderer or self._renderer).call(step, verb))

    def _await_ready(self) -> None:
        deadline_ns = time.monotonic_ns() + round(self._commands.deadline_s("ready") * 1e9)
        try:
            for wait in self._commands.ready:
                self._tool.wait(self._renderer.call(wait, "read"), deadline_ns)
        except SystemFailure as failure:
            failure.last_words = self._console() or failure.last_words
            raise

    def _console(self) -> str:
        if self._commands.console is None:
            return ""
        with contextlib.suppress(AgentRefusal):
            path = self._renderer.text(self._commands.console)
            return self.context.host_machine().read_file(path)[-_CONSOLE_TAIL_CHARACTERS:]
        return ""

    def _evidence(self, proofs: Mapping[str, Proof]) -> Evidence:
        return {name: self._read(proof) for name, proof in proofs.items()}

    def _read(self, reading: Reading) -> str:
        if reading.agent is not None:
            return self.host().boot_id or "not told"
        if not reading.inside:
            return value_in(self._tool.do(self._renderer.reading(reading)), reading)
        words = list(self._renderer.words(reading.inside))
        ran = self.host().run(words, timeout_s=self._commands.deadline_s("read"))
        return value_in(ran.stdout, reading)

    def _entrance(self) -> GuestConsole:
        renderer = self._renderer.knowing(engine=self._renderer.text(self._commands.engine))
        if any("{address}" in word for word in self._commands.inside.pipe):
            renderer = renderer.knowing(address=self.address())
        return GuestConsole(self.context.label, self.context.host_machine, self._tool, renderer)

    def _close(self) -> None:
        self._address = None
        if self._host is not None:
            with contextlib.suppress(EngineError):
                (self._host.leave if self._commands.inside.join else self._host.close)()
            self._host = None
