"""How threads are put together that may run in the same places."""

from __future__ import annotations

from steelyard.engine.messages import ThreadPlace
from steelyard.trial.observe.cpu_placement import grouped


def thread(number: int, name: str, allowed: str, last: int) -> ThreadPlace:
    return ThreadPlace(process=9, id=number, name=name, allowed_cpus=allowed, last_cpu=last)


def test_threads_of_one_name_are_told_together_with_every_cpu_they_were_last_on() -> None:
    threads = [thread(1, "nginx", "0-1", 1), thread(2, "nginx", "0-1", 0)]
    (group,) = grouped("system", "service", threads)
    assert (group.threads, group.allowed_cpus, group.last_cpus) == (2, "0-1", (0, 1))


def test_a_thread_that_is_pinned_elsewhere_is_told_apart() -> None:
    threads = [thread(1, "CPU 0/KVM", "0", 0), thread(2, "CPU 0/KVM", "1", 1)]
    assert [group.allowed_cpus for group in grouped("host", "qemu", threads)] == ["0", "1"]
