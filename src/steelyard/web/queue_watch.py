"""What the queue of a laboratory says of the runs of the list.

Who serves says how it is asked. One that is away takes half a minute to say so, and pages do not
wait for it: it is asked beside them, at most once in some seconds, and only while somebody looks at
runs that were given to it.
"""

from __future__ import annotations

import stat
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.errors import RecordError
from steelyard.records.submission import FOLDER
from steelyard.web.reading import refuse_unreadable

LEAST_S = 10.0
_FIRST_WAIT_S = 1.0

Standing = Mapping[str, Any]
"""How a submission stands, as JSON has it."""
Ask = Callable[[Sequence[Path]], Mapping[str, Standing]]
"""From the folders of runs to how each stands, by its path."""


class QueueWatch:
    """What was said last, and when to ask again. Safe to use from several threads."""

    def __init__(self, ask: Ask, least_s: float = LEAST_S) -> None:
        self._ask = ask
        self._least_s = least_s
        self._lock = threading.Lock()
        self._asked_s: float | None = None
        self._asking: threading.Thread | None = None
        self._told: Mapping[str, Standing] = {}

    def standing(self, runs: Iterable[Path]) -> Mapping[str, Standing]:
        """Of those that were given to a queue, by their paths, as of some seconds ago."""
        submitted = [run for run in runs if _is_submitted(run)]
        if submitted:
            first = self._asked_s is None
            asking = self._begin(submitted)
            if first and asking is not None:
                asking.join(_FIRST_WAIT_S)
        return self._told

    def _begin(self, runs: Sequence[Path]) -> threading.Thread | None:
        with self._lock:
            if self._asking is not None and self._asking.is_alive():
                return self._asking
            now_s = time.monotonic()
            if self._asked_s is not None and now_s - self._asked_s < self._least_s:
                return None
            self._asked_s = now_s
            self._asking = threading.Thread(target=self._look, args=(runs,), daemon=True)
            self._asking.start()
            return self._asking

    def _look(self, runs: Sequence[Path]) -> None:
        try:
            self._told = self._ask([run for run in runs if _is_readable(run / FOLDER)])
        except Exception:  # noqa: BLE001 - whatever it is, the list is shown without it
            self._told = {}
        self._asked_s = time.monotonic()


def _is_submitted(run: Path) -> bool:
    try:
        return stat.S_ISDIR((run / FOLDER).lstat().st_mode)
    except OSError:
        return False


def _is_readable(folder: Path) -> bool:
    try:
        refuse_unreadable(folder)
    except (RecordError, OSError):
        return False
    return True
