"""What a reader may check of a study itself, by kind: order, drift, carry-over, changed facts."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from steelyard.inference.randomisation import Design
from steelyard.records.note import Note


class OrderDrawn(Note):
    """How the systems were assigned to the visits."""

    kind: Literal["order_drawn"] = "order_drawn"
    design: Design
    seed: int


class ScreeningOrderDrawn(Note):
    """The cells of a screening ran in random order within each replicate."""

    kind: Literal["screening_order_drawn"] = "screening_order_drawn"
    seed: int


class DriftPerVisit(Note):
    """Drift from visit to visit, with a 95 % interval as if visits were independent."""

    kind: Literal["drift_per_visit"] = "drift_per_visit"
    baseline: str
    other: str
    low_log: float
    high_log: float


class CarryOverEffect(Note):
    """What the visit before leaves to one of ``system``, where it is clearest: 95 % interval."""

    kind: Literal["carry_over_effect"] = "carry_over_effect"
    baseline: str
    other: str
    system: str
    low_log: float
    high_log: float


class FactChanged(Note):
    """A fact that changed within a system during the study, whatever the levels of factors."""

    kind: Literal["fact_changed"] = "fact_changed"
    fact: str


class FactsFollow(Note):
    """Facts that changed within a system with the level of declared factors, and only so."""

    kind: Literal["facts_follow"] = "facts_follow"
    facts: tuple[str, ...]
    factors: tuple[str, ...]


StudyCheck = Annotated[
    OrderDrawn | ScreeningOrderDrawn | DriftPerVisit | CarryOverEffect | FactChanged | FactsFollow,
    Field(discriminator="kind"),
]
