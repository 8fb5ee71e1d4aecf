"""The bottleneck of a trial is the first resource that was used up, or nothing that was seen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from steelyard.records.warnings import Resource
from steelyard.trial.observe.bottleneck import bottleneck_of
from steelyard.trial.observe.responses import Seen

SECOND = 1_000_000_000
Make = Callable[..., Seen]


def columns(service: float = 0.1, idle: float = 1.5, disk: float = 0.0) -> dict[str, list[int]]:
    return {
        "process.service.cpu_ns": [0, round(service * SECOND)],
        "cpu.idle_ns": [0, round(idle * SECOND)],
        "cpu.iowait_ns": [0, 0],
        "disk.store.io_ns": [0, round(disk * SECOND)],
    }


def found(seen: Seen) -> tuple[Resource, float]:
    bottleneck = bottleneck_of(replace(seen, processors=2))
    assert bottleneck is not None
    assert bottleneck.share is not None
    return bottleneck.resource, round(bottleneck.share, 6)


def test_nothing_used_up_is_no_bottleneck(seen: Make) -> None:
    assert bottleneck_of(replace(seen(columns()), processors=2)) is None


def test_the_generator_comes_first(seen: Make) -> None:
    warning = {"state": "suspect", "kind": "generator_bound", "busiest_worker_ratio": 0.9}
    verdict = {"state": "suspect", "warnings": [warning]}
    assert found(seen(columns(disk=1.0), verdict=verdict)) == (Resource.GENERATOR, 0.9)


def test_a_busy_disk_is_named_with_its_share(seen: Make) -> None:
    assert found(seen(columns(disk=0.95))) == (Resource.DISK_BUSY_TIME, 0.95)


def test_what_is_used_up_comes_before_a_disk_that_is_only_busy(seen: Make) -> None:
    assert found(seen(columns(disk=0.99, idle=0.1)))[0] is Resource.MACHINE_CPU


def test_a_machine_without_idle_time_is_limited_by_its_cpu(seen: Make) -> None:
    assert found(seen(columns(idle=0.1))) == (Resource.MACHINE_CPU, 0.95)


def test_a_service_on_one_whole_core_is_limited_by_it_and_one_on_more_is_not(seen: Make) -> None:
    assert found(seen(columns(service=0.97))) == (Resource.ONE_CORE_OF_SERVICE, 0.97)
    assert bottleneck_of(replace(seen(columns(service=1.4)), processors=2)) is None


def test_without_samples_no_bottleneck_is_named(seen: Make) -> None:
    assert bottleneck_of(seen()) is None
