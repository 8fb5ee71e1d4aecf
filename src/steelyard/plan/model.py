"""What a plan is: every visit and trial of a run, written out before the first one starts."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from steelyard.study.model import Level


class Frozen(BaseModel):
    """Base of plans, records and findings, which are read once and stay as they are.

    An undeclared field is an error.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Cell(Frozen):
    """One combination of levels: the compared system, and a level of every condition.

    ``conditions`` maps dotted factor names to levels, as ``{"load.users": 4}``.
    """

    system: str
    conditions: dict[str, Level]


class PlannedTrial(Frozen):
    """One cell to be measured once. ``trial`` counts from 1 over the whole plan."""

    trial: int
    visit: int
    cell: Cell


class PlannedVisit(Frozen):
    """One system prepared once and measured under all conditions, in random order.

    Each visit is randomly assigned one system. ``block`` groups visits that together hold every
    system twice (once in runs that were recorded with ``blocks``); with the big-stick design each
    visit is its own block.
    """

    visit: int
    block: int
    system: str
    trials: tuple[PlannedTrial, ...]


class ScreenFraction(Frozen):
    """The cells of one replicate of a screening.

    ``relation`` is the defining relation in letters of the factors, those that are hard to change
    first; empty when the cells are all that there are.
    """

    relation: str = ""
    resolution: int | None = None
    cells: tuple[dict[str, Level], ...]


class ScreenPlan(Frozen):
    """Which factors are varied on one system, and the visits that do it.

    A replicate is a block: every cell of one of the ``fractions``, which take turns. What is
    ``hard_to_change`` keeps its level within a visit; without it a replicate is one visit. The
    first level of each factor is the one that the others are compared with.
    """

    system: str
    factors: dict[str, tuple[Level, ...]]
    hard_to_change: tuple[str, ...] = ()
    fractions: tuple[ScreenFraction, ...]
    replicates: int
    visits: tuple[PlannedVisit, ...]


class Forecast(Frozen):
    """What the plan will take, from declared durations and an allowance for the rest.

    ``timed_trial_s`` holds what a trial of each system took where that was timed instead.
    """

    trial_s: float
    visit_s: float
    calibration_s: float = 0.0
    total_s: float
    earliest_verdict_s: float
    disk_bytes: int
    timed_trial_s: dict[str, float] = Field(default_factory=dict)


class Plan(Frozen):
    """The whole run, fixed before trial 1.

    ``design`` names the random order: ``big_stick`` (two; P(other) = 1/2 unless one leads by 2),
    ``pairs`` (two; each pair of visits holds both) or ``double_blocks`` (more; each block a random
    order of every system twice; once with ``blocks``, as runs were recorded before).
    ``assignment`` holds the systems of all ``2 * len(visits)`` visits that the generator drew:
    those beyond the budget are for its one extension. ``searches`` are met in every
    visit like ``conditions``, by trials that look for a load and give no response at one. Cells
    that are ``not_applicable`` do not exist: a system has too few instances for a scenario. A
    study of one system has no visits of its own, only those of ``screen``. ``budget_visits`` is how
    many the budget held before it was extended (``extension.py``), ``None`` while it was not;
    ``assumed_visits`` how many were planned before the first were timed and more found to fit.
    ``budget_time_s``: the command line allowed so much time instead of the study's budget.
    """

    schema_version: Literal[2] = 2
    seed: int
    study_sha256: str
    design: Literal["big_stick", "pairs", "double_blocks", "blocks"]
    systems: tuple[str, ...]
    conditions: tuple[dict[str, Level], ...]
    assignment: tuple[str, ...]
    visits: tuple[PlannedVisit, ...]
    searches: tuple[dict[str, Level], ...] = ()
    not_applicable: tuple[Cell, ...] = ()
    screen: ScreenPlan | None = None
    forecast: Forecast
    budget_visits: int | None = None
    assumed_visits: int | None = None
    budget_time_s: float | None = None

    @property
    def budgeted(self) -> tuple[PlannedVisit, ...]:
        """The visits that the budget held when it was fixed, before the first trial."""
        return self.visits[: self.budget_visits]

    @property
    def every_visit(self) -> tuple[PlannedVisit, ...]:
        """Those of the comparison, then those of the screening, in the order of their numbers."""
        return self.visits if self.screen is None else (*self.visits, *self.screen.visits)

    @property
    def every_cell(self) -> tuple[Cell, ...]:
        """The compared cells by condition, then those of the screening that are not among them."""
        compared = [
            Cell(system=system, conditions=conditions)
            for conditions in self.conditions
            for system in self.systems
            if (Cell(system=system, conditions=conditions)) not in self.not_applicable
        ]
        if self.screen is None:
            return tuple(compared)
        screened = [
            Cell(system=self.screen.system, conditions=conditions)
            for fraction in self.screen.fractions
            for conditions in fraction.cells
        ]
        return (*compared, *(cell for cell in screened if cell not in compared))
