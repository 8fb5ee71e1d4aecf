"""The sentences beside a verdict: why nothing is judged, why it is withheld, what else to know."""

from __future__ import annotations

import math

from steelyard.judge.kinds.verdict_notes import (
    AaControlDiffers,
    CapPossible,
    CarryOverDecides,
    CarryOverFound,
    CarryOverPossible,
    EffectChanges,
    EstimateAdjusted,
    FailedAttemptsDecide,
    FailuresNotCounted,
    GeneratorSaturated,
    GuardrailFinding,
    GuardrailNotChecked,
    GuardrailsOpen,
    Interference,
    InterferenceExplains,
    InterferenceUnequal,
    InvalidUnequal,
    MarginBelowResolution,
    NeverFailed,
    NoVariation,
    NoVisits,
    OneConstant,
    SpanDisagrees,
    SpanTooShort,
    SpreadsDiffer,
    StallsDiffer,
    StepsTooCoarse,
    StoppedEarly,
    TooFewVisits,
    TooManyInvalid,
    ValuesUndefined,
    ValueUnusable,
    VerdictNote,
    VisitsDepend,
)
from steelyard.records.warnings import WarningKind
from steelyard.report.effects import signed_effect
from steelyard.report.figures import counted, listed, percent, significant
from steelyard.report.notes.missing import missing_text
from steelyard.report.notes.registry import text, writes
from steelyard.report.vocabulary import noun
from steelyard.study.labels import Labels
from steelyard.units import format_duration

WELCH_TEST = (
    "The Welch test holds the error rate at unequal spreads: it was simulated up to 4 to 1 and is "
    "not proved for any noise."
)
_BY_CHANCE = 0.05
"""Spreads that differ with at least this probability where the true ones are equal."""
_ONE, _OTHER = "one system", "the other"
"""As findings of earlier versions call them."""
_RESTS_ON_WELCH = ", so the error rate rests on the Welch test"
_MACHINE = "the machine may differ, not the systems"
_CAUSES: dict[Interference, str] = {
    WarningKind.STEAL: "stolen CPU time",
    WarningKind.FOREIGN_CPU: "background load",
    WarningKind.FOREIGN_DISK: "disk traffic of other processes",
    WarningKind.FOREIGN_PAGING: "paging of other processes",
    WarningKind.RETRANSMITS: "lost packets",
    WarningKind.LINK_THROTTLED: "a throttled link",
    WarningKind.RAID_REBUILDING: "a RAID rebuild",
    WarningKind.THROTTLED: "CPU throttling",
    WarningKind.CLOCK_STEP: "a clock step",
    WarningKind.CLOCK_DRIFT: "clock drift",
}
_TWO_DIGITS = 10


def note_text(note: VerdictNote) -> str:
    """The sentence of a note beside a verdict; none of these kinds has levels to label."""
    return text(note, Labels())


def guardrail_margin(guardrail: GuardrailFinding) -> str:
    """The margin of a guardrail: ``25 %``; ``0.1 points`` of a share."""
    if not guardrail.absolute:
        return f"{100 * math.expm1(guardrail.margin):.3g} %"
    if guardrail.unit == "ratio":
        return f"{100 * guardrail.margin:g} points"
    return f"{guardrail.margin:g} {guardrail.unit}"


@writes(ValueUnusable)
def _value_unusable(note: ValueUnusable) -> str:
    value = {
        "zero": "is zero",
        "negative_or_not_finite": "is negative or not finite",
        "missing": "was not measured" + (f" ({missing_text(note.reason)})" if note.reason else ""),
    }[note.value]
    trials = counted(note.trials, "trial")
    return f"no ratio is defined: the value {value} in {trials} of {note.system}"


@writes(NoVariation)
def _no_variation(_: NoVariation) -> str:
    return (
        "no variation: every visit of a system shows the same figure, so the reach of chance is "
        "unknown; the figure may be rounded, at a limit, or a counter that does not change"
    )


@writes(NoVisits)
def _no_visits(note: NoVisits) -> str:
    return f"no visit of {note.system} counts here"


@writes(TooFewVisits)
def _too_few_visits(note: TooFewVisits) -> str:
    return (
        f"a verdict at this error rate needs {note.needed} valid visits, there "
        f"{'is' if note.visits == 1 else 'are'} {note.visits}, so no interval is given"
    )


@writes(FailuresNotCounted)
def _failures_not_counted(_: FailuresNotCounted) -> str:
    return "failures were not counted in these records"


