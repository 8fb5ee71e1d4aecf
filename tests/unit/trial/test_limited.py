"""What limited a trial is the first resource that was used up, or nothing that was seen."""

from __future__ import annotations

from collections.abc import Callable

from steelyard.trial.observe.bottleneck import limited_by
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


def test_nothing_used_up_is_said_as_nothing(seen: Make) -> None:
    assert limited_by(seen(columns()), 2) is None


def test_the_generator_comes_first(seen: Make) -> None:
    warning = {"state": "suspect", "kind": "generator_bound", "busiest_worker_ratio": 0.9}
    verdict = {"state": "suspect", "warnings": [warning]}
    assert limited_by(seen(columns(disk=1.0), verdict=verdict), 2) == "the load generator"


def test_a_busy_disk_is_named_with_its_share(seen: Make) -> None:
    assert limited_by(seen(columns(disk=0.95)), 2) == "the disk (95% used)"


def test_a_machine_without_idle_time_is_limited_by_its_cpu(seen: Make) -> None:
    assert limited_by(seen(columns(idle=0.1)), 2) == "the machine's CPU (95% used)"


def test_a_service_on_one_whole_core_is_limited_by_it_and_one_on_more_is_not(seen: Make) -> None:
    assert limited_by(seen(columns(service=0.97)), 2) == "one core by the service (97% used)"
    assert limited_by(seen(columns(service=1.4)), 2) is None


def test_without_samples_nothing_is_claimed(seen: Make) -> None:
    assert limited_by(seen(), 2) is None
