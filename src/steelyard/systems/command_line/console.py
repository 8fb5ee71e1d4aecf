"""Reaches the agent inside a system: carries the engine, checks it, opens the pipe."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from steelyard.engine.agent import GREETING_TIMEOUT_S, OTHER_VERSION
from steelyard.errors import EngineError
from steelyard.hosts.calls import Call, ask
from steelyard.hosts.failures import FailureKind, SystemFailure
from steelyard.hosts.host import Host
from steelyard.systems.command_line.render import Renderer
from steelyard.systems.command_line.tool import Tool

_LOOK_TIMEOUT_S = 60.0
_FIRST_PATIENCE_S = 1.0


@dataclass(frozen=True)
class GuestConsole:
    """The way into one system, from the machine that carries it."""

    label: str
    host_machine: Callable[[], Host]
    tool: Tool
    renderer: Renderer

    def words(self, argv: Sequence[str]) -> list[str]:
        """Words for the controller that run ``argv`` inside."""
        if self.renderer.commands.inside.join:
            message = f"{self.label} is reached through its agent alone"
            raise SystemFailure("not_supported", message, "ask its agent to run the command")
        return self.host_machine().way(self.renderer.inside(list(argv)))

    def open(self) -> Host:
        """The agent inside, with the same engine as on the machine that carries the system.

        Raises:
            SystemFailure: ``unreachable``, or ``engine_unfit`` when the engine inside is another.
        """
        expected = _sha256(
            ask(self.host_machine(), self._look(["sha256sum", self._own_exe()])).stdout
        )
        if self.renderer.commands.inside.join:
            host = self._joined()
        else:
            self._carry(expected)
            host = self._host(self.words([self._engine(), "agent"]))
        try:
            if self.renderer.commands.inside.join:
                ran = host.run(["sha256sum", f"/proc/{host.agent_pid}/exe"], timeout_s=60)
                self._compare(_sha256(ran.stdout), expected)
            host.make_directory(self.renderer.text(self.renderer.commands.folder))
        except BaseException:
            host.close()
            raise
        return host

    def _joined(self) -> Host:
        """Says hello again and again, each time longer: what is said before an agent listens, or
        to one that just ends, is lost.
        """
        join = self.renderer.knowing(engine_here=self._engine_here())
        argv = self.host_machine().way(join.words(self.renderer.commands.inside.join))
        until_ns = time.monotonic_ns() + round(self.renderer.commands.deadline_s("ready") * 1e9)
        patience_s = _FIRST_PATIENCE_S
        while True:
            try:
                return self._host(argv, greeting_timeout_s=patience_s)
            except SystemFailure as failure:
                if failure.kind != "unreachable" or time.monotonic_ns() >= until_ns:
                    raise
            patience_s *= 2

    def _host(self, argv: list[str], greeting_timeout_s: float = GREETING_TIMEOUT_S) -> Host:
        try:
            agent = self.host_machine().open_agent(argv, greeting_timeout_s=greeting_timeout_s)
            return Host(f"inside:{self.label}", agent, self.words, self._engine())
        except EngineError as error:
            other = error.slug == OTHER_VERSION
            kind: FailureKind = "engine_unfit" if other else "unreachable"
            raise SystemFailure(
                kind, f"no agent answers inside {self.label}: {error.message}", error.hint
            ) from error

    def _carry(self, expected: str) -> None:
        """Brings the engine inside unless it is there; it is there when its digest says so."""
        if not self.renderer.commands.carry or self._digest_inside() == expected:
            self._compare(self._digest_inside(), expected)
            return
        renderer = self.renderer.knowing(engine_here=self._engine_here())
        for step in self.renderer.commands.carry:
            self.tool.do(renderer.call(step, "carry"))
        self._compare(self._digest_inside(), expected)

    def _digest_inside(self) -> str:
        inside = self.renderer.inside(["sha256sum", self._engine()])
        with self.tool.typed():
            return _sha256(ask(self.host_machine(), Call(inside, _LOOK_TIMEOUT_S)).stdout)

    def _compare(self, inside: str, expected: str) -> None:
        if inside != expected:
            seen = f"has the sha256 {inside}" if inside else "is not there"
            raise SystemFailure(
                "engine_unfit",
                f"the engine inside {self.label} {seen}; the one outside has {expected}",
                "bring the same engine inside: with `carry`, or into the image; "
                "`sha256sum` must be there to look",
            )

    def _engine_here(self) -> str:
        call = self._look(["readlink", "-f", self.host_machine().engine or self._own_exe()])
        return self.tool.do(call).strip()

    def _engine(self) -> str:
        return self.renderer.text(self.renderer.commands.engine)

    def _own_exe(self) -> str:
        return f"/proc/{self.host_machine().agent_pid}/exe"

    def _look(self, argv: list[str]) -> Call:
        return Call(tuple(argv), _LOOK_TIMEOUT_S)


def _sha256(said: str) -> str:
    """The digest in what ``sha256sum`` wrote; nothing if it wrote none."""
    word = said.strip().partition(" ")[0]
    return word if len(word) == 64 else ""
