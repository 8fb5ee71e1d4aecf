"""What is computed from records: the only thing a report reads besides the series.

Every figure carries its n, its interval and its assumptions; a caveat is a field, not a footnote
that someone may forget. Ratios are stored as natural logarithms (``_log``) of other over
baseline, in the raw response (a response time that doubles has ``+0.69`` whatever its direction).
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.claims.findings import ClaimFinding
from steelyard.judge.analyses.consolidation.findings import (
    ConsolidationFinding,
    InterferenceTableFinding,
)
from steelyard.judge.analyses.costs.findings import CostFinding, PlacementFinding
from steelyard.judge.analyses.disks.findings import DiskFinding
from steelyard.judge.analyses.events.findings import EventFinding
from steelyard.judge.analyses.factors.findings import InfluenceFinding
from steelyard.judge.analyses.failures.findings import FailureContrastFinding, FailureFinding
from steelyard.judge.analyses.latency.findings import LatencyFinding
from steelyard.judge.analyses.planning.findings import (
    CovariateFinding,
    LengthFinding,
    ResolutionFinding,
)
from steelyard.judge.analyses.ranking.findings import RankingFinding
from steelyard.judge.analyses.requests.findings import RequestTimesFinding
from steelyard.judge.analyses.resources.findings import ResourceFinding
from steelyard.judge.analyses.scaling.findings import CapacityFinding, ScalingFinding
from steelyard.judge.analyses.sections.findings import SectionFinding
from steelyard.judge.analyses.steadiness.findings import SteadyFinding
from steelyard.judge.comparisons.families import Family
from steelyard.judge.comparisons.forecast import VisitsForecast
from steelyard.judge.kinds.caveats import Caveat
from steelyard.judge.kinds.checks import StudyCheck
from steelyard.judge.kinds.not_measured import NotMeasured
from steelyard.judge.kinds.verdict_notes import (
    GuardrailFinding,
    NotJudged,
    VerdictNote,
    Withheld,
    refuse_outside,
)
from steelyard.judge.machines.findings import MachinesFinding
from steelyard.judge.validity.findings import DifferenceFinding, MachineFinding
from steelyard.plan.model import Cell, Frozen
from steelyard.records.missing import Missing
from steelyard.records.note import Note
from steelyard.records.schema import FailedOperations
from steelyard.records.warnings import Figures, Resource, WarningKind
from steelyard.study.labels import Labels
from steelyard.study.model import Level, ResponseSpec


class ResponseFinding(Frozen):
    """What a response is: as declared in the study and the catalogue."""

    name: str
    label: str
    unit: str
    direction: Literal["higher", "lower", "none"]
    primary: bool

    @classmethod
    def of(cls, spec: ResponseSpec) -> ResponseFinding:
        return cls(
            name=spec.name,
            label=spec.label,
            unit=spec.unit,
            direction=spec.direction,
            primary=spec.primary,
        )


class DecidingLook(Frozen):
    """Estimate and interval after the visits that decided, in the raw response.

    Given where the interval of all visits no longer excludes what the verdict does.
    """

    n_baseline: int
    n_other: int
    estimate_log: float
    low_log: float | None
    high_log: float | None

    @model_validator(mode="after")
    def _holds_the_estimate(self) -> DecidingLook:
        refuse_outside(self.estimate_log, self.low_log, self.high_log)
        return self


class VerdictFinding(Frozen):
    """One comparison of one system with the baseline: one response, one condition or all.

    ``words`` holds all that held at the look that decided (``faster`` and ``equivalent`` may hold
    together), and is never withdrawn. Estimate and intervals are those of all visits; the
    interval of *equivalent* (``equivalence_``) is given where that is a word. ``conditions`` is
    ``None`` for the verdict over all conditions (the mean over
    conditions of the logs). An interval end is ``None`` when it is not bounded. ``n_baseline``
    and ``n_other`` count visits, the unit of inference. ``family`` names the comparisons that
    share the error rate ``alpha``; what this one may spend is ``1 - interval_level``.
    ``guardrails`` are looked at once a difference is found.
    ``withheld``: why the tests decide and the verdict is not given; its counts are of the first
    ``withheld_visits`` of the pair, those of the look that was last asked.
    ``memory_chance``: the p-value of the test whether visits of one system alone depend on each
    other, asked where a verdict is decided.
    ``span_s`` is the time from the first visit to the end of the one that decided, or the last;
    ``None`` of trials without times. ``decided_at_visit`` is the number of the visit;
    ``visits_to_decide`` counts further visits, and is not given where a verdict is withheld.
    """

    response: str
    baseline: str
    other: str
    conditions: dict[str, Level] | None
    word: VerdictWord
    words: tuple[VerdictWord, ...]
    margin_log: float
    alpha: float
    family: Family
    estimate_log: float | None
    low_log: float | None
    high_log: float | None
    interval_level: float
    equivalence_low_log: float | None
    equivalence_high_log: float | None
    n_baseline: int
    n_other: int
    decided_at_visit: int | None
    deciding_look: DecidingLook | None = None
    span_s: float | None = None
    noise_log: float | None
    visits_to_decide: VisitsForecast | None
    exploratory: bool
    spread_ratio: float | None
    stall_rate_baseline: float | None
    stall_rate_other: float | None
    memory_chance: float | None = None
    withheld: Withheld | None = None
    withheld_visits: int | None = None
    not_judged: tuple[NotJudged, ...] = ()
    guardrails: tuple[GuardrailFinding, ...] = ()
    notes: tuple[VerdictNote, ...] = ()

    @property
    def reasons(self) -> tuple[VerdictNote, ...]:
        """All that stands beside the verdict, the gravest first."""
        withheld = () if self.withheld is None else (self.withheld,)
        return (*withheld, *self.not_judged, *self.notes)

    @model_validator(mode="after")
    def _intervals_hold_the_estimate(self) -> VerdictFinding:
        refuse_outside(self.estimate_log, self.low_log, self.high_log)
        refuse_outside(self.estimate_log, self.equivalence_low_log, self.equivalence_high_log)
        return self


class TrendFinding(Frozen):
    """What changed slowly over the visits of a comparison and was removed from them.

    In the raw response, as the logarithm of a ratio to the middle: one figure for each of
    ``visits``. ``trends`` counts the straight line and the cosines.
    """

    response: str
    baseline: str
    other: str
    trends: int
    visits: tuple[int, ...]
    trend_log: tuple[float, ...]


class CellFinding(Frozen):
    """One response in one cell: every trial's value, in the order measured, and their summary.

    ``median``, ``low`` and ``high`` are ``None`` without values; ``low..high`` is the
    distribution-free interval of the median at ``interval_level``, ``None`` below six values.
    ``beyond`` counts good trials whose value lies beyond all others, which ``values`` lack.
    """

    cell: Cell
    response: str
    values: tuple[float, ...]
    trials: tuple[int, ...]
    median: float | None
    low: float | None
    high: float | None
    interval_level: float
    beyond: int = 0
    not_measured: tuple[NotMeasured, ...] = ()


class WarningNote(Note):
    """One reason to distrust an attempt, as the record has it."""

    kind: WarningKind
    state: Literal["suspect", "invalid"]
    figures: Figures


class UsedUpFinding(Frozen):
    """A resource that was used up in an attempt as well."""

    kind: Resource
    share: float | None


class BottleneckNote(Note):
    """The resource that was used up in an attempt; ``share`` is how much of it was.

    ``also`` are the others that were used up, worst first.
    """

    kind: Resource
    share: float | None
    also: tuple[UsedUpFinding, ...] = ()


class AttemptFinding(Frozen):
    """One row of the table of trials and attempts."""

    trial: int
    attempt: int
    visit: int
    cell: Cell
    outcome: str
    message: str | None
    hint: str | None
    failed_operations: tuple[FailedOperations, ...] = ()
    warnings: tuple[WarningNote, ...]
    bottleneck: BottleneckNote | None
    wall_s: float
    overhead_s: float | None


class CalibrationFinding(Frozen):
    """How close the trials of a cell came to what the generator can do at most.

    ``capacity_per_s`` (in ``unit``) and ``baseline_latency_ns`` (median response) were measured
    against ``sink``; ``ratio`` and ``largest_ratio`` are throughput of the trials over the
    capacity, in the middle and at most. ``trials_exceeded`` reached more than 105 % of it, so
    that it was measured too low; ``disproved``: those of another cell of the same calibration did.
    ``not_calibrated`` says why there is no capacity.
    """

    cell: Cell
    sink: str | None
    unit: str
    capacity_per_s: float | None
    baseline_latency_ns: float | None
    ratio: float | None
    largest_ratio: float | None
    trials: int
    trials_near: int
    trials_exceeded: int = 0
    disproved: bool = False
    not_calibrated: Missing | None


class StopFinding(Frozen):
    """Why the study ended; ``open`` where no end is recorded: it goes on, or its controller was
    killed. ``extended_from``: visits of the budget before
    it was extended; ``visits_assumed``: those planned before the first were timed and more fit.
    """

    reason: Literal[
        "decided",
        "budget_visits",
        "budget_time",
        "interrupted",
        "failures",
        "error",
        "open",
        "imported",
    ]
    visits_done: int
    visits_planned: int
    trials_done: int
    attempts_failed: int
    spent_s: float
    extended_from: int | None = None
    visits_assumed: int | None = None


class WorkloadFindings(Frozen):
    """What was found of one workload: all that is judged.

    ``caveats`` bound every claim. Cells that are ``not_applicable`` do not exist, which is not the
    same as missing. Of several machines a verdict without the condition ``machine`` is on all of
    these, and ``machines`` says of each of them what depends on the machine.
    """

    name: str
    conditions: tuple[dict[str, Level], ...]
    not_applicable: tuple[Cell, ...] = ()
    responses: tuple[ResponseFinding, ...]
    verdicts: tuple[VerdictFinding, ...]
    machines: tuple[MachinesFinding, ...] = ()
    trends: tuple[TrendFinding, ...] = ()
    influence: tuple[InfluenceFinding, ...] = ()
    cells: tuple[CellFinding, ...]
    calibrations: tuple[CalibrationFinding, ...] = ()
    scaling: tuple[ScalingFinding, ...] = ()
    peaks: tuple[VerdictFinding, ...] = ()
    capacities: tuple[CapacityFinding, ...] = ()
    capacity_verdicts: tuple[VerdictFinding, ...] = ()
    consolidation: tuple[ConsolidationFinding, ...] = ()
    densities: tuple[VerdictFinding, ...] = ()
    costs: tuple[CostFinding, ...] = ()
    placements: tuple[PlacementFinding, ...] = ()
    steadiness: tuple[SteadyFinding, ...] = ()
    request_times: tuple[RequestTimesFinding, ...] = ()
    latency: tuple[LatencyFinding, ...] = ()
    happened: tuple[EventFinding, ...] = ()
    resources: tuple[ResourceFinding, ...] = ()
    resolution: tuple[ResolutionFinding, ...] = ()
    covariates: tuple[CovariateFinding, ...] = ()
    lengths: LengthFinding | None = None
    diagnostics: tuple[StudyCheck, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    rankings: tuple[RankingFinding, ...] = ()
    claims: tuple[ClaimFinding, ...] = ()
    aa_control: VerdictFinding | None = None
    failures: tuple[FailureFinding, ...] = ()
    failure_contrasts: tuple[FailureContrastFinding, ...] = ()
    sections: tuple[SectionFinding, ...] = ()


class RunFindings(Frozen):
    """All that a report may say of a run: a pure function of study, plan, records and ledger.

    What is judged stands with its workload: no verdict is given over workloads, whose units have
    nothing in common. ``level_kinds`` maps factors to the kind of their levels (``size``).
    ``tested`` are versions and digests of what was tested, by system and fact. ``study_text`` is
    the study file as it was run, put in with the author's notes when a report is made.
    """

    schema_version: Literal[2] = 2
    tool_version: str
    measured_by: str | None = None
    study: str
    question: str
    variant: str | None
    study_sha256: str
    seed: int
    run: str
    compare: str = "system"
    design: str | None = None
    level_kinds: dict[str, str] = Field(default_factory=dict)
    systems: tuple[str, ...]
    baseline: str
    stop: StopFinding
    workloads: tuple[WorkloadFindings, ...] = Field(min_length=1)
    interference: tuple[InterferenceTableFinding, ...] = ()
    attempts: tuple[AttemptFinding, ...]
    differences: tuple[DifferenceFinding, ...]
    machines: tuple[MachineFinding, ...] = ()
    tested: dict[str, dict[str, tuple[str, ...]]] = Field(default_factory=dict)
    disks: tuple[DiskFinding, ...] = ()
    caveats: tuple[Caveat, ...] = ()
    study_text: str = ""
    author_notes: dict[str, str] = Field(default_factory=dict)

    @property
    def labels(self) -> Labels:
        """How levels are written in the report."""
        return Labels(self.level_kinds)
