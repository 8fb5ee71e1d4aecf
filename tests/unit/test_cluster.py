"""Items on the workers of a cluster: the same results in the same order, whoever dies."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard import cluster
from steelyard.errors import HostError, RecordError

dask = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Of two workers, one process each."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with dask.LocalCluster(host="127.0.0.1", **options) as workers:
        yield workers.scheduler_address


def slow_at_first(number: int) -> float:
    """Later items end before the first ones."""
    time.sleep(0.3 if number < 2 else 0.0)
    return number / 3


def once_deadly(item: tuple[str, int]) -> int:
    """The third ends its process the first time that it is tried."""
    folder, number = item
    tried = Path(folder, f"{number}")
    again = tried.exists()
    tried.touch()
    if number == 3 and not again:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def deadly(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def refusing(number: int) -> int:
    if number == 1:
        raise RecordError("the second is damaged", hint="look", slug="record-is-damaged")
    return number


def test_results_come_in_the_order_of_the_items_and_are_the_same_bits(address: str) -> None:
    with cluster.opened(None) as here, cluster.opened(address) as there:
        assert list(there(slow_at_first, range(9))) == list(here(slow_at_first, range(9)))


def test_an_item_whose_worker_was_killed_is_done_by_another(address: str, tmp_path: Path) -> None:
    items = [(str(tmp_path), number) for number in range(8)]
    with cluster.opened(address) as there:
        assert list(there(once_deadly, items)) == [number * number for number in range(8)]


def test_an_item_that_ends_every_worker_is_named_and_those_before_it_are_done() -> None:
    with cluster.opened("local:1") as there:
        results = there(deadly, range(3))
        assert next(results) == 0
        with pytest.raises(HostError, match=rf"^1 ended {cluster.DEATHS} workers") as ended:
            next(results)
    assert ended.value.slug == "cluster-work-ends-workers"


def test_a_cluster_that_has_lost_all_its_workers_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_LOOK_S", 0.1)
    monkeypatch.setattr(cluster, "_ALONE_S", 0.5)
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with (
        dask.LocalCluster(host="127.0.0.1", **options) as workers,
        cluster.opened(workers.scheduler_address) as there,
    ):
        results = there(slow_at_first, range(50))
        assert next(results) == 0
        workers.scale(0)
        with pytest.raises(HostError) as ended:
            list(results)
    assert ended.value.slug == "cluster-does-not-answer"


def test_items_are_taken_as_workers_can_begin_them(address: str) -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(100):
            taken.append(number)
            yield number

    with cluster.opened(address) as there:
        results = there(slow_at_first, items())
        assert next(results) == 0
    assert len(taken) < 50


def test_an_error_arrives_as_it_was_raised(address: str) -> None:
    with cluster.opened(address) as there:
        results = there(refusing, range(2))
        assert next(results) == 0
        with pytest.raises(RecordError) as raised:
            next(results)
    error = raised.value
    assert (error.message, error.hint, error.slug) == (
        "the second is damaged",
        "look",
        "record-is-damaged",
    )


def slug_of(where: str, *packages: str) -> str:
    with pytest.raises(HostError) as refused, cluster.opened(where, packages):
        pass
    assert refused.value.hint
    return refused.value.slug


def test_what_cannot_be_used_is_refused_before_anything_begins(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_ANSWER_S", 0.5)
    for where in ("tcp://127.0.0.1:1", "local:many", "local:0", "nonsense://"):
        assert slug_of(where) == "cluster-does-not-answer"
    monkeypatch.setattr(cluster, "version", lambda _: "0.1")
    assert slug_of(address, "tests.unit") == "cluster-is-unlike"
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert slug_of(address) == "no-dask"
