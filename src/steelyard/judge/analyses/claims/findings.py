"""What is said of a claim. Ratios are natural logarithms of subject over other, raw response."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from steelyard.judge.analyses.scaling.findings import PeakUnknown
from steelyard.judge.kinds.verdict_notes import VerdictNote
from steelyard.plan.model import Frozen
from steelyard.records.note import Note
from steelyard.study.model import Level, Without


class ClaimWord(StrEnum):
    """What the data say of a claim."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    UNDECIDED = "undecided"
    NOT_JUDGED = "not_judged"


class ClaimPartFinding(Frozen):
    """One subject of a claim against its other system.

    ``claimed_low_log`` and ``claimed_high_log`` bound the ratio that is claimed; ``None`` where
    the claim sets no bound. The interval is of all visits and holds at any stop, with those of all
    other parts; ``decided_at`` counts the visits of both by which the word was decided.
    """

    subject: str
    other: str
    word: ClaimWord
    claimed_low_log: float | None
    claimed_high_log: float | None
    estimate_log: float | None
    low_log: float | None
    high_log: float | None
    interval_level: float
    n_subject: int
    n_other: int
    decided_at: int | None = None
    notes: tuple[VerdictNote, ...] = ()


class NothingToCompare(Note):
    """A claim has no parts: no system is left to be compared."""

    kind: Literal["nothing_to_compare"] = "nothing_to_compare"


ClaimNote = Annotated[PeakUnknown | NothingToCompare, Field(discriminator="kind")]
"""Why a claim is undecided or not judged, where that is not the reason of a part."""


class ClaimFamily(Frozen):
    """So many claims share an error rate, and so many parts of one claim its share."""

    claims: int
    parts: int


class ClaimFinding(Frozen):
    """One claim. It is supported when all its parts are, and contradicted when one is.

    ``conditions`` are those it names; under several that fit, the mean of the logarithms is
    judged. ``family`` is ``None`` for a peak, which is judged by itself.
    ``claimed_peak`` and ``peak`` are the range of users that a claim names for the peak of
    throughput, and the interval of it; an end that is not bounded is ``None``. A subject that is
    not ``without`` what the claim says contradicts it, whatever its ratio is.
    """

    id: str
    kind: str
    response: str
    conditions: dict[str, Level]
    factor: float | None
    word: ClaimWord
    alpha: float
    family: ClaimFamily | None
    parts: tuple[ClaimPartFinding, ...]
    subject: str | None = None
    without: tuple[Without, ...] = ()
    claimed_peak: tuple[float, float] | None = None
    peak: tuple[float | None, float | None] | None = None
    notes: tuple[ClaimNote, ...] = ()
