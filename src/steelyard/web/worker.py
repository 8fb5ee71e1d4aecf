"""The process that makes pages, and what it made, kept until the files of a run change."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from steelyard.history.point import RunPoint
from steelyard.web.making import Content, Fingerprint, Refused, begin, fingerprint_of, make

MOST_KEPT_BYTES = 128 * 2**20
_BYTES_OF_POINT = 8192
MOST_AT_ONCE = 4
"""Of the runs of a history: whoever wants one report does not wait for all of them."""

_Key = tuple[str, str, Fingerprint]


class Kept:
    """What was made last, by kind, run and fingerprint, within so many bytes."""

    def __init__(self, most_bytes: int = MOST_KEPT_BYTES) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._made: OrderedDict[_Key, Content | Refused] = OrderedDict()

    def get(self, key: _Key) -> Content | Refused | None:
        found = self._made.get(key)
        if found is not None:
            self._made.move_to_end(key)
        return found

    def put(self, key: _Key, content: Content | Refused) -> None:
        if key not in self._made:
            self._bytes += _size(content)
        self._made[key] = content
        while self._bytes > self._most_bytes and len(self._made) > 1:
            _, oldest = self._made.popitem(last=False)
            self._bytes -= _size(oldest)


def _size(content: Content | Refused) -> int:
    return len(content) if isinstance(content, str) else _BYTES_OF_POINT


class Worker:
    """One process, started when something is made first, and again when it was killed."""

    def __init__(self) -> None:
        self._pool: ProcessPoolExecutor | None = None
        self._kept = Kept()
        self._going: dict[_Key, asyncio.Task[Content | Refused]] = {}

    async def made(self, kind: str, run: Path, wait_s: float) -> Content | Refused | None:
        """What is asked for; ``None`` when it is not ready within ``wait_s``, and goes on."""
        key = (kind, str(run), await asyncio.to_thread(fingerprint_of, run))
        found = self._kept.get(key)
        if found is not None:
            return found
        task = self._going.get(key)
        if task is None:
            task = self._going[key] = asyncio.create_task(self._make(key))
        done, _ = await asyncio.wait({task}, timeout=wait_s)
        return task.result() if done else None

    async def points(self, runs: Sequence[Path], wait_s: float) -> list[RunPoint | Refused | None]:
        """Those of many runs, a few at once; ``None`` of a run whose turn has not come."""
        found: list[RunPoint | Refused | None] = []
        waiting = 0
        for run in runs:
            if waiting >= MOST_AT_ONCE:
                key = ("point", str(run), await asyncio.to_thread(fingerprint_of, run))
                one = self._kept.get(key)
            else:
                one = await self.made("point", run, wait_s)
                waiting += one is None
            found.append(None if isinstance(one, str) else one)
        return found

    async def _make(self, key: _Key) -> Content | Refused:
        try:
            content = await asyncio.wrap_future(self._submit(key))
            self._kept.put(key, content)
        except BrokenProcessPool:
            self._pool = None
            content = Refused(
                f"the process that reads {key[1]} was killed",
                "it may have needed more memory than there is: `steelyard report` shows it",
            )
        finally:
            self._going.pop(key, None)
        return content

    def _submit(self, key: _Key) -> Future[Content | Refused]:
        if self._pool is None:
            context = multiprocessing.get_context("spawn")
            self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=begin)
        return self._pool.submit(make, *key)

    def close(self) -> None:
        """Ends the process, whatever it is at."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for process in list((pool._processes or {}).values()):  # noqa: SLF001 - no other way before Python 3.14
                process.terminate()
            pool.shutdown(wait=True, cancel_futures=True)
