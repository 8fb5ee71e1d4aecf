"""What is found of several instances at once against one alone."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from steelyard.plan.model import Frozen
from steelyard.records.note import Note
from steelyard.study.model import Level

Disturbed = Literal["disturbed", "undisturbed", "open"]


class InverseAsSpeed(Note):
    """Less of the response is better: one over it counts as speed."""

    kind: Literal["inverse_as_speed"] = "inverse_as_speed"
    label: str


class NotAdditive(Note):
    """The response of several instances cannot be added, as it is no rate."""

    kind: Literal["not_additive"] = "not_additive"
    label: str


class NoVisitWithBoth(Note):
    """No visit measured both one alone and several at once."""

    kind: Literal["no_visit_with_both"] = "no_visit_with_both"


class OneVisit(Note):
    """One visit has no spread, so that there is no interval."""

    kind: Literal["one_visit"] = "one_visit"


class InstancesApart(Note):
    """In so many of the visits the instances did not work at the same time for long enough.

    The figures of several at once are then too high.
    """

    kind: Literal["instances_apart"] = "instances_apart"
    visits: int
    of: int


class HostCostUndeclared(Note):
    """The host's cost needs these responses, which the study does not have."""

    kind: Literal["host_cost_undeclared"] = "host_cost_undeclared"
    responses: tuple[str, ...]


class NoGuestKernel(Note):
    """Guest CPU is known of guests with a kernel and processors of their own alone."""

    kind: Literal["no_guest_kernel"] = "no_guest_kernel"


ConsolidationGap = Annotated[
    InverseAsSpeed
    | NotAdditive
    | NoVisitWithBoth
    | OneVisit
    | InstancesApart
    | HostCostUndeclared
    | NoGuestKernel,
    Field(discriminator="kind"),
]
"""Why figures of several instances are missing, or what they are of."""


class NoScenario(Note):
    """The study has no scenario of this victim with this aggressor."""

    kind: Literal["no_scenario"] = "no_scenario"


class TooFewInstances(Note):
    """The system has too few instances for the scenario."""

    kind: Literal["too_few_instances"] = "too_few_instances"


EmptyCell = Annotated[NoScenario | TooFewInstances | NoVisitWithBoth, Field(discriminator="kind")]
"""Why a cell of a table of interference has no slowdown."""


class RatioFinding(Frozen):
    """A ratio over the visits, as a natural logarithm, with the t interval of its mean.

    Ends are ``None`` with fewer than two visits.
    """

    log: float
    low_log: float | None
    high_log: float | None


class SlowdownFinding(Frozen):
    """One instance among several: the speed of one alone over its own."""

    instance: int
    slowdown: RatioFinding


class InterferenceFinding(Frozen):
    """Background workloads against none: the change of the measured instance's speed.

    ``disturbed`` when Holm's procedure over all contrasts of the study rejects no change,
    ``undisturbed`` when it rejects a change of the margin or more either way.
    """

    background: tuple[str, ...]
    change: RatioFinding
    word: Disturbed


class ConsolidationFinding(Frozen):
    """So many instances of one system at once, under one further condition.

    Speed is the response where more is better, else one over it. ``total`` is that of all together
    in ``unit`` (geometric mean over visits), ``scale`` that over one alone; both only of what can
    be added. ``density`` is the mean speed of each over one alone, ``least`` the slowest over one
    alone.
    ``fairness`` is Jain's index freed of noise, ``fairness_raw`` as it is; ``worst_over_best`` has
    the interval of a studentised range. ``cpu_overhead`` is what the host spends on instance 1
    over what is busy inside it. What is ``None`` is explained in ``missing``.
    """

    system: str
    response: str
    unit: str
    conditions: dict[str, Level]
    instances: int
    visits: int
    total: float | None
    scale: RatioFinding | None
    density: RatioFinding | None
    least: RatioFinding | None
    slowdowns: tuple[SlowdownFinding, ...]
    fairness: float | None
    fairness_raw: float | None
    worst_over_best: RatioFinding | None
    interference: InterferenceFinding | None
    cpu_overhead: RatioFinding | None
    interval_level: float
    missing: tuple[ConsolidationGap, ...]


class Victim(Frozen):
    """A workload under some conditions, measured on so many instances at once."""

    workload: str
    conditions: dict[str, Level]
    instances: int


class BackgroundWorkload(Frozen):
    """So many instances of a workload beside the measured one, on the same instance or others."""

    workload: str
    count: int
    same_instance: bool


class Aggressor(Frozen):
    """What ran beside; ``scenario`` or ``instances`` where two ways would be called alike."""

    workloads: tuple[BackgroundWorkload, ...]
    scenario: str | None = None
    instances: int | None = None


class InterferenceCellFinding(Frozen):
    """How much slower a victim is beside an aggressor than by itself.

    ``missing`` says why there is nothing where ``slowdown`` is ``None``. ``word`` is that of the
    family of contrasts of its workload; the interval is one at 95 % by itself.
    """

    victim: Victim
    aggressor: Aggressor
    conditions: dict[str, Level] | None
    slowdown: RatioFinding | None
    word: Disturbed | None
    visits: int
    missing: EmptyCell | None


class InterferenceTableFinding(Frozen):
    """Victim by aggressor on one system: every victim with every aggressor, row by row."""

    system: str
    victims: tuple[Victim, ...]
    aggressors: tuple[Aggressor, ...]
    cells: tuple[InterferenceCellFinding, ...]
