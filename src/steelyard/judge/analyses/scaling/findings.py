"""What is found of throughput over the levels of a load: one finding for each curve."""

from __future__ import annotations

from enum import StrEnum

from steelyard.judge.frozen import Frozen
from steelyard.study.model import Level


class Refusal(StrEnum):
    """Why a curve or its peak is not stated; the last two leave the curve and refuse its peak."""

    FEW_LEVELS = "few_levels"
    FEW_VISITS = "few_visits"
    LACK_OF_FIT = "lack_of_fit"
    SUPER_LINEAR = "super_linear"
    LITTLES_LAW = "littles_law"
    NO_PEAK = "no_peak"
    NO_FALL = "no_fall"


class RefusalFinding(Frozen):
    """One reason, in a word and as a sentence."""

    kind: Refusal
    words: str


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

    ``dropped`` maps a level that is left out to the reason. ``alpha`` and ``beta`` are contention
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
    dropped: dict[str, str]
    visits: int
    gamma: float | None
    alpha: float | None
    beta: float | None
    drawn: tuple[tuple[float, float], ...] = ()
    noise_log: float | None
    lack_of_fit_p: float | None
    refusals: tuple[RefusalFinding, ...]
    peak: PeakFinding | None
    peak_stated: bool
    knee: KneeFinding | None
    fall: FallFinding | None


class CapacityFinding(Frozen):
    """The largest load of one system that keeps the limits of one search.

    ``values`` has one for each search that found one, ``not_found`` why others did not.
    ``holds_at`` and ``breaks_at`` are levels of the study at which the limits surely hold (as at
    all below) and surely break, by the trials at these levels alone; ``None`` where nothing is
    sure.
    """

    name: str
    system: str
    conditions: dict[str, Level]
    limits: tuple[str, ...]
    unit: str
    values: tuple[float, ...]
    median: float | None
    low: float | None
    high: float | None
    interval_level: float
    not_found: tuple[str, ...]
    holds_at: float | None
    breaks_at: float | None
