"""One machine that takes part, through its agent: files, processes, facts, samples, load."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from steelyard.engine.agent import ANSWER_TIMEOUT_S, Agent
from steelyard.engine.messages import (
    Clock,
    LoadResult,
    PathFacts,
    ProcessState,
    Samples,
    Started,
)
from steelyard.hosts.transport import Way, here


@dataclass(frozen=True)
class LoadAnswer:
    """A load run: as read, and as it came."""

    result: LoadResult
    document: dict[str, Any]


class Host:
    """A machine by name (``local``, ``ssh://pi@raspberry``, ``inside:LABEL``), and the way there.

    Every method may raise ``AgentRefusal`` (the machine refused, with a typed reason) or
    ``EngineError`` (the agent is gone).
    """

    def __init__(self, name: str, agent: Agent, way: Way = here) -> None:
        self.name = name
        self.way = way
        self._agent = agent

    @property
    def agent_pid(self) -> int:
        return self._agent.hello.pid

    @property
    def lost(self) -> bool:
        """Whether the agent has ended; nothing can be asked of it any more."""
        return self._agent.lost

    @property
    def engine_version(self) -> str:
        return self._agent.hello.version

    @property
    def boot_id(self) -> str | None:
        return self._agent.hello.boot_id

    def facts(self) -> dict[str, str | None]:
        """What is true of the machine while nothing runs, by dotted name."""
        values: dict[str, str | None] = self._agent.ask("facts")["values"]
        return values

    def clock(self) -> Clock:
        return Clock.model_validate(self._agent.ask("clock"))

    def path_facts(self, path: str) -> PathFacts:
        return PathFacts.model_validate(self._agent.ask("path", path=path))

    def make_directory(self, path: str) -> None:
        self._agent.ask("make_directory", path=path)

    def remove_tree(self, path: str, *, timeout_s: float = 300) -> None:
        self._agent.ask("remove_tree", path=path, timeout_s=timeout_s)

    def sync_filesystem(self, path: str, *, timeout_s: float = 300) -> None:
        """Waits until all that waited for the disk of ``path`` is on it."""
        self._agent.ask("sync_filesystem", path=path, timeout_s=timeout_s)

    def start(
        self, name: str, argv: list[str], *, directory: str, ready_timeout_s: float
    ) -> Started:
        """Starts a process and waits for the first line it writes."""
        answer = self._agent.ask(
            "start",
            name=name,
            argv=argv,
            directory=directory,
            ready_timeout_ms=round(ready_timeout_s * 1000),
            timeout_s=ready_timeout_s + ANSWER_TIMEOUT_S,
        )
        return Started.model_validate(answer)

    def status(self, name: str) -> ProcessState:
        return ProcessState.model_validate(self._agent.ask("status", name=name))

    def stop(self, name: str, *, grace_s: float) -> ProcessState:
        answer = self._agent.ask(
            "stop", name=name, grace_ms=round(grace_s * 1000), timeout_s=grace_s + ANSWER_TIMEOUT_S
        )
        return ProcessState.model_validate(answer)

    def kill_stale(self, pid: int, start_ticks: int) -> None:
        self._agent.ask("kill_stale", pid=pid, start_ticks=start_ticks)

    def start_load(self, job: dict[str, Any]) -> Future[dict[str, Any]]:
        """Starts a load job; :func:`read_load` reads what comes of it."""
        return self._agent.submit("load", job=job)

    def cancel_load(self) -> None:
        self._agent.ask("cancel_load")

    def start_sampling(
        self, *, interval_s: float, processes: dict[str, int], disks: dict[str, str]
    ) -> None:
        job = {"interval_ms": round(interval_s * 1000), "processes": processes, "disks": disks}
        self._agent.ask("sample_start", job=job)

    def stop_sampling(self) -> Samples:
        return Samples.model_validate(self._agent.ask("sample_stop"))

    def close(self) -> None:
        """Ends the agent and everything it started."""
        self._agent.close()


def read_load(document: dict[str, Any]) -> LoadAnswer:
    """A load job's answer, as read and as it came."""
    return LoadAnswer(LoadResult.model_validate(document), document)
