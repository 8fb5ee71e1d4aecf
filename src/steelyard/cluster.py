"""Work without side effects, one item after the other here or on the workers of a Dask cluster.

What is done to an item must be a pure function: a scheduler starts an item again whose worker has
died, on another worker or on two. Results come in the order of the items, so that who adds them
up gets the same bits wherever and how often they were computed. Trials are never such items.

Dask is imported when a cluster is asked for, not before.
"""

from __future__ import annotations

import hashlib
import importlib
import platform
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn, Protocol, TypeVar

import numpy as np

from steelyard.errors import HostError

LOCAL = "local:"
"""Before a number of processes on this machine, in place of the address of a scheduler."""
DEATHS = 3
"""An item that has ended so many workers is not given to another."""
_ANSWER_S = 10.0
_LOOK_S = 10.0
_ALONE_S = 300.0
"""So long a cluster may be without any worker: one that was killed is started again by then."""
_LIBRARIES = ("numpy", "distributed", "dask", "cloudpickle")
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

Alike = dict[str, str]
"""What has to be the same here and on each worker, for the same bits."""


class Mapped(Protocol):
    """Like the built-in ``map``: items are taken one by one, results come in their order."""

    def __call__(
        self, function: Callable[[_Item], _Result], items: Iterable[_Item]
    ) -> Iterator[_Result]: ...


@contextmanager
def opened(cluster: str | None, packages: Sequence[str] = ("steelyard",)) -> Iterator[Mapped]:
    """The way to map a function here, or on the workers of ``cluster``.

    That is ``local:N`` or the address of a scheduler. ``packages``: whose source decides about
    results, and has to be the same on every worker.

    Raises:
        HostError: Dask is not installed, no scheduler or worker answers, or one is unlike.
    """
    if cluster is None:
        yield _here
        return
    dask = _dask()
    with ExitStack() as stack:
        client = _client(dask, cluster, stack)
        wanted = alike(tuple(packages))
        _refuse_unlike(client, wanted, tuple(packages))

        def mapped(
            function: Callable[[_Item], _Result], items: Iterable[_Item]
        ) -> Iterator[_Result]:
            work = _Work(dask, client, function, wanted, tuple(packages))
            results = work.results(iter(items))
            stack.callback(results.close)
            return results

        yield mapped


def _here(function: Callable[[_Item], _Result], items: Iterable[_Item]) -> Iterator[_Result]:
    return map(function, items)


@cache
def alike(packages: tuple[str, ...]) -> Alike:
    """As this process has it: versions, and digests of the source of packages."""
    simd: Any = np.show_config(mode="dicts")
    found = {
        "python": platform.python_version(),
        "processor": f"{platform.machine()} {simd['SIMD Extensions'].get('found', '')}",
    }
    found |= {name: version(name) for name in _LIBRARIES}
    return found | {f"source of {name}": _source_sha256(name) for name in packages}


def _source_sha256(package: str) -> str:
    whole = hashlib.sha256()
    (folder,) = importlib.import_module(package).__path__
    for path in sorted(Path(folder).rglob("*.py")):
        whole.update(f"{path.relative_to(folder)}\0".encode())
        whole.update(path.read_bytes())
    return whole.hexdigest()


def _dask() -> Any:
    try:
        return importlib.import_module("distributed")
    except ImportError as error:
        raise HostError(
            "a cluster needs Dask, which is not installed",
            hint="pip install 'steelyard[cluster]'",
            slug="no-dask",
        ) from error


def _client(dask: Any, cluster: str, stack: ExitStack) -> Any:
    """Closed by the stack; of processes on this machine, these as well."""
    address: Any = cluster
    if cluster.startswith(LOCAL):
        count = _count(cluster)
        importlib.import_module("dask").config.set(
            {
                "distributed.scheduler.allowed-failures": DEATHS - 1,
                # after 15 s a killed worker is given up, and a busy machine takes longer
                "distributed.deploy.lost-worker-timeout": f"{_ALONE_S:g}s",
            }
        )
        address = stack.enter_context(
            dask.LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
            )
        )
    try:
        client = stack.enter_context(dask.Client(address, timeout=_ANSWER_S))
        client.wait_for_workers(1, timeout=_ANSWER_S)
    except (OSError, ValueError, TimeoutError) as error:
        _refuse_silent(cluster, error)
    return client


def _count(cluster: str) -> int:
    text = cluster.removeprefix(LOCAL)
    if not text.isdecimal() or int(text) < 1:
        _refuse_silent(cluster, ValueError(f"{text!r} is no number of processes"))
    return int(text)


