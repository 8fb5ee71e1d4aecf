"""What stands beside a verdict, by kind: why nothing is judged, why a decision is withheld, notes.

Fields that end in ``_log`` are natural logarithms in which larger is better. ``baseline`` and
``other`` name the two compared systems; ``invalid_baseline`` and the like count for each of them.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field

from steelyard.judge.kinds.integrity import DisksDamaged, DisksNotChecked, ErrorsSeen
from steelyard.plan.model import Frozen
from steelyard.records.missing import Missing
from steelyard.records.note import Note
from steelyard.records.warnings import WarningKind

Interference = Literal[
    WarningKind.STEAL,
    WarningKind.FOREIGN_CPU,
    WarningKind.FOREIGN_DISK,
    WarningKind.FOREIGN_PAGING,
    WarningKind.RETRANSMITS,
    WarningKind.LINK_THROTTLED,
    WarningKind.RAID_REBUILDING,
    WarningKind.THROTTLED,
    WarningKind.CLOCK_STEP,
    WarningKind.CLOCK_DRIFT,
]
"""Warnings of a trial that speak of the machine. Swapping and the like may be the system's own."""
CAUSES: tuple[Interference, ...] = get_args(Interference)


class ValueUnusable(Note):
    """A trial has no value that a ratio can be computed of; ``reason`` is that of its record."""

    kind: Literal["value_unusable"] = "value_unusable"
    system: str
    trials: int
    value: Literal["zero", "negative_or_not_finite", "missing"]
    reason: Missing | None = None


class NoVariation(Note):
    """Every visit of a system shows one figure, so that nothing shows how far chance reaches."""

    kind: Literal["no_variation"] = "no_variation"


class NoVisits(Note):
    """No visit of a system counts under these conditions."""

    kind: Literal["no_visits"] = "no_visits"
    system: str


class TooFewVisits(Note):
    """Random assignment allows no verdict of so few visits at the usual error rates."""

    kind: Literal["too_few_visits"] = "too_few_visits"
    visits: int
    needed: int


class FailuresNotCounted(Note):
    """The records hold no count of failed operations."""

    kind: Literal["failures_not_counted"] = "failures_not_counted"


NotJudged = Annotated[
    ValueUnusable | NoVariation | NoVisits | TooFewVisits | FailuresNotCounted,
    Field(discriminator="kind"),
]
"""Why a comparison is not judged."""


class GuardrailFinding(Frozen):
    """What may not be worse where a system is called faster, as it stands for the faster one.

    ``effect`` is that of the faster over the slower system in the raw response: a natural
    logarithm, or with ``absolute`` a difference; ``margin`` likewise. ``reason`` says why the
    response was not measured.
    """

    response: str
    label: str
    unit: str
    margin: float
    absolute: bool
    state: Literal["held", "broken", "open", "not_measured"]
    effect: float | None
    reason: NotJudged | None = None


class AaControlDiffers(Note):
    """The baseline differs from itself: something else than the systems decides."""

    kind: Literal["aa_control_differs"] = "aa_control_differs"
    baseline: str
    other: str


class TooManyInvalid(Note):
    """More than ``limit_share`` of the measured trials of both systems are invalid."""

    kind: Literal["too_many_invalid"] = "too_many_invalid"
    invalid: int
    measured: int
    limit_share: float


class CarryOverFound(Note):
    """Visits of ``system`` depend on the system of the visit before, by more than half the margin.

    95 % interval in the good direction; the reset is not effective. It withholds a decision that it
    can have made, and is noted beside any other.
    """

    kind: Literal["carry_over"] = "carry_over"
    system: str
    low_log: float
    high_log: float


class InterferenceUnequal(Note):
    """Interference was seen in the visits of one system much more often than of the other.

    With ``above_ratio`` only visits in which it took a larger share of the processors count.
    """

    kind: Literal["interference_unequal"] = "interference_unequal"
    cause: Interference
    baseline: str
    other: str
    affected_baseline: int
    visits_baseline: int
    affected_other: int
    visits_other: int
    above_ratio: float | None = None


class InterferenceExplains(Note):
    """Among visits with equal interference the difference is not clear."""

    kind: Literal["interference_explains"] = "interference_explains"
    cause: Interference
    system: str
    affected: int
    visits: int


class EffectChanges(Note):
    """No constant ratio fits all visits.

    ``first_log`` is the effect up to the visit ``last_visit_before``, ``second_log`` that of the
    visits after it, both other over baseline in the raw response; ``None`` of too few visits.
    """

    kind: Literal["effect_changes"] = "effect_changes"
    last_visit_before: int | None = None
    first_log: float | None = None
    second_log: float | None = None


class StepsTooCoarse(Note):
    """One system shows a single figure, and the next figure lies farther away than the margin."""

    kind: Literal["steps_too_coarse"] = "steps_too_coarse"
    step_log: float


class GeneratorSaturated(Note):
    """The generator was near its capacity in most visits of a system that is called equivalent."""

    kind: Literal["generator_saturated"] = "generator_saturated"
    system: str
    affected: int
    visits: int


class FailedAttemptsDecide(Note):
    """With the failed attempts included, the decision would be another."""

    kind: Literal["failed_attempts_decide"] = "failed_attempts_decide"


class CarryOverDecides(Note):
    """With the carry-over that the data allow taken out, the decision would be another."""

    kind: Literal["carry_over_decides"] = "carry_over_decides"


class GuardrailsOpen(Note):
    """``system`` is ahead, and guardrails of it are not shown to hold."""

    kind: Literal["guardrails_open"] = "guardrails_open"
    system: str
    guardrails: tuple[GuardrailFinding, ...]


