"""What is found of throughput over the levels of a load: one finding for each curve."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from steelyard.judge.kinds.not_measured import NotMeasured
from steelyard.plan.model import Frozen
from steelyard.records.note import Note
from steelyard.study.model import Level


class FewLevels(Note):
    """A curve needs more levels than count."""

    kind: Literal["few_levels"] = "few_levels"
    levels: int
    needed: int


class FewVisitsPerLevel(Note):
    """A curve needs more visits of every level; some level has ``visits``."""

    kind: Literal["few_visits_per_level"] = "few_visits_per_level"
    visits: int
    needed: int


class LackOfFit(Note):
    """The curve does not describe the data: ``p`` is that of the test for lack of fit."""

    kind: Literal["lack_of_fit"] = "lack_of_fit"
    p: float


class SuperLinear(Note):
    """From the first level to the second throughput grows faster than the load."""

    kind: Literal["super_linear"] = "super_linear"
    excess_log: float
    first_level: float
    second_level: float


class LittlesLawBroken(Note):
    """The users do not add up by Little's law at these levels."""

    kind: Literal["littles_law_broken"] = "littles_law_broken"
    levels: tuple[float, ...]


class NoPeak(Note):
    """No peak up to the last level; the curve itself is stated."""

    kind: Literal["no_peak"] = "no_peak"
    last_level: float


class NoFall(Note):
    """Throughput does not fall up to the last level, so a peak would rest on the curve alone."""

    kind: Literal["no_fall"] = "no_fall"
    last_level: float


CurveRefusal = Annotated[
    FewLevels | FewVisitsPerLevel | LackOfFit | SuperLinear | LittlesLawBroken | NoPeak | NoFall,
    Field(discriminator="kind"),
]
"""Why a curve or its peak is not stated; the last two leave the curve and refuse its peak."""


class GateRefusedLevel(Note):
    """A gate refused attempts at a level; ``message`` is that of the first."""

    kind: Literal["gate_refused_level"] = "gate_refused_level"
    level: float
    refused: int
    attempts: int
    message: str | None


class LevelNotMeasured(Note):
    """A level has no value."""

    kind: Literal["level_not_measured"] = "level_not_measured"
    level: float


DroppedLevel = Annotated[GateRefusedLevel | LevelNotMeasured, Field(discriminator="kind")]
"""Why a level of a curve does not count."""


class NoCurve(Note):
    """No curve of a system was measured."""

    kind: Literal["no_curve"] = "no_curve"
    system: str


class SeveralCurves(Note):
    """A system has a curve for each further condition, so that it has no single peak."""

    kind: Literal["several_curves"] = "several_curves"
    system: str


PeakUnknown = Annotated[CurveRefusal | NoCurve | SeveralCurves, Field(discriminator="kind")]
"""Why a claim on a peak is not judged, or bounded on one side alone."""


class LevelFinding(Frozen):
    """One level of the load.

    ``throughput`` is the geometric mean over the visits, freed of what differs between visits;
    ``smooth`` the rising-then-falling fit to it; ``fitted`` the curve, ``None`` where refused.
    """

    level: float
    throughput: float
    smooth: float
    fitted: float | None
    visits: int


class PeakFinding(Frozen):
    """Where the fitted curve peaks, and how high; an end is ``None`` where it has none."""

    at: float | None
    at_low: float
    at_high: float | None
    throughput: float | None
    throughput_low: float
    throughput_high: float | None
    interval_level: float


class FallFinding(Frozen):
    """The last level against the best level before it, without a model.

    ``falls``: below it, with the choice of the best level paid for. ``beyond_margin``: by more
    than the margin, likewise.
    """

    last: float
    best: float
    change_log: float
    low_log: float
    high_log: float
    interval_level: float
    falls: bool
    beyond_margin: bool


class KneeFinding(Frozen):
    """Where the two asymptotes meet: as fast as at the first level, and as fast as it gets.

    ``low`` and ``high`` are ``None`` with fewer than two visits. ``plateau`` are the levels whose
    throughput counts as the most there is.
    """

    at: float
    low: float | None
    high: float | None
    interval_level: float
    plateau: tuple[float, ...]


class ScalingFinding(Frozen):
    """Throughput of one system over the levels of a load, under one further condition.

    ``dropped`` holds the levels that are left out. ``alpha`` and ``beta`` are contention
    and coherence of the fitted law, ``gamma`` its throughput at 1. ``peak`` holds the interval
    also where it is refused, as long as the curve itself is not; ``peak_stated`` says which.
    ``drawn`` are levels and throughputs along the curve, for a chart; empty where it is refused.
    """

    system: str
    response: str
    unit: str
    factor: str
    conditions: dict[str, Level]
    levels: tuple[LevelFinding, ...]
    dropped: tuple[DroppedLevel, ...]
    visits: int
    gamma: float | None
    alpha: float | None
    beta: float | None
    drawn: tuple[tuple[float, float], ...] = ()
    noise_log: float | None
    lack_of_fit_p: float | None
    refusals: tuple[CurveRefusal, ...]
    peak: PeakFinding | None
    peak_stated: bool
    knee: KneeFinding | None
    fall: FallFinding | None


class TargetFinding(Frozen):
    """A limit that a response must keep, as the study writes it: ``at most 200 ms``."""

    response: str
    limit: str


class CapacityFinding(Frozen):
    """The largest load of one system that keeps the targets of one search.

    ``values`` has one for each search that found one, ``not_found`` why others did not.
    ``searches`` counts these and those that met an end of what is tried, which lie above or below
    all others: median and interval are of all of them, and ``None`` where they lie there.
    ``holds_at`` and ``breaks_at`` are levels of the study at which the targets surely hold (as at
    all below) and surely break, by the trials at these levels alone; ``None`` where nothing is
    sure.
    """

    name: str
    system: str
    conditions: dict[str, Level]
    targets: tuple[TargetFinding, ...]
    unit: str
    values: tuple[float, ...]
    searches: int | None = None
    median: float | None
    low: float | None
    high: float | None
    interval_level: float
    not_found: tuple[NotMeasured, ...]
    holds_at: float | None
    breaks_at: float | None
