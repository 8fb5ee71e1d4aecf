"""Wall clocks of the machines of an attempt, before and after its load: a step is a warning.

No figure is timed by them (``hosts/clocks.py``), but programs that wait or log by them notice.
"""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.engine.messages import Clock
from steelyard.records.warnings import TrialWarning
from steelyard.trial.attempt.attempt import Attempt
from steelyard.trial.attempt.gates import step_warnings


def read_walls(attempt: Attempt) -> dict[str, Clock]:
    """Of each instance by its name, and of every other machine that takes part by its own."""
    inside = {instance.name: instance.host for instance in attempt.instances}
    kernels = {host.boot_id or host.name for host in inside.values()}
    around = {
        host.name: host for host in attempt.machines() if (host.boot_id or host.name) not in kernels
    }
    return {name: host.clock() for name, host in (inside | around).items()}


def steps(attempt: Attempt) -> Iterator[TrialWarning]:
    """Of the clocks that were read before; asked for after the load."""
    for name, after in read_walls(attempt).items():
        before = attempt.walls.get(name)
        if before is not None:
            yield from step_warnings(name, before, after)
