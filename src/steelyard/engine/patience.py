"""How long calls wait for agents: until the user asks to stop.

One is passed along from the session, which loses it by a signal, to every agent of the session.
Losing it ends long waits (a command, a disk that writes, a guest that boots), never what they wait
for alone: a command is ended by whoever waited for it. Each thread is notified once, so that its
clean-up is done as ever, and again at every :meth:`Patience.pause`, so that it does not try another
time.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

from steelyard.engine.messages import AgentRefusal, Failure

_LOOK_EVERY_S = 0.1


class PatienceLost(AgentRefusal):
    """A wait ended because the user asked to stop; clean-up treats it as a refusal of the agent."""

    def __init__(self) -> None:
        message = "it was ended because the user asked to stop"
        super().__init__("wait", Failure(kind="cancelled", message=message))


class Patience:
    """Lost by a signal, regained when what was under way has ended."""

    def __init__(self) -> None:
        self._lost = False
        self._told: set[int] = set()

    @property
    def cut(self) -> bool:
        """Whether a wait has been ended early."""
        return bool(self._told)

    def lose(self) -> None:
        """Ends waits; may be called from the handler of a signal."""
        self._lost = True

    def regain(self) -> None:
        self._lost = False
        self._told = set()

    def check(self) -> None:
        """Raises :class:`PatienceLost` once in each thread after the loss."""
        if self._lost and threading.get_ident() not in self._told:
            self._tell()

    def pause(self, time_s: float) -> None:
        """Sleeps between two tries; raises :class:`PatienceLost` however often it is lost."""
        end_s = time.monotonic() + time_s
        while not self._lost:
            left_s = end_s - time.monotonic()
            if left_s <= 0:
                return
            time.sleep(min(left_s, _LOOK_EVERY_S))
        self._tell()

    def wait(self, answer: Future[dict[str, Any]], timeout_s: float) -> dict[str, Any]:
        """The result of ``answer``.

        Raises:
            PatienceLost: the user asks to stop.
            concurrent.futures.TimeoutError: it did not come in time.
        """
        end_s = time.monotonic() + timeout_s
        while True:
            self.check()
            left_s = end_s - time.monotonic()
            try:
                return answer.result(max(0.0, min(left_s, _LOOK_EVERY_S)))
            except FutureTimeoutError:
                if left_s <= _LOOK_EVERY_S:
                    raise

    def _tell(self) -> None:
        self._told.add(threading.get_ident())
        raise PatienceLost
