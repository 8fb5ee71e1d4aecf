"""What is found of throughput within the windows of one cell."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from steelyard.plan.model import Cell, Frozen
from steelyard.records.note import Note


class Steadiness(StrEnum):
    """``unknown``: too short, or too noisy to show it flat."""

    STEADY = "steady"
    STEADY_LATER = "steady_later"
    NEVER = "never"
    UNKNOWN = "unknown"


class TooFewIntervals(Note):
    """The series is too short."""

    kind: Literal["too_few_intervals"] = "too_few_intervals"
    intervals: int
    needed: int


class NothingCompleted(Note):
    """No operation was completed in any interval."""

    kind: Literal["nothing_completed"] = "nothing_completed"


class NoOperations(Note):
    """The load is streams, whose bytes are counted over the window, not by interval."""

    kind: Literal["no_operations"] = "no_operations"


class LevelChanges(Note):
    """The level of throughput changes within the window."""

    kind: Literal["level_changes"] = "level_changes"


class Drifts(Note):
    """Throughput drifts to the end of the window."""

    kind: Literal["drifts"] = "drifts"


class TooNoisy(Note):
    """The interval of the drift is too wide."""

    kind: Literal["too_noisy"] = "too_noisy"


NotShownSteady = Annotated[
    TooFewIntervals | NothingCompleted | NoOperations | LevelChanges | Drifts | TooNoisy,
    Field(discriminator="kind"),
]
"""Why a window is not called steady."""


class SteadyFinding(Frozen):
    """Whether the trials of one cell were steady, from the mean of their courses.

    ``cut_s`` is how much of the window precedes the steady part; ``bias_log`` what that changes in
    the mean. ``drift_low_log..drift_high_log`` bounds the change over the steady part. Fields are
    ``None`` where too little is known. ``reason``: why the window is not called steady.
    """

    cell: Cell
    state: Steadiness
    trials: int
    intervals: int
    interval_s: float | None
    cut_s: float | None
    bias_log: float | None
    drift_low_log: float | None
    drift_high_log: float | None
    reason: NotShownSteady | None
