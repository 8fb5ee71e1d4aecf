"""The conversation with one agent over a pair of pipes.

Whoever can open a pipe to ``steelyard-engine agent`` can use it: a local process here, ``ssh`` or
a container tool elsewhere. The agent ends, with everything it started, when its input ends.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import IO, Any

from pydantic import ValidationError

import steelyard
from steelyard.engine.messages import (
    OTHER_VERSION,
    PROTOCOL,
    AgentRefusal,
    Hello,
    Reply,
    as_answered,
)
from steelyard.engine.patience import Patience, PatienceLost
from steelyard.errors import EngineError

__all__ = ["ANSWER_TIMEOUT_S", "OTHER_VERSION", "Agent", "AgentRefusal"]

ANSWER_TIMEOUT_S = 30.0
GREETING_TIMEOUT_S = 60.0
"""A busy machine is slow to make a container or to exchange keys; one that ends is seen at once."""
_STDERR_KEPT_BYTES = 4096
_LAST_WORDS_S = 2.0
"""What an agent says on stderr may come after its stdout has ended."""
LONGEST_LINE_BYTES = 64 * 2**20
"""A load result with all its intervals has some MiB; no agent of ours sends so much at once."""


class Agent:
    """One running agent. Safe to use from several threads."""

    def __init__(
        self,
        argv: Sequence[str],
        patience: Patience,
        *,
        greeting_timeout_s: float = GREETING_TIMEOUT_S,
    ) -> None:
        """Starts ``argv`` in a session of its own, so that Ctrl-C reaches the controller alone.

        ``patience`` is that of whoever waits for its answers.
        ``greeting_timeout_s`` is long where a machine has to boot before its agent answers.

        Raises:
            EngineError: it cannot be started, or is of another version.
        """
        try:
            self._process = subprocess.Popen(
                list(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise EngineError(
                f"cannot start {argv[0]}: {error.strerror}",
                hint="run `steelyard doctor`",
                slug="engine-is-missing",
            ) from error
        self._stdin = _opened(self._process.stdin)
        self._stdout = _opened(self._process.stdout)
        self._stderr = _opened(self._process.stderr)
        self.patience = patience
        self._last_words = ""
        self._waiting: dict[int, Future[dict[str, Any]]] = {}
        self._verbs: dict[int, str] = {}
        self._ids = itertools.count(1)
        self._lock = threading.Lock()
        self._lost = False
        self._threads = [
            threading.Thread(target=self._read_replies, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        for thread in reversed(self._threads):  # the first waits for the second in its end
            thread.start()
        self.hello = self._greet(greeting_timeout_s)

    @property
    def lost(self) -> bool:
        """Whether the agent has ended."""
        return self._lost

    def another(
        self, argv: Sequence[str], *, greeting_timeout_s: float = GREETING_TIMEOUT_S
    ) -> Agent:
        """A further agent, which ``argv`` opens by way of this one's machine."""
        return Agent(argv, self.patience, greeting_timeout_s=greeting_timeout_s)

    def ask(
        self, verb: str, *, timeout_s: float = ANSWER_TIMEOUT_S, long: bool = False, **fields: Any
    ) -> Any:
        """What the agent answers to ``verb``: the answer's fields, without its kind.

        ``long``: it may take more than a moment, and is waited for as long as there is patience.

        Raises:
            AgentRefusal: it could not do it.
            EngineError: it is gone, or does not answer in time.
            PatienceLost: it is ``long``, and the user asks to stop.
        """
        if long:
            self.patience.check()
        return self.wait_for(self.submit(verb, **fields), verb, timeout_s=timeout_s, long=long)

    def wait_for(
        self, answer: Future[dict[str, Any]], verb: str, *, timeout_s: float, long: bool = False
    ) -> dict[str, Any]:
        """What comes of :meth:`submit`; raises as :meth:`ask` does."""
        try:
            return self.patience.wait(answer, timeout_s) if long else answer.result(timeout_s)
        except FutureTimeoutError as error:
            raise EngineError(
                f"the agent has not answered to `{verb}` for {timeout_s:g} s",
                hint="the machine may be overloaded or suspended; resume the run later",
                slug="agent-is-lost",
            ) from error

    def submit(self, verb: str, **fields: Any) -> Future[dict[str, Any]]:
        """As :meth:`ask`, without waiting."""
        answer: Future[dict[str, Any]] = Future()
        with self._lock:
            if self._lost:
                answer.set_exception(self._lost_error())
                return answer
            request = next(self._ids)
            self._waiting[request] = answer
            self._verbs[request] = verb
            self._send({"id": request, "verb": verb, **fields})
        return answer

    def close(self, *, timeout_s: float = 5.0) -> None:
        """Ends the agent and everything it started; returns when it is gone."""
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for thread in self._threads:
            thread.join()
        self._stdout.close()
        self._stderr.close()

    def kill(self, *, timeout_s: float = 5.0) -> None:
        """Breaks the pipe at once, as a crash of its process would; :meth:`close` still follows."""
        self._process.kill()
        with contextlib.suppress(BrokenPipeError):
            self._stdin.close()
        self._threads[0].join(timeout_s)

    def _greet(self, timeout_s: float) -> Hello:
        try:
            answer = self.ask("hello", protocol=PROTOCOL, timeout_s=timeout_s, long=True)
            return _of_this_version(as_answered(Hello, answer))
        except (EngineError, PatienceLost):
            self.close()
            raise
        except AgentRefusal as refusal:
            self.close()
            raise EngineError(
                refusal.failure.message,
                hint=refusal.failure.hint or "install the same version on both machines",
                slug="engine-of-another-version",
            ) from refusal

    def _send(self, message: dict[str, Any]) -> None:
        # A broken pipe needs no word here: the reading thread sees it and answers all that wait.
        with contextlib.suppress(BrokenPipeError, ValueError):
            self._stdin.write(json.dumps(message).encode() + b"\n")
            self._stdin.flush()

    def _read_replies(self) -> None:
        while line := self._stdout.readline(LONGEST_LINE_BYTES):
            if not line.endswith(b"\n") and len(line) == LONGEST_LINE_BYTES:
                self._give_up_on(f"it sent a line of more than {LONGEST_LINE_BYTES} bytes")
                break
            self._deliver(line)
        with self._lock:
            self._lost = True
            orphans = list(self._waiting.values())
            self._waiting.clear()
        self._threads[1].join(_LAST_WORDS_S)
        for answer in orphans:
            answer.set_exception(self._lost_error())

    def _deliver(self, line: bytes) -> None:
        try:
            reply = Reply.model_validate_json(line)
        except ValidationError:
            return  # not ours: a login banner on a remote pipe, for example
        with self._lock:
            answer = self._waiting.pop(reply.id, None)
            verb = self._verbs.pop(reply.id, "?")
        if answer is None:
            return
        if reply.error is not None:
            answer.set_exception(AgentRefusal(verb, reply.error))
        else:
            fields = dict(reply.ok or {})
            fields.pop("kind", None)
            answer.set_result(fields)

    def _read_stderr(self) -> None:
        while line := self._stderr.readline(_STDERR_KEPT_BYTES):
            self._last_words = line.decode(errors="replace").strip() or self._last_words

    def _give_up_on(self, why: str) -> None:
        """Who does not keep to the protocol is not listened to any longer."""
        self._last_words = why
        self._process.kill()

    def _lost_error(self) -> EngineError:
        last = f": {self._last_words}" if self._last_words else ""
        return EngineError(
            f"the agent has ended unexpectedly{last}",
            hint="if it was killed, look for the reason in the kernel log (out of memory?)",
            slug="agent-is-lost",
        )


def _of_this_version(hello: Hello) -> Hello:
    if hello.version != steelyard.__version__:
        raise EngineError(
            f"the agent is of version {hello.version}, this package is {steelyard.__version__}",
            hint="install package and engine together, on every machine",
            slug=OTHER_VERSION,
        )
    return hello


def _opened(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise RuntimeError("the process was started without this pipe")
    return pipe