class SpanTooShort(Note):
    """The visits lie within less time than the study asks of a decision."""

    kind: Literal["span_too_short"] = "span_too_short"
    span_s: float
    least_s: float


class SpanDisagrees(Note):
    """The tests decided earlier in the span; all visits of the span by themselves do not."""

    kind: Literal["span_disagrees"] = "span_disagrees"
    span_s: float


Withheld = Annotated[
    AaControlDiffers
    | SpanTooShort
    | SpanDisagrees
    | TooManyInvalid
    | CarryOverFound
    | InterferenceUnequal
    | InterferenceExplains
    | EffectChanges
    | StepsTooCoarse
    | GeneratorSaturated
    | FailedAttemptsDecide
    | CarryOverDecides
    | GuardrailsOpen,
    Field(discriminator="kind"),
]
"""Why the tests decide and the verdict is not given."""


class InvalidUnequal(Note):
    """Trials are invalid unequally, so they were not left out: that would favour a system."""

    kind: Literal["invalid_unequal"] = "invalid_unequal"
    baseline: str
    other: str
    invalid_baseline: int
    measured_baseline: int
    invalid_other: int
    measured_other: int


class NeverFailed(Note):
    """No operation of these systems failed, so that odds of an error have no ratio to theirs."""

    kind: Literal["never_failed"] = "never_failed"
    label: str
    systems: tuple[str, ...]


class ValuesUndefined(Note):
    """Visits beyond all values: they rank last and have no ratio.

    ``why``: too many operations failed, or a dip had not ended when the window did.
    """

    kind: Literal["values_undefined"] = "values_undefined"
    label: str
    baseline: str
    other: str
    undefined_baseline: int
    visits_baseline: int
    undefined_other: int
    visits_other: int
    why: Literal["operations_failed", "not_recovered"] = "operations_failed"


class GuardrailNotChecked(Note):
    """A guardrail that the study does not declare, and that could not be judged."""

    kind: Literal["guardrail_not_checked"] = "guardrail_not_checked"
    label: str
    reason: NotJudged


class SpreadsDiffer(Note):
    """The spread of ``wider`` is ``ratio`` times that of the other (``chance``: its p-value)."""

    kind: Literal["spreads_differ"] = "spreads_differ"
    wider: str | None = None
    ratio: float
    chance: float | None
    visits_baseline: int
    visits_other: int


class OneConstant(Note):
    """One system shows a single figure and the other varies."""

    kind: Literal["one_constant"] = "one_constant"
    visits_baseline: int
    visits_other: int


class StallsDiffer(Note):
    """Visits stall unequally, so that the typical visit is not the same in both systems."""

    kind: Literal["stalls_differ"] = "stalls_differ"
    baseline: str | None = None
    other: str | None = None
    stall_rate_baseline: float
    stall_rate_other: float


class CarryOverPossible(Note):
    """Visits of ``system`` seem to depend on the system before, perhaps by less than that."""

    kind: Literal["carry_over_possible"] = "carry_over_possible"
    system: str
    low_log: float
    high_log: float


class MarginBelowResolution(Note):
    """No budget of this size can show equivalence within the margin at this noise."""

    kind: Literal["margin_below_resolution"] = "margin_below_resolution"
    margin_log: float
    noise_log: float
    visits: int


class CapPossible(Note):
    """Both systems have the same throughput, hardly vary, and leave their processors idle.

    ``cpu_baseline`` and ``cpu_other`` are shares that were used, the middle of all visits;
    ``spread_log`` is the larger of both spreads.
    """

    kind: Literal["cap_possible"] = "cap_possible"
    cpu_baseline: float
    cpu_other: float
    spread_log: float


class StoppedEarly(Note):
    """A small effect that was decided before the budget ended is overstated."""

    kind: Literal["stopped_early"] = "stopped_early"
    visits: int
    budget_visits: int


class VisitsDepend(Note):
    """Visits of the same system, at most ``lags`` apart, are more alike than those of the two.

    Correlations within each system and between them; ``chance`` is the p-value among random orders.
    """

    kind: Literal["visits_depend"] = "visits_depend"
    baseline: str
    other: str
    correlation_baseline: float
    correlation_other: float
    correlation_between: float
    lags: int
    chance: float


class EstimateAdjusted(Note):
    """Estimate and raw ratio differ by more than a quarter of the interval.

    ``raw_log`` is the ratio of the geometric means of all visits as measured. The estimate weighs
    outlying visits less, and is free of so many ``trends`` and of what the ``covariates`` explain.
    """

    kind: Literal["estimate_adjusted"] = "estimate_adjusted"
    raw_log: float
    estimate_log: float
    trends: int
    covariates: int


VerdictNote = Annotated[
    NotJudged
    | Withheld
    | InvalidUnequal
    | ValuesUndefined
    | NeverFailed
    | GuardrailNotChecked
    | SpreadsDiffer
    | OneConstant
    | StallsDiffer
    | CarryOverPossible
    | MarginBelowResolution
    | CapPossible
    | StoppedEarly
    | VisitsDepend
    | EstimateAdjusted
    | DisksDamaged
    | DisksNotChecked
    | ErrorsSeen,
    Field(discriminator="kind"),
]
"""Whatever a verdict, a mean or a claim may have beside it."""


def refuse_outside(estimate: float | None, low: float | None, high: float | None) -> None:
    """Refuse an estimate that lies outside its own interval.

    Raises:
        ValueError: it does.
    """
    below = estimate is not None and low is not None and estimate < low
    if below or (estimate is not None and high is not None and estimate > high):
        raise ValueError(f"the estimate {estimate} lies outside its interval {low}..{high}")
