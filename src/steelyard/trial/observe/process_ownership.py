"""Which processes of a machine are Steelyard's, so that foreign processes are known.

What a trial runs is below the controller, or below the agent of a far machine; a container is
below whatever its tool has started, and is known by its control group.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.host import Host
from steelyard.systems.images.engine_layer import starts_only_us
from steelyard.systems.platform import Costs
from steelyard.trial.attempt.attempt import Attempt
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.observe.disturbances import OURS

_MOST_GENERATIONS = 32


@dataclass(frozen=True)
class Ours:
    """Roots of process trees by name, and columns of control groups that are in none of them.

    Without a root nothing is known of foreign processes there.
    """

    processes: dict[str, int]
    apart: tuple[str, ...] = ()


NOT_KNOWN = Ours({})


def ours_inside(attempt: Attempt, instance: Instance) -> dict[str, int]:
    """The root of our processes where an instance is; none where the others are unknown.

    Nothing is known in a container, whose kernel counts for the whole machine, and on a far
    machine where another agent generates the load. And in a guest that starts nothing but the
    agent there are no foreign processes; a server may end its children there without ever learning
    what they had computed.
    """
    host = instance.host
    if instance.carried and (
        host.boot_id == attempt.host_machine().boot_id or starts_only_us(host)
    ):
        return {}
    if host.boot_id == attempt.session.local().boot_id:
        return {OURS: os.getpid()}
    generates = attempt.cell.system.host_machine in attempt.session.study.generator.hosts
    return {} if generates and not instance.carried else {OURS: host.agent_pid}


def ours_on_host_machine(attempt: Attempt, costs: Mapping[str, Costs]) -> Ours:
    """On the machine that carries the instances, theirs included; ``costs`` by their columns.

    Nothing is known where an instance cannot be found among the processes, nor on a far machine
    where another agent generates the load.
    """
    machine = attempt.host_machine()
    if machine.boot_id == attempt.session.local().boot_id:
        root = os.getpid()
    elif attempt.cell.system.host_machine in attempt.session.study.generator.hosts:
        return NOT_KNOWN
    else:
        root = machine.agent_pid
    apart = []
    for column, own in costs.items():
        pid = next(iter(own.processes.values()), None)
        if attempt.cell.system.platform == "native" or descends(machine, pid, root):
            continue
        if not own.cgroups:
            return NOT_KNOWN
        apart.append(f"cgroup.{column}")
    return Ours({OURS: root}, tuple(apart))


def descends(host: Host, pid: int | None, root: int) -> bool:
    """Whether a process is ``root`` or below it, as its parents say; not if it has ended."""
    for _ in range(_MOST_GENERATIONS):
        if pid is None or pid <= 1:
            return False
        if pid == root:
            return True
        pid = _parent(host, pid)
    return False


def _parent(host: Host, pid: int) -> int | None:
    """The fourth field of ``stat``, the second behind the name in brackets; see proc(5)."""
    try:
        stat = host.read_file(f"/proc/{pid}/stat")
    except AgentRefusal:
        return None
    return int(stat.rpartition(")")[2].split()[1])