def _refuse_silent(cluster: str, error: Exception) -> NoReturn:
    said = str(error).strip() or type(error).__name__
    raise HostError(
        f"no worker answers at {cluster}: {said.splitlines()[0]}",
        hint="give the address that `dask scheduler` prints, as tcp://HOST:8786, with a worker "
        f"beside it, or {LOCAL}N for N processes on this machine",
        slug="cluster-does-not-answer",
    ) from error


def _refuse_unlike(client: Any, wanted: Alike, packages: tuple[str, ...]) -> None:
    try:
        found: dict[str, Alike] = client.run(alike, packages)
    except ImportError as error:
        _refuse_other("a worker", str(error))
    for worker, own in found.items():
        wrong = [name for name in wanted if own.get(name) != wanted[name]]
        if wrong:
            _refuse_other(f"the worker {worker}", f"{wrong[0]} is {own.get(wrong[0])}")


def _refuse_other(worker: str, how: str) -> NoReturn:
    raise HostError(
        f"{worker} would not give the same bits as this machine: {how}",
        hint="start workers from the same checkout and environment as this command, on the same "
        "kind of processor",
        slug="cluster-is-unlike",
    )


class _Work:
    """One function on many items, of which as many are given out as workers can begin at once.

    More would wait at a worker, and be blamed for its death as much as the one that it worked on.
    """

    def __init__(
        self,
        dask: Any,
        client: Any,
        function: Callable[[_Item], _Result],
        wanted: Alike,
        packages: tuple[str, ...],
    ) -> None:
        self._dask, self._client = dask, client
        self._run = _Checked(function, wanted, packages)
        self._given: dict[Any, int] = {}
        self._items: dict[int, Any] = {}
        self._done: dict[int, tuple[Any, Exception | None]] = {}
        self._taken = 0
        self._had_workers_s = time.monotonic()

    def results(self, items: Iterator[Any]) -> Generator[Any]:
        """In order; what is not done when the reader goes is cancelled."""
        place = 0
        try:
            while True:
                self._give(items)
                if place in self._done:
                    value, error = self._done.pop(place)
                    if error is not None:
                        raise error
                    yield value
                    place += 1
                elif self._given:
                    self._wait()
                else:
                    return
        finally:
            self._client.cancel([*self._given])

    def _give(self, items: Iterator[Any]) -> None:
        room = max(sum(self._client.nthreads().values()), 1) - len(self._given)
        for _ in range(room):
            item = next(items, self)
            if item is self:
                return
            self._items[self._taken] = item
            self._given[self._client.submit(self._run, item, pure=False)] = self._taken
            self._taken += 1

    def _wait(self) -> None:
        """What has ended is fetched at once, before the worker that holds it may die.

        Raises:
            HostError: there is no worker any more.
        """
        try:
            looked = self._dask.wait([*self._given], _LOOK_S, return_when="FIRST_COMPLETED")
        except TimeoutError:
            self._refuse_alone()
            return
        self._had_workers_s = time.monotonic()
        for future in looked.done:
            place = self._given.pop(future)
            self._done[place] = self._fetched(future, self._items.pop(place))

    def _refuse_alone(self) -> None:
        if self._client.nthreads():
            self._had_workers_s = time.monotonic()
        elif time.monotonic() - self._had_workers_s > _ALONE_S:
            raise HostError(
                f"the cluster has had no worker for {_ALONE_S:g} s",
                hint="start workers again, then the same command",
                slug="cluster-does-not-answer",
            )

    def _fetched(self, future: Any, item: Any) -> tuple[Any, Exception | None]:
        try:
            return future.result(), None
        except self._dask.scheduler.KilledWorker as error:
            return None, _ended_workers(item, error)
        except Exception as error:  # noqa: BLE001 - raised where the item has its turn
            return None, error


def _ended_workers(item: Any, error: Any) -> HostError:
    return HostError(
        f"{item} ended {error.allowed_failures + 1} workers, the last at "
        f"{error.last_worker.address}",
        hint="look at the output of that worker: most often there was too little memory",
        slug="cluster-work-ends-workers",
    )


class _Checked:
    """The function, for workers that are like this process; others may have joined since."""

    def __init__(
        self, function: Callable[[Any], Any], wanted: Alike, packages: tuple[str, ...]
    ) -> None:
        self._function, self._wanted, self._packages = function, wanted, packages

    def __call__(self, item: Any) -> Any:
        if alike(self._packages) != self._wanted:
            _refuse_other("a worker that joined later", "other versions or another checkout")
        return self._function(item)
