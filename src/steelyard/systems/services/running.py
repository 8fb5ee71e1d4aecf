"""A service that is ready: where it listens, what stands for it, and how it is ended."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from steelyard.engine.messages import ProcessState
from steelyard.hosts.host import Host
from steelyard.systems.services.alias import Alias

STOP_GRACE_S = 5.0
STOP_COMMAND_S = 20.0
LEFT_ALONE = ProcessState(
    running=True,
    exit_code=None,
    signal=None,
    user_ns=None,
    system_ns=None,
    max_rss_bytes=None,
    stderr_tail="",
)
"""What is known of a server that was never started here."""


@dataclass(frozen=True)
class RunningService:
    """A service that is ready, on the machine whose agent started it.

    ``processes`` are the roots of its process trees by the name they were started under, what the
    service is named after first; none where it ran before. ``data`` is the folder of its data,
    ``facts`` what is only known once it runs.
    """

    host: Host
    name: str
    address: str
    version: str
    listeners: dict[str, str] = field(default_factory=dict)
    authority: str | None = None
    processes: dict[str, int] = field(default_factory=dict)
    data: str | None = None
    facts: dict[str, str | None] = field(default_factory=dict)
    stop_command: tuple[str, ...] = ()
    parts: tuple[RunningService, ...] = ()
    alias: Alias | None = None

    @property
    def started(self) -> bool:
        """Whether it was started here, and is therefore ended here."""
        return bool(self.processes)


def stop(service: RunningService, *, hurried: bool = False) -> ProcessState:
    """Ends the service and its parts, ``hurried`` without asking them; how it ended, and what it
    used.

    Raises:
        EngineError: its agent has ended, and the service with it.
    """
    if not service.started:
        return LEFT_ALONE
    if service.stop_command and not hurried:
        service.host.run(list(service.stop_command), timeout_s=STOP_COMMAND_S)
    ended = service.host.stop(service.name, grace_s=0 if hurried else STOP_GRACE_S)
    if service.alias is not None:
        service.alias.remove()
    for part in reversed(service.parts):
        stop(part, hurried=hurried)
    return ended


def how_it_died(service: RunningService) -> str | None:
    """In words, how a service or a part of it ended that should still run; ``None`` if all run."""
    for name in service.processes:
        state = service.host.status(name)
        if not state.running:
            part = "" if name == service.name else f"'s part {name.removeprefix(service.name)[1:]}"
            return f"the service{part} {state.how_it_ended()}"
    return None


def counters(ended: ProcessState) -> dict[str, object]:
    """What the service counted itself: the last line it wrote, if that is a JSON object."""
    last = ended.stdout_tail.strip().rpartition("\n")[2]
    try:
        document = json.loads(last)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
