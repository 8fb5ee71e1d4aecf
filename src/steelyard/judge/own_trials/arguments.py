"""What was fixed before the first trial of one's own, and every value of it that is refused."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Self, get_args

from steelyard.inference.randomisation import PATHS
from steelyard.judge.own_trials.arrays import share, whole
from steelyard.judge.own_trials.rows import DESIGNS, Design, TrialsError
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
    paths: int = PATHS
    seed: int = 0
    name: str = "response"
    unit: str = ""

    @classmethod
    def of_caller(  # noqa: PLR0917 - in the order of `judge_trials`
        cls,
        baseline: object,
        margin: float | str,
        design: Design,
        direction: Direction,
        alpha: float,
        budget: object,
        paths: object,
        seed: object,
        name: str,
        unit: str,
    ) -> Self:
        """What ``judge_trials`` was given, of any kind of number.

        Raises:
            TrialsError: an argument is not of its kind, or makes no sense.
        """
        return cls(
            str(baseline),
            share(margin, "margin"),
            design,
            direction,
            share(alpha, "alpha"),
            None if budget is None else whole(budget, "budget"),
            whole(paths, "paths"),
            whole(seed, "seed"),
            name,
            unit,
        )

    def __post_init__(self) -> None:
        choices = {
            "design": (self.design, DESIGNS),
            "direction": (self.direction, get_args(Direction)),
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
