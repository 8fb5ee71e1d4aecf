"""One QEMU that runs: started, greeted, asked by QMP, joined to the agent inside, ended."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from steelyard.engine.agent import OTHER_VERSION, Agent, AgentRefusal
from steelyard.errors import EngineError
from steelyard.hosts.failures import FailureKind, SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.line_pipe import LinePipe
from steelyard.hosts.undo.log import INSIDE
from steelyard.systems.images.engine_layer import engine_path
from steelyard.systems.platform import IO, VCPU, Threads
from steelyard.systems.qemu.command_line import (
    AGENT_SOCKET,
    CONSOLE,
    QMP_SOCKET,
    Machine,
    join_words,
    qemu_argv,
)
from steelyard.systems.qemu.qmp import Qmp

START_TIMEOUT_S = 20.0
AGENT_TIMEOUT_S = 180.0
_FIRST_PATIENCE_S = 4.0
INSIDE_ENGINE = "/run/steelyard/engine"
_CONSOLE_BYTES = "2000"
_BY_WORDS: tuple[tuple[str, FailureKind], ...] = (
    ("No space left", "no_space"),
    ("Permission denied", "no_rights"),
    ("Cannot allocate memory", "tool_failed"),
    ("does not support O_DIRECT", "not_supported"),
)


class RunningMachine:
    """A QEMU on the machine ``host_machine``, which ends when the agent there does."""

    def __init__(self, host_machine: Host, machine: Machine, enter: list[str]) -> None:
        """Starts it; ``enter`` are words before its own, such as those of a network namespace.

        Raises:
            SystemFailure: it does not start, with the last it said.
        """
        self.host_machine = host_machine
        self.machine = machine
        self._qmp: Qmp | None = None
        self._name = f"qemu {machine.label}"
        argv = [*enter, *qemu_argv(machine)]
        try:
            started = host_machine.start(
                self._name, argv, directory=machine.folder, ready_timeout_s=START_TIMEOUT_S
            )
        except AgentRefusal as refusal:
            raise self._refused(refusal) from refusal
        self.pid = started.pid

    def qmp(self) -> Qmp:
        """The monitor; opened when first asked for."""
        if self._qmp is None:
            self._qmp = Qmp(LinePipe(self._way(QMP_SOCKET)))
        return self._qmp

    def agent(self, *, timeout_s: float = AGENT_TIMEOUT_S) -> Host:
        """A new conversation with an agent inside.

        Raises:
            SystemFailure: ``not_ready`` when none answers in time, with the end of the console.
            EngineError: it is of another version.
        """
        try:
            agent = self._greeted(time.monotonic() + timeout_s)
        except EngineError as error:
            if error.slug == OTHER_VERSION:
                raise
            message = f"no agent answers in the guest {self.machine.label}: {error.message}"
            hint = "the end of the guest's console says what it was doing"
            raise SystemFailure(
                "not_ready", f"{message}{self._fate()}", hint, last_words=self.console()
            ) from error
        return Host(INSIDE + self.machine.label, agent, _no_way, INSIDE_ENGINE)

    def _greeted(self, until_s: float) -> Agent:
        """Says hello again and again, each time longer: what is said to an agent that just ends
        is lost with it.
        """
        for patience_s in _patience():
            left_s = until_s - time.monotonic()
            try:
                greeting_timeout_s = max(0.1, min(patience_s, left_s))
                way = self._way(AGENT_SOCKET)
                return self.host_machine.open_agent(way, greeting_timeout_s=greeting_timeout_s)
            except EngineError as error:
                waits = left_s > patience_s and error.slug != OTHER_VERSION
                if not (waits and self.runs()):
                    raise
        raise AssertionError("patience has no end")

    def console(self) -> str:
        """The last the guest wrote on its serial console."""
        path = f"{self.machine.folder}/{CONSOLE}"
        with contextlib.suppress(AgentRefusal, EngineError):
            told = self.host_machine.run(["tail", "-c", _CONSOLE_BYTES, path], timeout_s=10)
            return told.stdout.replace("\r", "").strip()
        return ""

    def threads(self) -> dict[str, Threads]:
        """Its threads that are the guest's processors, and those that serve its disks."""
        asked = {VCPU: "query-cpus-fast", IO: "query-iothreads"}
        ids = {
            kind: tuple(int(thread["thread-id"]) for thread in self.qmp().execute(command))
            for kind, command in asked.items()
        }
        return {kind: Threads(self.pid, found) for kind, found in ids.items() if found}

    def runs(self) -> bool:
        """Whether QEMU is there; it is gone when the agent of its machine was lost."""
        if self.host_machine.lost:
            return False
        try:
            return self.host_machine.status(self._name).running
        except (AgentRefusal, EngineError):
            return False

    def end(self) -> None:
        """Ends QEMU at once: what the guest has not written is lost with its overlay."""
        if self._qmp is not None:
            self._qmp.close()
            self._qmp = None
        with contextlib.suppress(AgentRefusal, EngineError):
            self.host_machine.stop(self._name, grace_s=5)

    def _way(self, socket: str) -> list[str]:
        engine = self.host_machine.engine or engine_path(self.host_machine)
        return self.host_machine.way(join_words(engine, self.machine.folder, socket))

    def _fate(self) -> str:
        with contextlib.suppress(AgentRefusal, EngineError):
            state = self.host_machine.status(self._name)
            return "" if state.running else f"; QEMU {state.how_it_ended()}"
        return ""

    def _refused(self, refusal: AgentRefusal) -> SystemFailure:
        self.end()
        said = refusal.failure.message
        if refusal.failure.kind == "not_found":
            hint = "on Debian: apt install qemu-system-x86 qemu-utils"
            return SystemFailure("tool_missing", f"QEMU cannot be run: {said}", hint)
        kind: FailureKind = next(
            (kind for words, kind in _BY_WORDS if words in said), "tool_failed"
        )
        return SystemFailure(kind, f"QEMU does not start: {said}", last_words=self.console())


def _patience() -> Iterator[float]:
    patience_s = _FIRST_PATIENCE_S
    while True:
        yield patience_s
        patience_s *= 2


def _no_way(argv: object) -> list[str]:
    """A guest has one pipe, and the agent is at its end."""
    message = f"there is no second pipe into a guest for {argv}"
    raise SystemFailure("not_supported", message, "let the agent inside run it")
