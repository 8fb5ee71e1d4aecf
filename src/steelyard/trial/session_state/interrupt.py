"""Ctrl-C, SIGTERM and SIGHUP that tear nothing: acted on at once where safe, else noted.

The handler raises only inside :meth:`Interrupt.waiting`, and ends long waits for agents inside
:meth:`Interrupt.cutting`; everywhere else (storing, undoing) it leaves a note that is read at the
next step. So no record is half written and no undo half done, however often the key is pressed.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.patience import Patience
from steelyard.errors import EngineError
from steelyard.hosts.failures import SystemFailure
from steelyard.trial.attempt.outcomes import TrialFailed
from steelyard.trial.session_state.terminal import leave_terminal

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_FAILURES = (AgentRefusal, EngineError, SystemFailure, TrialFailed)


class Interrupt:
    """Whether the user asked to stop, and how often.

    ``told`` is called with the count at each signal, inside its handler.
    """

    def __init__(self, told: Callable[[int], None] | None = None) -> None:
        self.count = 0
        self.patience = Patience()
        self._told = told
        self._may_raise = False
        self._may_cut = False

    @property
    def asked(self) -> bool:
        return self.count > 0

    @property
    def hurried(self) -> bool:
        """Whether the user asked again: then nothing is waited for that need not be."""
        return self.count > 1

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Takes over SIGINT, SIGTERM and SIGHUP for as long as the block lasts.

        A SIGHUP that is ignored (``nohup``) stays ignored.
        """
        taken = [n for n in _SIGNALS if n != signal.SIGHUP or signal.getsignal(n) != signal.SIG_IGN]
        before = {number: signal.signal(number, self._hear) for number in taken}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """A block that only waits or computes.

        Raises:
            KeyboardInterrupt: the user asks, or has asked before.
        """
        self._may_raise = True
        try:
            self.check()
            yield
        finally:
            self._may_raise = False

    @contextmanager
    def cutting(self) -> Iterator[None]:
        """A block that changes machines: its long waits end early, and what it began is undone
        by whoever undoes what it changes.

        Raises:
            KeyboardInterrupt: the user asks, or has asked before; also in place of the failure that
                came of a wait that was ended.
        """
        self._may_cut = True
        try:
            self.check()
            yield
        except _FAILURES as failure:
            if self.patience.cut:
                raise KeyboardInterrupt from failure
            raise
        else:
            if self.patience.cut:  # and somebody took it for an answer
                raise KeyboardInterrupt
        finally:
            self._may_cut = False
            self.patience.regain()

    def check(self) -> None:
        """Raises ``KeyboardInterrupt`` if the user has asked."""
        if self.asked:
            raise KeyboardInterrupt

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        self.count += 1
        if number == signal.SIGHUP:
            leave_terminal()
        if self._told is not None:
            self._told(self.count)
        if self._may_cut:
            self.patience.lose()
        if self._may_raise:
            self._may_raise = False
            raise KeyboardInterrupt
