"""Every machine that takes part, sampled over one load, on one time line.

Each machine's counters bear its own monotonic clock; ``controller_ns`` puts them on that of the
controller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError
from steelyard.hosts.host import Host
from steelyard.systems.platform import Costs
from steelyard.trial.observe.window import Sampled, counters_of


@dataclass(frozen=True)
class Watch:
    """One machine to be sampled. ``offset_ns`` is its monotonic clock less the controller's."""

    name: str
    host: Host
    offset_ns: int
    processes: Mapping[str, int] = field(default_factory=dict)
    disks: Mapping[str, str] = field(default_factory=dict)
    costs: Costs = field(default_factory=Costs)


def start_sampling(watches: Iterable[Watch], every_s: float) -> None:
    """Begins on every machine.

    Raises:
        AgentRefusal, EngineError: one of them cannot be sampled.
    """
    for watch in watches:
        watch.host.start_sampling(
            interval_s=every_s,
            processes={**watch.processes, **watch.costs.processes},
            disks=dict(watch.disks),
            cgroups=watch.costs.cgroups,
            threads={
                name: (threads.process, threads.ids)
                for name, threads in watch.costs.threads.items()
            },
        )


def stop_sampling(
    watches: Iterable[Watch],
) -> tuple[dict[str, Sampled], list[AgentRefusal | EngineError]]:
    """Ends on every machine: what was seen by name, also of a load that failed, and why some of
    them could not tell.
    """
    seen: dict[str, Sampled] = {}
    untold: list[AgentRefusal | EngineError] = []
    for watch in watches:
        try:
            samples = watch.host.stop_sampling()
        except (AgentRefusal, EngineError) as error:
            untold.append(error)
            continue
        clock = [at_ns - watch.offset_ns for at_ns in samples.monotonic_ns]
        counters = counters_of(samples).beside(controller_ns=[*clock])
        seen[watch.name] = Sampled(counters, samples.missing, samples.rows_lost)
    return seen, untold
