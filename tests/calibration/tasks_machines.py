"""What validation simulates of studies on several machines: G26."""

from __future__ import annotations

from collections.abc import Iterator

from tests.calibration.machines import CASES, Laboratory, told_apart
from tests.calibration.tally import Tally, Task


def laboratories() -> Iterator[Task]:
    """Cells of G26."""
    return map(_task, CASES)


def _task(case: Laboratory) -> Task:
    about = {
        "noise": case.noise,
        "scales": list(case.scales),
        "effects": list(case.effects),
        "sampled": case.sampled,
    }

    def run(batch: int, studies: int) -> Tally:
        return told_apart(case, batch, studies)

    return Task("G26", case.name, about, run, most=4_000)
