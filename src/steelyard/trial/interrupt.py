"""Ctrl-C that never tears anything: it is heard at once while waiting, and noted otherwise.

The handler raises only inside :meth:`Interrupt.waiting`; everywhere else (starting, storing,
undoing) it leaves a note that is read at the next step. So no record is half written and no undo
half done, however often the key is pressed.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupt:
    """Whether the user asked to stop."""

    def __init__(self) -> None:
        self.asked = False
        self._may_raise = False

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Takes over SIGINT and SIGTERM for as long as the block lasts."""
        before = {number: signal.signal(number, self._hear) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """A block that only waits.

        Raises:
            KeyboardInterrupt: the user asks, or has asked before.
        """
        self._may_raise = True
        try:
            self.check()
            yield
        finally:
            self._may_raise = False

    def check(self) -> None:
        """Raises ``KeyboardInterrupt`` if the user has asked."""
        if self.asked:
            raise KeyboardInterrupt

    def _hear(self, _number: int, _frame: FrameType | None) -> None:
        self.asked = True
        if self._may_raise:
            self._may_raise = False
            raise KeyboardInterrupt
