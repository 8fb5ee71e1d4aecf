"""One machine that takes part, through its agent: files, processes, facts, samples, load."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from steelyard.engine.agent import (
    ANSWER_TIMEOUT_S,
    GREETING_TIMEOUT_S,
    Agent,
    AgentRefusal,
)
from steelyard.engine.messages import (
    Clock,
    Facts,
    Failure,
    FileContent,
    LoadResult,
    PathFacts,
    ProcessState,
    Ran,
    Samples,
    Started,
    ThreadPlaces,
    as_answered,
)
from steelyard.engine.patience import Patience, PatienceLost
from steelyard.errors import EngineError
from steelyard.hosts.clocks import ClockExchange, ClockOffset, WallOffset
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.secrets import with_secrets, without_secrets
from steelyard.hosts.transport import Way, here

_BYE_TIMEOUT_S = 5.0


@dataclass(frozen=True)
class LoadAnswer:
    """A load run: as read, and as it came."""

    result: LoadResult
    document: dict[str, Any]


class Host:
    """A machine by name (``local``, ``ssh://pi@raspberry``, ``inside:LABEL``), and the way there.

    ``engine`` is the path of the engine on it, so that further agents can be opened. ``network`` is
    the path of the network namespace in which its agent stands, where that is one of the run's.

    Every method may raise ``AgentRefusal`` (the machine refused, with a typed reason) or
    ``EngineError`` (the agent is gone).
    """

    def __init__(
        self,
        name: str,
        agent: Agent,
        way: Way = here,
        engine: str = "",
        network: str | None = None,
    ) -> None:
        self.name = name
        self.way = way
        self.engine = engine
        self.network = network
        self._agent = agent

    @property
    def patience(self) -> Patience:
        """How long its agent is waited for, and any other that is opened by way of it."""
        return self._agent.patience

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

    def open_agent(
        self, argv: Sequence[str], *, greeting_timeout_s: float = GREETING_TIMEOUT_S
    ) -> Agent:
        """A further agent on this machine or within a system that it carries.

        ``argv`` are words for the controller. Raises ``EngineError`` when none answers.
        """
        return self._agent.another(argv, greeting_timeout_s=greeting_timeout_s)

    def with_agent(self, wrap: Callable[[Agent], Agent]) -> Host:
        """The same machine by another agent, made of this one."""
        return Host(self.name, wrap(self._agent), self.way, self.engine, self.network)

    def facts(self) -> dict[str, str | None]:
        """What is true of the machine while nothing runs, by dotted name."""
        return as_answered(Facts, self._agent.ask("facts")).values

    def clock(self) -> Clock:
        return as_answered(Clock, self._agent.ask("clock"))

    def clock_offset(self, *, exchanges: int = 8) -> ClockOffset:
        """How far the machine's clock is from the controller's, by the quickest exchange."""
        return ClockOffset.of(self._exchange_stamps() for _ in range(exchanges))

    def wall_offset(self) -> WallOffset:
        """How far its wall clock is ahead of the controller's."""
        offset, there = self.clock_offset(), self.clock()
        here_ns = time.time_ns() - time.monotonic_ns()
        return WallOffset.of(offset, there.realtime_ns - there.monotonic_ns, here_ns)

    def _exchange_stamps(self) -> ClockExchange:
        sent_ns = time.monotonic_ns()
        clock = self.clock()
        returned_ns = time.monotonic_ns()
        return ClockExchange(sent_ns, clock.received_monotonic_ns, clock.monotonic_ns, returned_ns)

    def path_facts(self, path: str) -> PathFacts:
        return as_answered(PathFacts, self._agent.ask("path", path=path))

    def make_directory(self, path: str) -> None:
        self._agent.ask("make_directory", path=path)

    def remove_tree(self, path: str, *, timeout_s: float = 300) -> None:
        self._agent.ask("remove_tree", path=path, timeout_s=timeout_s)

    def sync_filesystem(self, path: str, *, timeout_s: float = 300) -> None:
        """Waits until all that waited for the disk of ``path`` is on it."""
        self._agent.ask("sync_filesystem", path=path, timeout_s=timeout_s, long=True)

    def drop_caches(self, *, timeout_s: float = 300) -> None:
        """Writes dirty pages, then drops pages, directory entries and inodes; needs root."""
        self._agent.ask("drop_caches", timeout_s=timeout_s, long=True)

    def run(
        self,
        argv: list[str],
        *,
        timeout_s: float,
        stdin: str | None = None,
        environment: dict[str, str] | None = None,
        directory: str | None = None,
        start_at_monotonic_ns: int | None = None,
    ) -> Ran:
        """Runs a program to its end; ``@engine`` as its first word is the engine itself.

        ``timeout_s`` counts from its start on, which is ``start_at_monotonic_ns`` by the clock of
        the machine. Raises ``AgentRefusal`` when it cannot be started, never when it fails. It is
        ended with the patience of who waits for it.
        """
        self.patience.check()
        answer = self.submit_run(
            argv,
            timeout_s=timeout_s,
            stdin=stdin,
            environment=environment,
            directory=directory,
            start_at_monotonic_ns=start_at_monotonic_ns,
        )
        wait_s = timeout_s + ANSWER_TIMEOUT_S
        if start_at_monotonic_ns is not None:
            wait_s += max(0, start_at_monotonic_ns - self.clock().monotonic_ns) / 1e9
        try:
            return read_ran(self._agent.wait_for(answer, "run", timeout_s=wait_s, long=True))
        except (KeyboardInterrupt, PatienceLost):
            with contextlib.suppress(AgentRefusal, EngineError):
                self.cancel_runs()
            raise

    def submit_run(
        self,
        argv: list[str],
        *,
        timeout_s: float,
        stdin: str | None = None,
        environment: dict[str, str] | None = None,
        directory: str | None = None,
        start_at_monotonic_ns: int | None = None,
    ) -> Future[dict[str, Any]]:
        """As :meth:`run`, without waiting; :func:`read_ran` reads what comes of it."""
        return self._agent.submit(
            "run",
            argv=argv,
            timeout_ms=round(timeout_s * 1000),
            stdin=stdin,
            environment=environment or {},
            directory=directory,
            start_at_monotonic_ns=start_at_monotonic_ns,
        )

    def cancel_runs(self) -> None:
        """Kills all that :meth:`run` and :meth:`submit_run` run; their answers say so."""
        self._agent.ask("cancel_runs")

    def read_file(self, path: str) -> str:
        """All of a small text file.

        Raises:
            AgentRefusal: it cannot be read, is larger than 1 MiB, or is not UTF-8.
        """
        read = as_answered(FileContent, self._agent.ask("read_file", path=path))
        if not read.exact:
            message = f"{path} is no text in UTF-8 of at most 1 MiB"
            raise AgentRefusal("read_file", Failure(kind="bad_request", message=message))
        return read.content

    def write_file(
        self,
        path: str,
        content: str,
        *,
        mode: int | None = None,
        create: bool = False,
        durable: bool = False,
    ) -> None:
        """Writes a file whole; ``durable``: it is on the disk when this returns."""
        self._agent.ask(
            "write_file", path=path, content=content, mode=mode, create=create, durable=durable
        )

    def await_listening(
        self,
        *,
        timeout_s: float,
        address: str | None = None,
        port: int | None = None,
        unix_path: str | None = None,
        protocol: Literal["tcp", "udp"] = "tcp",
        unless_ended: str | None = None,
    ) -> None:
        """Waits until something listens at a port or a unix socket; never connects to it.

        The end of the process started as ``unless_ended`` ends the waiting.

        Raises:
            AgentRefusal: ``not_ready`` says who listens nearby, ``process_died`` how it ended.
        """
        self._agent.ask(
            "listening",
            address=address,
            port=port,
            unix_path=unix_path,
            protocol=protocol,
            timeout_ms=round(timeout_s * 1000),
            unless_ended=unless_ended,
            timeout_s=timeout_s + ANSWER_TIMEOUT_S,
            long=True,
        )

    def start(
        self, name: str, argv: list[str], *, directory: str, ready_timeout_s: float | None
    ) -> Started:
        """Starts a process and waits for the first line it writes, or not at all."""
        waiting_ms = None if ready_timeout_s is None else round(ready_timeout_s * 1000)
        answer = self._agent.ask(
            "start",
            name=name,
            argv=argv,
            directory=directory,
            ready_timeout_ms=waiting_ms,
            timeout_s=(ready_timeout_s or 0) + ANSWER_TIMEOUT_S,
            long=ready_timeout_s is not None,
        )
        return as_answered(Started, answer)

    def status(self, name: str) -> ProcessState:
        return as_answered(ProcessState, self._agent.ask("status", name=name))

    def stop(self, name: str, *, grace_s: float, command: list[str] | None = None) -> ProcessState:
        """Ends a process and all it started: by ``command`` (``postfix stop``) or SIGTERM first.

        After ``grace_s`` whatever is left is killed.
        """
        by: dict[str, Any] = {"with": command}  # a keyword of Python, which cannot be one here
        answer = self._agent.ask(
            "stop",
            name=name,
            grace_ms=round(grace_s * 1000),
            timeout_s=grace_s + ANSWER_TIMEOUT_S,
            **by,
        )
        return as_answered(ProcessState, answer)

    def kill_stale(self, pid: int, start_ticks: int) -> None:
        self._agent.ask("kill_stale", pid=pid, start_ticks=start_ticks)

    def start_load(self, job: dict[str, Any]) -> Future[dict[str, Any]]:
        """Starts a load job; :func:`read_load` reads what comes of it."""
        return self._agent.submit("load", job=with_secrets(job))

    def merge_loads(self, documents: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """One result of those of all generators of a job, whose moments are those of one clock."""
        answer: dict[str, Any] = self._agent.ask("merge_loads", results=list(documents))
        return answer

    def cancel_load(self) -> None:
        self._agent.ask("cancel_load")

    def thread_places(self, pid: int) -> ThreadPlaces:
        """Where the threads of a process and of all below it may run and last did."""
        return as_answered(ThreadPlaces, self._agent.ask("thread_places", pid=pid))

    def start_sampling(
        self,
        *,
        interval_s: float,
        processes: dict[str, int],
        disks: dict[str, str],
        cgroups: dict[str, str] | None = None,
        threads: dict[str, tuple[int, tuple[int, ...]]] | None = None,
    ) -> None:
        """Begins; ``threads`` are a process and some of its threads, by a name."""
        followed = {
            name: {"process": process, "ids": list(ids)}
            for name, (process, ids) in (threads or {}).items()
        }
        job = {
            "interval_ms": round(interval_s * 1000),
            "processes": processes,
            "disks": disks,
            "cgroups": cgroups or {},
            "threads": followed,
        }
        self._agent.ask("sample_start", job=job)

    def stop_sampling(self) -> Samples:
        return as_answered(Samples, self._agent.ask("sample_stop"))

    def kill(self) -> None:
        """Breaks the pipe to the agent at once; for checks of what happens then."""
        self._agent.kill()

    def leave(self) -> None:
        """Asks the agent to end, then closes: for a pipe that may outlive its agent."""
        with contextlib.suppress(AgentRefusal, EngineError):
            self._agent.ask("bye", timeout_s=_BYE_TIMEOUT_S)
        self._agent.close()

    def close(self) -> None:
        """Ends the agent and everything it started."""
        self._agent.close()


def read_ran(document: dict[str, Any]) -> Ran:
    """What came of a program that was run."""
    return as_answered(Ran, document)


def read_load(document: dict[str, Any]) -> LoadAnswer:
    """A load job's answer, as read, and as it came but for passwords.

    Raises:
        SystemFailure: ``engine_unfit``: an engine of another version wrote it, as with a kind of
            warning that is unknown here.
    """
    try:
        return LoadAnswer(LoadResult.model_validate(document), without_secrets(document))
    except ValidationError as error:
        raise SystemFailure(
            "engine_unfit",
            "the engine is of another version than this package, which cannot read the result of "
            f"its load: {_unread(error)}",
            "install package and engine together, on every machine",
        ) from error


def _unread(error: ValidationError) -> str:
    """The first field that cannot be read."""
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f"`{where}` is missing"
    return f"`{where}` is {first['input']!r:.80}"
