"""What was fixed before the first trial of one's own, and every value of it that is refused."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from steelyard.inference.assumption import Assumption, Engine, assumption_of
from steelyard.inference.randomisation import PATHS
from steelyard.judge.own_trials.rows import DESIGNS, Design, TrialRows, TrialsError
from steelyard.study.model import ResponseSpec

Direction = Literal["higher", "lower"]
DEFAULT_BUDGET = 96


@dataclass(frozen=True)
class Declared:
    """The arguments of ``judge_trials`` that are not measurements.

    Raises:
        TrialsError: a value makes no sense, whatever was measured.
    """

    baseline: str
    margin: float = 0.02
    design: Design = "bigstick"
    direction: Direction = "higher"
    alpha: float = 0.05
    budget: int | None = None
    engine: Engine = "exact"
    paths: int = PATHS
    seed: int = 0
    name: str = "response"
    unit: str = ""

    def __post_init__(self) -> None:
        choices = {
            "design": (self.design, DESIGNS),
            "direction": (self.direction, get_args(Direction)),
            "engine": (self.engine, get_args(Engine)),
        }
        for argument, (value, known) in choices.items():
            if value not in known:
                raise TrialsError(f"`{argument}` is {value!r}", f"it is one of {', '.join(known)}")
        if not 0 < self.margin <= 1:
            raise TrialsError(
                f"`margin` is {self.margin:g}, that is {100 * self.margin:g} %",
                "a share above 0 and at most 1: 0.02 is 2 %",
                argument="margin",
            )
        if not 0 < self.alpha <= 0.5:
            raise TrialsError(f"`alpha` is {self.alpha}", "an error rate above 0 and at most 0.5")
        if self.paths < 100:
            raise TrialsError(f"`paths` is {self.paths}", f"at least 100; a study uses {PATHS:,}")
        if self.seed < 0:
            raise TrialsError(f"`seed` is {self.seed}", "a whole number from 0 on")

    @property
    def margin_log(self) -> float:
        return math.log1p(self.margin)

    @property
    def assumption(self) -> Assumption:
        return assumption_of(self.engine)

    @property
    def response(self) -> ResponseSpec:
        return ResponseSpec(
            name=self.name,
            label=self.name,
            unit=self.unit,
            direction=self.direction,
            primary=True,
        )

    def budget_of(self, visits: int, systems: int) -> int:
        """The most visits; as many as a study would have where none was declared."""
        if self.budget is None:
            return max(visits, DEFAULT_BUDGET * systems // 2)
        if self.budget <= 0 or visits > 2 * self.budget:
            raise TrialsError(
                f"{visits} visits of a budget of {self.budget}",
                "a budget may be extended once, to at most twice; give the one that was fixed "
                "before the first trial",
                argument="budget",
            )
        return self.budget

    def refuse_unfit(self, rows: TrialRows) -> None:
        """Raises ``TrialsError`` for trials that the engine cannot judge."""
        assumption, trials = self.assumption, len(rows.system)
        if assumption.in_pairs and self.design != "pairs":
            raise TrialsError(
                f"the engine `{self.engine}` judges pairs, and the design is `{self.design}`",
                "leave out the engine: the exact one judges any order that was drawn",
            )
        if not assumption.extensible and self.budget is not None and trials > self.budget:
            raise TrialsError(
                f"{trials} trials of a budget of {self.budget}",
                f"the engine `{self.engine}` keeps nothing for an extension",
            )
        if rows.covariate is not None and not assumption.adjusts:
            raise TrialsError(
                f"the engine `{self.engine}` takes no covariate",
                "leave out the engine or the covariate",
            )
