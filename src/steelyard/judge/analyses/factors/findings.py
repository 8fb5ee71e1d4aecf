"""What is found of factors: effects with intervals, shares of the variation, means of pairs."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from steelyard.plan.model import Frozen
from steelyard.records.note import Note
from steelyard.study.model import Level


class EffectWord(StrEnum):
    """What the judge says of one effect. ``influential``: there is one, in a known direction."""

    INFLUENTIAL = "influential"
    NEGLIGIBLE = "negligible"
    OPEN = "open"
    SUGGESTED = "suggested"
    NOT_JUDGED = "not_judged"


class NoRatio(Note):
    """A trial has no logarithm, as its value is ``missing``, or not positive or not finite."""

    kind: Literal["no_ratio"] = "no_ratio"
    trial: int
    missing: bool


class ReplicatesLeftOut(Note):
    """So many replicates miss a cell; a balanced table is needed."""

    kind: Literal["replicates_left_out"] = "replicates_left_out"
    replicates: int


class Unreplicated(Note):
    """One replicate has no error of its own: Lenth's method suggests, and no more."""

    kind: Literal["unreplicated"] = "unreplicated"


class FewReplicates(Note):
    """Shares of variation need more replicates."""

    kind: Literal["few_replicates"] = "few_replicates"
    replicates: int
    needed: int


class FewDegreesOfFreedom(Note):
    """The error of trials or of visits needs more degrees of freedom before an effect is judged."""

    kind: Literal["few_degrees_of_freedom"] = "few_degrees_of_freedom"
    unit: Literal["trial", "visit"]
    degrees: int
    needed: int


InfluenceNote = Annotated[
    NoRatio | ReplicatesLeftOut | Unreplicated | FewReplicates | FewDegreesOfFreedom,
    Field(discriminator="kind"),
]


class EffectFinding(Frozen):
    """One effect: the ratio of the response at ``levels`` to that at ``against``, in logarithms.

    Of an interaction it is half the difference between the effects of one factor at the two
    levels of the other. ``aliases`` are what it cannot be distinguished from. The intervals hold
    for all effects of the family together, at whatever replicate the study stopped; ends are
    ``None`` before the first look. ``unit`` is what its error is made of.
    """

    factors: tuple[str, ...]
    levels: tuple[Level, ...]
    against: tuple[Level, ...]
    aliases: tuple[tuple[str, ...], ...]
    word: EffectWord
    words: tuple[EffectWord, ...]
    effect_log: float | None
    low_log: float | None
    high_log: float | None
    equivalence_low_log: float | None
    equivalence_high_log: float | None
    decided_at_replicate: int | None
    unit: Literal["trial", "visit"]


class ShareFinding(Frozen):
    """The share of the variation that a term makes, as a ratio, with its own 95 % interval.

    ``kind`` is ``effect``, ``higher`` (all terms of three factors and more) or ``noise``.
    """

    kind: Literal["effect", "higher", "noise"]
    factors: tuple[str, ...]
    aliases: tuple[tuple[str, ...], ...]
    share: float
    low: float
    high: float


class PairFinding(Frozen):
    """Geometric means of the response for each pair of levels of two factors, over all others.

    ``means`` has a row for each level of the first factor, a column for each of the second;
    ``None`` where a fraction has no such cell.
    """

    factors: tuple[str, str]
    first_levels: tuple[Level, ...]
    second_levels: tuple[Level, ...]
    means: tuple[tuple[float | None, ...], ...]


class InfluenceFinding(Frozen):
    """Which of some factors matter for the primary response.

    ``system`` is the one that was screened; ``None`` where the compared factor is among
    ``factors``, whose first level is what the others are compared with. ``noise_log`` is the
    standard deviation of one trial, ``visit_noise_log`` what visits add to it (``None`` where no
    factor is changed between visits only). ``shares`` are empty below three replicates.
    """

    system: str | None
    response: str
    factors: dict[str, tuple[Level, ...]]
    hard_to_change: tuple[str, ...]
    resolution: int | None
    relations: tuple[str, ...]
    cells: int
    replicates: int
    replicates_planned: int
    replicates_left_out: int
    margin_log: float
    alpha: float
    interval_level: float
    settled: bool
    effects: tuple[EffectFinding, ...]
    shares: tuple[ShareFinding, ...]
    pairs: tuple[PairFinding, ...]
    noise_log: float | None
    visit_noise_log: float | None
    notes: tuple[InfluenceNote, ...] = ()
