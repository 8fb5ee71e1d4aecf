"""One batch of validation by its name alone, so that any process can run it."""

from __future__ import annotations

import time
from functools import cache
from typing import NamedTuple

from tests.calibration.tally import Tally, Task
from tests.calibration.tasks import tasks


class Batch(NamedTuple):
    """The number of a batch, and the cell that it is of."""

    goal: str
    cell: str
    number: int


class Ran(NamedTuple):
    """What a batch counted, and the processor time that it took."""

    tally: Tally
    seconds: float


def ran(batch: Batch) -> Ran:
    """Runs it: what it counts follows from its name."""
    return ran_of(_tasks()[batch.goal, batch.cell], batch.number)


def ran_of(task: Task, number: int) -> Ran:
    """The same of a task at hand."""
    began = time.process_time()
    tally = task.run(number, task.batch)
    return Ran(tally, time.process_time() - began)


@cache
def _tasks() -> dict[tuple[str, str], Task]:
    return {(task.goal, task.cell): task for task in tasks()}
