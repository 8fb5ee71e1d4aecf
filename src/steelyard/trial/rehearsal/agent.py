"""An agent that notes what it is asked to do, does none of it, and answers as if it had.

What only looks is asked of the real agent, where there is one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any

from steelyard.engine.agent import ANSWER_TIMEOUT_S, GREETING_TIMEOUT_S, Agent, AgentRefusal
from steelyard.engine.messages import Failure, Hello
from steelyard.engine.patience import Patience
from steelyard.hosts.looks import only_looks
from steelyard.trial.rehearsal.answers import Answer, answer_to
from steelyard.trial.rehearsal.ground import Ground
from steelyard.trial.rehearsal.steps import KERNEL, Steps, shortened

_NOWHERE = "127.0.0.1:PORT"
_PROTOCOLS = ("http", "smtp", "lmtp", "imap", "pop3", "ftp", "tcp", "udp")
_ANSWER = "it is not done, so there is no result"
_DONE: dict[str, Any] = {}
_PROCESS: dict[str, Any] = {
    "running": True,
    "exit_code": None,
    "signal": None,
    "user_ns": None,
    "system_ns": None,
    "max_rss_bytes": None,
    "stderr_tail": "",
}
_SAMPLES: dict[str, Any] = {
    "monotonic_ns": [],
    "read_ns": [],
    "columns": {},
    "rows_lost": 0,
    "missing": {},
}
_CLOCK = {"received_monotonic_ns": 0, "monotonic_ns": 0, "realtime_ns": 0}
_SAME_MACHINE = frozenset({"nsenter", "sh", "taskset"})
_CONTAINER_TOOLS = frozenset({"podman", "systemd-nspawn"})


class NotKnown(AgentRefusal):
    """What comes next depends on what cannot be known without doing it."""

    def __init__(self, why: str) -> None:
        super().__init__("rehearse", Failure(kind="not_known", message=why))


class _NoPause(Patience):
    """Nothing changes by waiting where nothing is done."""

    def pause(self, time_s: float) -> None:
        raise NotKnown(f"the run would wait {time_s:g} s and look again")


class RehearsedAgent(Agent):
    """In place of the agent of a machine; ``ground`` is how the machine would stand by now."""

    def __init__(self, ground: Ground, steps: Steps, hello: Hello) -> None:
        self.patience = _NoPause()
        self.hello = hello
        self._ground = ground
        self._steps = steps
        self._closed = False
        self._doing: dict[str, Callable[..., dict[str, Any]]] = {
            "drop_caches": self._drop_caches,
            "kill_stale": self._kill_stale,
            "listening": self._listening,
            "load": self._load,
            "make_directory": self._make_directory,
            "path": lambda path, **_: ground.facts_of(path),
            "read_file": self._read_file,
            "remove_tree": self._remove_tree,
            "run": self._run,
            "start": self._start,
            "stop": self._stop,
            "sync_filesystem": self._sync_filesystem,
            "write_file": self._write_file,
        }
        self._looked: dict[str, dict[str, Any]] = {
            "clock": _CLOCK,
            "facts": {"values": {}},
            "thread_places": {"threads": []},
            "status": _PROCESS,
            "sample_stop": _SAMPLES,
        }

    @property
    def lost(self) -> bool:
        return False

    def another(
        self,
        argv: Sequence[str],
        *,
        greeting_timeout_s: float = GREETING_TIMEOUT_S,  # noqa: ARG002
    ) -> Agent:
        """On the same machine, or inside a system that is not there yet."""
        self._note("agent", words=argv)
        if "podman" in argv:
            self._ground.start_container(argv)
        first = argv[0].rpartition("/")[2]
        own = first in _SAME_MACHINE or first.startswith("steelyard-engine")
        if own and argv[-1] == "agent" and _CONTAINER_TOOLS.isdisjoint(argv):
            return RehearsedAgent(self._ground, self._steps, self.hello)
        blank = self.hello.model_copy(update={"boot_id": None})
        return RehearsedAgent(Ground(f"inside {self._steps.system}"), self._steps, blank)

    def ask(
        self, verb: str, *, timeout_s: float = ANSWER_TIMEOUT_S, long: bool = False, **fields: Any
    ) -> Any:
        doing = self._doing.get(verb)
        if doing is not None:
            return doing(**fields)
        real = self._ground.real
        if real is not None and verb in ("clock", "facts", "thread_places"):
            return real.ask(verb, timeout_s=timeout_s, long=long, **fields)
        return self._looked.get(verb, _DONE)

    def submit(self, verb: str, **fields: Any) -> Future[dict[str, Any]]:
        answer: Future[dict[str, Any]] = Future()
        try:
            answer.set_result(self.ask(verb, **fields))
        except AgentRefusal as refusal:
            answer.set_exception(refusal)
        return answer

    def wait_for(
        self,
        answer: Future[dict[str, Any]],
        verb: str,  # noqa: ARG002
        *,
        timeout_s: float,  # noqa: ARG002
        long: bool = False,  # noqa: ARG002
    ) -> dict[str, Any]:
        return answer.result(0)

    def close(self, *, timeout_s: float = 5.0) -> None:
        """Nothing was opened by it."""

    def kill(self, *, timeout_s: float = 5.0) -> None:
        """As :meth:`close`."""

    def _note(self, kind: Any, **more: Any) -> None:
        self._steps.note(self._ground.name, kind, **more)

    def _drop_caches(self, **_more: Any) -> dict[str, Any]:
        self._note("drop_caches")
        return _DONE

    def _kill_stale(self, **_more: Any) -> dict[str, Any]:
        self._note("end_process")
        return _DONE

    def _listening(
        self, *, timeout_ms: int, port: int | None, unix_path: str | None, **_more: Any
    ) -> dict[str, Any]:
        place = unix_path or f"port {port}"
        self._note("wait", path=place, within_s=timeout_ms / 1000)
        return _DONE

    def _load(self, *, job: dict[str, Any]) -> dict[str, Any]:
        self._note("load", path=str(job.get("target")))
        raise NotKnown(_ANSWER)

    def _make_directory(self, *, path: str) -> dict[str, Any]:
        if self._ground.make_folder(path):
            self._note("make_folder", path=path)
        return _DONE

    def _read_file(self, *, path: str) -> dict[str, Any]:
        content = self._ground.read(path)
        return {"content": content, "exact": True, "size_bytes": len(content)}

    def _remove_tree(self, *, path: str, **_more: Any) -> dict[str, Any]:
        if self._ground.remove(path):
            self._note("remove", path=path)
        return _DONE

    def _sync_filesystem(self, *, path: str, **_more: Any) -> dict[str, Any]:
        self._note("sync", path=path)
        return _DONE

    def _write_file(self, *, path: str, content: str, **_more: Any) -> dict[str, Any]:
        now = self._ground.write(path, content)
        if path.startswith(KERNEL):
            self._note("write", path=path, now=_line(now), then=content)
            return _DONE
        text, size_bytes = shortened(content)
        self._note("write", path=path, then=text, size_bytes=size_bytes)
        return _DONE

    def _run(
        self,
        *,
        argv: list[str],
        timeout_ms: int,
        stdin: str | None = None,
        environment: dict[str, str] | None = None,
        directory: str | None = None,
        **_more: Any,
    ) -> dict[str, Any]:
        """Runs what only looks; words that come from a study or a catalogue file never do."""
        own = not environment and directory is None
        script = argv[:2] == ["sh", "-c"]
        looks = (own or script) and only_looks(argv)
        known = answer_to(argv, self._ground) if looks or own else None
        self._note("look" if looks else "run", words=argv, stdin=None if looks else stdin)
        if known is not None:
            return known.document()
        real = self._ground.real
        if looks and real is not None and self._is_there(argv):
            folder = directory if directory and self._ground.exists(directory) is None else None
            fields: dict[str, Any] = {"argv": argv, "timeout_ms": timeout_ms, "stdin": stdin}
            timeout_s = timeout_ms / 1000 + ANSWER_TIMEOUT_S
            ran: dict[str, Any] = real.ask(
                "run", timeout_s=timeout_s, environment={}, directory=folder, **fields
            )
            return ran
        return Answer().document()

    def _is_there(self, argv: Sequence[str]) -> bool:
        """Whether nothing that it looks at exists in the rehearsal alone."""
        made = (*self._ground.loops, *self._ground.arrays)
        return not any(word in made or self._ground.exists(word) for word in argv[1:])

    def _start(
        self, *, argv: list[str], ready_timeout_ms: int | None = None, **_more: Any
    ) -> dict[str, Any]:
        within_s = None if ready_timeout_ms is None else ready_timeout_ms / 1000
        self._note("start", words=argv, within_s=within_s)
        said = {"listening": _NOWHERE, "listeners": dict.fromkeys(_PROTOCOLS, _NOWHERE)}
        return {"pid": self.hello.pid, "start_ticks": 1, "ready_line": json.dumps(said)}

    def _stop(self, **more: Any) -> dict[str, Any]:
        self._note("stop", words=tuple(more.get("with") or ()))
        return _PROCESS | {"running": False, "exit_code": 0}


def _line(value: str | None) -> str | None:
    return None if value is None else value.strip()
