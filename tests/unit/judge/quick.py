"""The judge with fewer simulated orders than a study has: as valid, and quick."""

from __future__ import annotations

from functools import partial

from steelyard.judge import verdict
from steelyard.judge.stopping import elimination
from steelyard.judge.visits.series import Effort, Paths

EFFORT = Effort(Paths(deciding=2_000, exploratory=1_000))

judge_study = partial(verdict.judge_study, effort=EFFORT)
look = partial(verdict.look, effort=EFFORT)
remaining_systems = partial(elimination.remaining_systems, effort=EFFORT)
still_measured = partial(elimination.still_measured, effort=EFFORT)
