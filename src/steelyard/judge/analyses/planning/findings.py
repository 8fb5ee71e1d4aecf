"""What is computed about the price of an answer on the machines at hand."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from steelyard.plan.model import Frozen
from steelyard.records.missing import Missing
from steelyard.records.note import Note


class ReferenceKernelFailed(Note):
    """A part of the reference kernel has no values."""

    kind: Literal["reference_kernel_failed"] = "reference_kernel_failed"
    reason: Missing


class TooFewValues(Note):
    """A part of the reference kernel has too few values."""

    kind: Literal["too_few_values"] = "too_few_values"
    values: int
    needed: int


NoNoise = Annotated[ReferenceKernelFailed | TooFewValues, Field(discriminator="kind")]
"""Why the noise of a machine is not known."""


class ResolutionFinding(Frozen):
    """How small a difference a machine can show, by its reference kernel before the first trial.

    ``noise_log`` is the noise of one value, without slow drift; ``drift_log`` the change from the
    first third of the values to the last. ``visits`` is about how many visits a difference as
    large as the margin needs if a study is as noisy as the kernel; ``None`` when none is in
    sight. ``missing`` says why a part has no values.
    """

    machine: str
    part: str
    values: int
    noise_log: float | None
    drift_log: float | None
    margin_log: float
    visits: int | None
    missing: NoNoise | None = None


class CovariateFinding(Frozen):
    """The reference kernel as a covariate: the interval of a comparison with it and without.

    The verdict is the one with it, whichever is narrower: that was fixed before the first trial.
    ``parts`` are those of the kernel that were taken out. A width is that of the interval of
    ``interval_level``, on the scale of natural logarithms; ``None`` where an end is not bounded.
    """

    response: str
    baseline: str
    other: str
    parts: tuple[str, ...]
    interval_level: float
    width_log: float | None
    width_without_log: float | None


class LengthFinding(Frozen):
    """Which window, or how many trials after each reset, would bring the same certainty soonest.

    The noise of a visit is ``between_log`` (between visits, whatever the window) and ``within_log``
    (of one second of a window) together: noise² = between² + within²/window. ``setup_s`` is what a
    trial costs beside its window; ``time_ratio`` the time with ``best_window_s`` over that now.
    ``reset_s`` is the part of ``setup_s`` that further trials after one reset would not cost again;
    ``best_trials`` is how many after each reset take the least time, ``trials_time_ratio`` of that
    now. ``None`` where records do not name what was reset.
    """

    window_s: float
    setup_s: float
    noise_log: float
    between_log: float
    within_log: float
    best_window_s: float
    time_ratio: float
    reset_s: float | None = None
    best_trials: int | None = None
    trials_time_ratio: float | None = None
