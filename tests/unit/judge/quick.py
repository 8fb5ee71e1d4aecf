"""The judge with fewer simulated orders than a study has: as valid, and quick."""

from __future__ import annotations

from functools import partial
from typing import Any

from steelyard.judge import verdict
from steelyard.judge.stopping import elimination
from steelyard.judge.visits.series import Effort, Paths

EFFORT = Effort(Paths(deciding=2_000, exploratory=1_000))

judge_study = partial(verdict.judge_study, effort=EFFORT)
look = partial(verdict.look, effort=EFFORT)
still_measured = partial(elimination.still_measured, effort=EFFORT)


def remaining_systems(*words: Any) -> frozenset[str]:
    """The systems that any workload is still measured on in a block."""
    return frozenset().union(*still_measured(*words).values())