@writes(AaControlDiffers)
def _aa_control_differs(note: AaControlDiffers) -> str:
    return (
        f"{note.baseline} differs from itself in the A/A control ({note.other}), so something else "
        "than the systems decides"
    )


@writes(SpanTooShort)
def _span_too_short(note: SpanTooShort) -> str:
    span, least = format_duration(note.span_s), format_duration(note.least_s)
    return f"these visits lie within {span}, and the study asks for {least} before a verdict"


@writes(SpanDisagrees)
def _span_disagrees(note: SpanDisagrees) -> str:
    return (
        f"the tests have decided earlier in the {format_duration(note.span_s)} of these visits, "
        "and all of them together do not bear it: what was seen may have been of that time"
    )


@writes(TooManyInvalid)
def _too_many_invalid(note: TooManyInvalid) -> str:
    return (
        f"{note.invalid} of {note.measured} measured trials are invalid, more than "
        f"{100 * note.limit_share:g} %; find what disturbs them"
    )


@writes(CarryOverFound)
def _carry_over(note: CarryOverFound) -> str:
    return (
        f"carry-over: a visit of {note.system} depends on the system of the visit before it "
        f"({_interval(note)}), so the reset is not effective and the ratio may be off by as much"
    )


@writes(CarryOverPossible)
def _carry_over_possible(note: CarryOverPossible) -> str:
    return (
        f"possible carry-over: a visit of {note.system} seems to depend on the system of the visit "
        f"before it "
        f"({_interval(note)}), perhaps by less than half the margin"
    )


@writes(CarryOverDecides)
def _carry_over_decides(_: CarryOverDecides) -> str:
    return "the verdict may be caused by carry-over from one visit to the next"


@writes(InterferenceUnequal)
def _interference_unequal(note: InterferenceUnequal) -> str:
    above = "" if note.above_ratio is None else f" above {note.above_ratio:.0%} of the CPU"
    return (
        f"unequal interference: {_CAUSES[note.cause]}{above} in {note.affected_baseline} of "
        f"{note.visits_baseline} visits of {note.baseline} and {note.affected_other} of "
        f"{note.visits_other} of {note.other}, so {_MACHINE}"
    )


@writes(InterferenceExplains)
def _interference_explains(note: InterferenceExplains) -> str:
    return (
        f"{_CAUSES[note.cause]} in {note.affected} of {note.visits} visits of {note.system}, and "
        f"among visits that are alike in it the difference is not clear: {_MACHINE}"
    )


@writes(EffectChanges)
def _effect_changes(note: EffectChanges) -> str:
    changes = "the effect changes during the study"
    if note.first_log is None or note.second_log is None or note.last_visit_before is None:
        return f"{changes}: no constant ratio fits all visits"
    first, second = (signed_effect(log) for log in (note.first_log, note.second_log))
    return f"{changes}: {first} up to visit {note.last_visit_before}, {second} after it"


@writes(StepsTooCoarse)
def _steps_too_coarse(note: StepsTooCoarse) -> str:
    return (
        f"the response is read in steps of {_percent(note.step_log)}, wider than the margin, and "
        "one system shows a single figure: a difference within a step is not seen"
    )


@writes(GeneratorSaturated)
def _generator_saturated(note: GeneratorSaturated) -> str:
    return (
        f"the generator was near its capacity in {note.affected} of {note.visits} visits of "
        f"{note.system}: systems that saturate it look equivalent"
    )


@writes(FailedAttemptsDecide)
def _failed_attempts_decide(_: FailedAttemptsDecide) -> str:
    return "the verdict rests on leaving out failed attempts: with them it would be another"


@writes(GuardrailsOpen)
def _guardrails_open(note: GuardrailsOpen) -> str:
    return f"{note.system} is ahead, but {' and '.join(map(_open_guardrail, note.guardrails))}"


def _open_guardrail(guardrail: GuardrailFinding) -> str:
    what = (
        f"that it is not worse in {noun(guardrail.label)} by {guardrail_margin(guardrail)} or more"
    )
    if guardrail.reason is None:
        return f"{what} is not shown"
    return f"{what} cannot be judged: {note_text(guardrail.reason)}"


@writes(GuardrailNotChecked)
def _guardrail_not_checked(note: GuardrailNotChecked) -> str:
    return f"whether it is worse in {noun(note.label)} was not checked: {note_text(note.reason)}"


@writes(InvalidUnequal)
def _invalid_unequal(note: InvalidUnequal) -> str:
    return (
        f"trials are invalid unequally ({note.invalid_baseline} of {note.measured_baseline} of "
        f"{note.baseline}, {note.invalid_other} of {note.measured_other} of {note.other}), so they "
        "were not left out"
    )


