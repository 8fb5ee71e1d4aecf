"""The conversation with QEMU's monitor (QMP): one command at a time, events are kept."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any, Protocol

from steelyard.hosts.failures import SystemFailure

COMMAND_TIMEOUT_S = 20.0


class Pipe(Protocol):
    """Lines to and from a monitor; see ``hosts.line_pipe.LinePipe``."""

    def send(self, line: str) -> None: ...

    def receive(self, *, until_s: float) -> str: ...

    def close(self) -> None: ...


class Qmp:
    """A monitor that has been greeted. Not for several threads at once."""

    def __init__(self, pipe: Pipe) -> None:
        """Raises ``SystemFailure`` when nothing greets, or not as QMP does."""
        self._pipe = pipe
        self._events: list[dict[str, Any]] = []
        self._id = 0
        greeting = self._message(time.monotonic() + COMMAND_TIMEOUT_S)
        try:
            version = greeting["QMP"]["version"]["qemu"]
        except (KeyError, TypeError):
            raise SystemFailure("tool_failed", f"this is no QMP: {greeting}") from None
        self.version = f"{version['major']}.{version['minor']}.{version['micro']}"
        self.execute("qmp_capabilities")

    def execute(
        self,
        command: str,
        arguments: dict[str, Any] | None = None,
        *,
        timeout_s: float = COMMAND_TIMEOUT_S,
    ) -> Any:
        """What the command returns.

        Raises:
            SystemFailure: ``tool_failed``: QEMU refused, in its own words; ``timed_out``,
                ``unreachable``.
        """
        self._id += 1
        order = {"execute": command, "arguments": arguments or {}, "id": self._id}
        self._pipe.send(json.dumps(order))
        until_s = time.monotonic() + timeout_s
        while True:
            message = self._message(until_s)
            if "event" in message:
                self._events.append(message)
            elif message.get("id") == self._id:
                return _answer(command, message)

    def await_event(self, name: str, /, *, timeout_s: float, **data: Any) -> dict[str, Any]:
        """Data of the first event of this name that bears these; it may have come before."""
        until_s = time.monotonic() + timeout_s
        while True:
            for event in self._events:
                told: dict[str, Any] = event.get("data") or {}
                if event["event"] == name and data.items() <= told.items():
                    self._events.remove(event)
                    return told
            message = self._message(until_s)
            if "event" in message:
                self._events.append(message)

    def poll(self, command: str, done: Callable[[Any], bool], *, timeout_s: float) -> Any:
        """Asks again and again until ``done`` is content with the answer."""
        until_s = time.monotonic() + timeout_s
        while not done(answer := self.execute(command)):
            if time.monotonic() > until_s:
                raise SystemFailure("timed_out", f"QEMU still answers {command} with {answer}")
            time.sleep(0.01)
        return answer

    def close(self) -> None:
        self._pipe.close()

    def _message(self, until_s: float) -> dict[str, Any]:
        line = self._pipe.receive(until_s=until_s)
        try:
            message: dict[str, Any] = json.loads(line)
        except ValueError:
            raise SystemFailure("tool_failed", f"QEMU's monitor said {line[:200]!r}") from None
        return message


def _answer(command: str, message: dict[str, Any]) -> Any:
    if "error" in message:
        said = message["error"].get("desc", message["error"])
        raise SystemFailure("tool_failed", f"QEMU refuses {command}: {said}")
    return message["return"]
