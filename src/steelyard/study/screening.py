"""Which factors a study screens, on which system, and how many replicates its budget holds.

A replicate is every cell of the design once. Of a fraction and its fold-over, which take turns,
each is a replicate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.study import timing
from steelyard.study.fractions import MOST_FULL, principal
from steelyard.study.lookup import platform_of
from steelyard.study.model import Level, Study, StudyDesign

DEFAULT_REPLICATES = 14
MOST_REPLICATES = 200
# Degrees of freedom of the error without which nothing is called.
LEAST_DF = 5


@dataclass(frozen=True)
class Screened:
    """What is varied on one system. ``fixed`` are the conditions that stay, at their first level.

    Levels start with the one that the others are compared with.
    """

    system: str
    factors: Mapping[str, tuple[Level, ...]]
    hard_to_change: tuple[str, ...]
    fixed: Mapping[str, Level]

    @property
    def two_levels(self) -> bool:
        return all(len(levels) == 2 for levels in self.factors.values())

    @property
    def fractions(self) -> int:
        """How many designs take turns: a fraction and its fold-over, or one that has all."""
        return 2 if self.two_levels and len(self.factors) > MOST_FULL else 1

    @property
    def cells(self) -> int:
        """Trials of one replicate."""
        if self.fractions > 1:
            return 1 << principal(len(self.factors)).base
        return math.prod(len(levels) for levels in self.factors.values())

    @property
    def first_answer(self) -> int:
        """Replicates after which an effect can be called at the earliest."""
        least = 2 * self.fractions
        while (self.cells - 1) * (least - self.fractions) < LEAST_DF:
            least += 1
        return least

    @property
    def least_replicates(self) -> int:
        """Two levels can suggest something after one replicate, several levels nothing."""
        return 1 if self.two_levels else 2


def screened(study: StudyDesign) -> Screened | None:
    """What ``screen`` says; or, of a study of one system that asks for influence, all factors."""
    if study.screen is not None:
        asked = study.screen
        return Screened(
            asked.system, asked.factors, asked.hard_to_change, _fixed(study, asked.system)
        )
    if study.ask is None or timing.compares(study):
        return None
    varied = {name: levels for name, levels in study.factors.items() if len(levels) > 1}
    return Screened(study.baseline, varied, (), _fixed(study, study.baseline))


def _fixed(study: StudyDesign, system: str) -> dict[str, Level]:
    """A level for every condition, for those that are not varied."""
    fixed = {name: levels[0] for name, levels in study.factors.items()}
    if study.compare != "system":
        fixed |= {study.compare: study.named.get(study.baseline, study.baseline)}
    return fixed | ({"system": system} if "system" in fixed else {})


def replicate_s(study: Study, asked: Screened) -> float:
    """One replicate: a trial of every cell, on a system made anew where its settings change."""
    made_s = 0.0
    if any(name.startswith("system.") for name in asked.factors):
        thorough = max(platform_of(study.systems[asked.system]).resets, key=timing.RESETS.index)
        made_s = timing.RESET_ALLOWANCE_S[thorough]
    return (timing.trial_s(study) + made_s) * asked.cells


def replicates_within(study: Study) -> int:
    """Replicates that the budget allows, at least those without which nothing can be said."""
    asked = screened(study)
    return 0 if asked is None else max(affordable_replicates(study), asked.least_replicates)


def affordable_replicates(study: Study) -> int:
    """Replicates that the budget allows; may be too few for any answer.

    A study that also compares systems gives half of its time to each.
    """
    asked, budget = screened(study), study.trials.budget
    if asked is None:
        return 0
    if budget.trials_per_cell is None and budget.time_s is None:
        return DEFAULT_REPLICATES
    replicates = MOST_REPLICATES
    if budget.trials_per_cell is not None:
        replicates = min(replicates, budget.trials_per_cell * asked.fractions)
    if budget.time_s is not None:
        time_s = budget.time_s * (timing.SHARE_OF_EACH if timing.compares(study) else 1.0)
        replicates = min(replicates, int(time_s / replicate_s(study, asked) + 1e-9))
    return replicates