@writes(ValuesUndefined)
def _values_undefined(note: ValuesUndefined) -> str:
    defined = (
        note.visits_baseline - note.undefined_baseline,
        note.visits_other - note.undefined_other,
    )
    others = ", and the estimate is that of the others" if all(defined) else ""
    return (
        f"{noun(note.label)} is undefined in {note.undefined_baseline} of {note.visits_baseline} "
        f"visits of {note.baseline} and {note.undefined_other} of {note.visits_other} of "
        f"{note.other}, because {WHY_UNDEFINED[note.why]}: these visits rank last{others}"
    )


WHY_UNDEFINED = {
    "operations_failed": "too many operations failed",
    "not_recovered": "it had not ended when the window did",
}


@writes(NeverFailed)
def _never_failed(note: NeverFailed) -> str:
    return f"no operation of {listed(note.systems)} failed, so there is no ratio of the odds"


@writes(SpreadsDiffer)
def _spreads_differ(note: SpreadsDiffer) -> str:
    chance = "" if note.chance is None else f", p = {note.chance:.2g}"
    if note.chance is not None and note.chance >= _BY_CHANCE:
        chance += ": it may be chance"
    return (
        f"{note.wider or _ONE} varies {significant(note.ratio, 2)} times as much as the other "
        f"({note.visits_baseline} and {note.visits_other} visits{chance})"
        f"{_RESTS_ON_WELCH}"
    )


@writes(OneConstant)
def _one_constant(note: OneConstant) -> str:
    return (
        "one system shows a single figure and the other varies "
        f"({note.visits_baseline} and {note.visits_other} visits)"
        f"{_RESTS_ON_WELCH}; is that figure counted in coarse steps?"
    )


@writes(StallsDiffer)
def _stalls_differ(note: StallsDiffer) -> str:
    return (
        f"{percent(note.stall_rate_baseline)} of the visits of {note.baseline or _ONE} and "
        f"{percent(note.stall_rate_other)} of those of {note.other or _OTHER} stall, so the ratio "
        "is that of typical visits, which are not the same share of both"
    )


@writes(MarginBelowResolution)
def _margin_below_resolution(note: MarginBelowResolution) -> str:
    return (
        f"a margin of {_percent(note.margin_log)} is below what {note.visits} visits resolve on "
        f"this machine: one visit varies by {_percent(note.noise_log)}"
    )


@writes(VisitsDepend)
def _visits_depend(note: VisitsDepend) -> str:
    alike = {note.baseline: note.correlation_baseline, note.other: note.correlation_other}
    most, least = sorted(alike, key=lambda system: -alike[system])
    return (
        f"the visits of {most} depend on each other: within {note.lags} visits they correlate by "
        f"{alike[most]:.2f}, those of {least} by {alike[least]:.2f}, and those of one with those "
        f"of the other by {note.correlation_between:.2f} (p = {note.chance:.2g}). Something slow "
        "may affect one system alone, so the verdict is about the time of these visits"
    )


@writes(CapPossible)
def _cap_possible(note: CapPossible) -> str:
    return (
        f"both systems have the same throughput, vary by {_percent(note.spread_log)} at most, and "
        f"use {note.cpu_baseline:.0%} and {note.cpu_other:.0%} of their processors: a common limit "
        "(a rate limit, the speed of a link, the pace of the generator) may hide a difference"
    )


@writes(EstimateAdjusted)
def _estimate_adjusted(note: EstimateAdjusted) -> str:
    removed = listed(
        [
            *(["trends over the study"] if note.trends else []),
            *(["what the covariates explain"] if note.covariates else []),
        ]
    )
    free = f", and is free of {removed}" if removed else ""
    return (
        f"the geometric means of all visits as measured differ by {signed_effect(note.raw_log)}; "
        f"the estimate of {signed_effect(note.estimate_log)} weighs outlying visits less{free}"
    )


@writes(StoppedEarly)
def _stopped_early(_: StoppedEarly) -> str:
    return "early stops overstate small effects: trust the interval more than the estimate"


def _interval(note: CarryOverFound | CarryOverPossible) -> str:
    low, high = (100 * math.expm1(end) for end in (note.low_log, note.high_log))
    return f"95 % interval {low:+.1f} to {high:+.1f} %"


def _percent(log: float) -> str:
    """Two digits, or all before the point: ``1.3 %``, ``150 %``."""
    size = 100 * math.expm1(log)
    return f"{size:.0f} %" if size >= _TWO_DIGITS else f"{size:.2g} %"
