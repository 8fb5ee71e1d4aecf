"""Where the threads of an instance may run and last did, as its kernels say after the window."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import ThreadPlace
from steelyard.hosts.host import Host
from steelyard.records.schema import PlacementRecord
from steelyard.trial.attempt.instance import Instance

MOST_GROUPS = 64
"""Of threads with one name and one set of CPUs, for each process that is followed."""


def placements(instance: Instance) -> tuple[PlacementRecord, ...]:
    """Of its service inside, and of what stands for it on its host."""
    return tuple(_placements(instance))


def _placements(instance: Instance) -> Iterator[PlacementRecord]:
    for name, pid in instance.service_processes.items():
        yield from grouped(instance.name, name, _threads(instance.host, pid))
    if not instance.carried:
        return
    host = instance.platform.context.host_machine()
    for name, pid in instance.platform.costs().processes.items():
        yield from grouped("host", name, _threads(host, pid))


def _threads(host: Host, pid: int) -> list[ThreadPlace]:
    """None of a process that has ended meanwhile."""
    try:
        return host.thread_places(pid).threads
    except AgentRefusal as refusal:
        if refusal.failure.kind != "not_found":
            raise
        return []


def grouped(machine: str, process: str, threads: list[ThreadPlace]) -> list[PlacementRecord]:
    """Threads of one name that may run in the same places together."""
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for thread in threads:
        groups[thread.name, thread.allowed_cpus].append(thread.last_cpu)
    return [
        PlacementRecord(
            machine=machine,
            process=process,
            thread=name,
            threads=len(last),
            allowed_cpus=allowed,
            last_cpus=tuple(sorted(set(last))),
        )
        for (name, allowed), last in sorted(groups.items())[:MOST_GROUPS]
    ]
