"""How threads are put together that may run in the same places."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from steelyard.engine.messages import ThreadPlace, ThreadPlaces
from steelyard.study.model import WorkloadSpec
from steelyard.systems.platform import ResetProof
from steelyard.systems.services import RunningService
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.observe.cpu_placement import grouped, placements


def thread(number: int, name: str, allowed: str, last: int) -> ThreadPlace:
    return ThreadPlace(process=9, id=number, name=name, allowed_cpus=allowed, last_cpu=last)


def test_threads_of_one_name_are_reported_together_with_every_cpu_they_were_last_on() -> None:
    threads = [thread(1, "nginx", "0-1", 1), thread(2, "nginx", "0-1", 0)]
    (group,) = grouped("system", "service", threads)
    assert (group.threads, group.allowed_cpus, group.last_cpus) == (2, "0-1", (0, 1))


def test_a_thread_that_is_pinned_elsewhere_is_distinguished() -> None:
    threads = [thread(1, "CPU 0/KVM", "0", 0), thread(2, "CPU 0/KVM", "1", 1)]
    assert [group.allowed_cpus for group in grouped("host", "qemu", threads)] == ["0", "1"]


def test_a_service_has_one_name_in_the_records_of_all_systems_and_runs() -> None:
    places = ThreadPlaces(threads=[thread(1, "sink-0", "0-1", 0)])
    host = cast("Any", SimpleNamespace(thread_places=lambda _pid: places))
    platform = cast("Any", SimpleNamespace(context=SimpleNamespace(host_machine=lambda: host)))
    names = {"service of steelyard-1a2b-one-1": 8, "service of steelyard-1a2b-one-1.store": 9}
    workload = WorkloadSpec(use="http")
    instance = Instance(1, platform, host, "/f", workload, ResetProof("service", 0, {}))
    instance.service = RunningService(host, next(iter(names)), "127.0.0.1", "1", processes=names)
    assert [place.process for place in placements(instance)] == ["service", "service.store"]
