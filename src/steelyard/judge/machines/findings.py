"""What the judge says of one comparison on several machines, beside the verdicts."""

from __future__ import annotations

from typing import Literal

from pydantic import model_validator

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.kinds.verdict_notes import refuse_outside
from steelyard.plan.model import Frozen
from steelyard.study.model import Level


class MachineEffect(Frozen):
    """The effect on one machine less the mean effect on all, in the raw response."""

    machine: str
    deviation_log: float
    low_log: float | None
    high_log: float | None

    @model_validator(mode="after")
    def _holds_the_estimate(self) -> MachineEffect:
        refuse_outside(self.deviation_log, self.low_log, self.high_log)
        return self


class OtherMachines(Frozen):
    """Machines as a sample of others like them, in the raw response.

    ``low_log`` and ``high_log`` are of the mean effect on such machines, ``further_`` of the effect
    on one more of them; ``equivalence_`` as in a verdict. ``spread_log`` is the standard deviation
    of the effects that were found.
    """

    word: VerdictWord
    mean_log: float
    low_log: float | None
    high_log: float | None
    equivalence_low_log: float | None
    equivalence_high_log: float | None
    further_low_log: float | None
    further_high_log: float | None
    spread_log: float


class MachinesFinding(Frozen):
    """One pair on several machines, over all ``conditions`` (``None``) or at one.

    ``visits_each``: as many of each machine count for all of these. ``withheld_on``: the machine
    whose visits withhold the verdict on all of these. ``interaction``: whether the effect depends
    on the machine by the intervals of ``effects``, which hold together at rate ``alpha``:
    ``differs`` where one excludes 0, ``alike`` where all lie within the margin. ``others`` is
    ``None`` with fewer than ``least_machines``.
    """

    response: str
    baseline: str
    other: str
    conditions: dict[str, Level] | None = None
    machines: tuple[str, ...]
    margin_log: float
    alpha: float
    visits_each: int
    withheld_on: str | None
    interaction: Literal["differs", "alike", "open"]
    effects: tuple[MachineEffect, ...]
    others: OtherMachines | None
    least_machines: int
