"""The short forms of notes that may stand beside the answer, where their sentences are long.

At most 18 words each; the whole sentence is among the caveats of the report.
"""

from __future__ import annotations

from steelyard.judge.kinds.caveats import (
    BudgetNotDeclared,
    EngineRemoved,
    FailuresUnequal,
    MachineMissing,
    ManyFailures,
    OrderNotRandom,
    OrderRepeats,
    SamplesDamaged,
    SamplesDeleted,
    SamplesInParquet,
    SeveralMachines,
    SystemsLeftOut,
)
from steelyard.judge.kinds.verdict_notes import (
    AaControlDiffers,
    CapPossible,
    CarryOverFound,
    CarryOverPossible,
    EstimateAdjusted,
    GuardrailNotChecked,
    GuardrailsOpen,
    InterferenceExplains,
    InterferenceUnequal,
    InvalidUnequal,
    MarginBelowResolution,
    SpanDisagrees,
    SpreadsDiffer,
    StallsDiffer,
    StepsTooCoarse,
    ValuesUndefined,
    VisitsDepend,
)
from steelyard.report.effects import percent_of, signed_effect
from steelyard.report.figures import counted, listed, percent, significant
from steelyard.report.notes.registry import shortens
from steelyard.report.notes.verdict import WHY_UNDEFINED
from steelyard.report.vocabulary import noun
from steelyard.units import format_duration


def _of_log(log: float) -> str:
    return f"{percent_of(log):.2g} %"


@shortens(VisitsDepend)
def _visits_depend(note: VisitsDepend) -> str:
    alike = {note.baseline: note.correlation_baseline, note.other: note.correlation_other}
    most = max(alike, key=lambda system: alike[system])
    return (
        f"visits of {most} depend on each other (p = {note.chance:.2g}): "
        "something slow may affect it alone"
    )


@shortens(EstimateAdjusted)
def _estimate_adjusted(note: EstimateAdjusted) -> str:
    return (
        f"{signed_effect(note.raw_log)} as measured, {signed_effect(note.estimate_log)} once "
        "outlying visits weigh less and trends are removed"
    )


@shortens(GuardrailNotChecked)
def _guardrail_not_checked(note: GuardrailNotChecked) -> str:
    return f"whether it is worse in {noun(note.label)} was not checked"


@shortens(GuardrailsOpen)
def _guardrails_open(note: GuardrailsOpen) -> str:
    labels = listed([noun(each.label) for each in note.guardrails])
    return f"{note.system} is ahead; that it is not worse in {labels} is not shown"


@shortens(MarginBelowResolution)
def _margin_below_resolution(note: MarginBelowResolution) -> str:
    return (
        f"{note.visits} visits cannot resolve a margin of {_of_log(note.margin_log)}: "
        f"one visit varies by {_of_log(note.noise_log)}"
    )


@shortens(StallsDiffer)
def _stalls_differ(note: StallsDiffer) -> str:
    baseline, other = note.baseline or "one system", note.other or "the other"
    return (
        f"{percent(note.stall_rate_baseline)} of the visits of {baseline} and "
        f"{percent(note.stall_rate_other)} of those of {other} stall"
    )


@shortens(SpreadsDiffer)
def _spreads_differ(note: SpreadsDiffer) -> str:
    times = f"{significant(note.ratio, 2)} times"
    return f"{note.wider or 'one system'} varies {times} as much as the other"


@shortens(CapPossible)
def _cap_possible(_: CapPossible) -> str:
    return "a common limit (rate, link, generator) may hide a difference"


@shortens(CarryOverFound)
def _carry_over(note: CarryOverFound) -> str:
    return f"carry-over: visits of {note.system} depend on the system visited before"


@shortens(CarryOverPossible)
def _carry_over_possible(note: CarryOverPossible) -> str:
    return f"possible carry-over: visits of {note.system} may depend on the system visited before"


@shortens(InterferenceUnequal)
def _interference_unequal(note: InterferenceUnequal) -> str:
    return (
        f"unequal interference, in {note.affected_baseline} of {note.visits_baseline} and "
        f"{note.affected_other} of {note.visits_other} visits: the machine may differ"
    )


@shortens(InterferenceExplains)
def _interference_explains(note: InterferenceExplains) -> str:
    return (
        f"interference in {note.affected} of {note.visits} visits of {note.system} may be the "
        "difference"
    )


@shortens(InvalidUnequal)
def _invalid_unequal(note: InvalidUnequal) -> str:
    return (
        f"invalid unequally: {note.invalid_baseline} of {note.measured_baseline} trials of "
        f"{note.baseline}, {note.invalid_other} of {note.measured_other} of {note.other}"
    )


@shortens(SpanDisagrees)
def _span_disagrees(_: SpanDisagrees) -> str:
    return "an earlier decision is not borne out by all visits together"


@shortens(StepsTooCoarse)
def _steps_too_coarse(note: StepsTooCoarse) -> str:
    return f"the response is read in steps of {_of_log(note.step_log)}, wider than the margin"


@shortens(ValuesUndefined)
def _values_undefined(note: ValuesUndefined) -> str:
    return (
        f"{noun(note.label)} is undefined in "
        f"{counted(note.undefined_baseline + note.undefined_other, 'visit')}: "
        f"{WHY_UNDEFINED[note.why]}"
    )


@shortens(AaControlDiffers)
def _aa_control_differs(note: AaControlDiffers) -> str:
    return f"{note.baseline} differs from itself: something else than the systems decides"


@shortens(OrderNotRandom)
def _order_not_random(_: OrderNotRandom) -> str:
    return "The order was not randomised: drift or background load can look like a difference"


@shortens(SystemsLeftOut)
def _systems_left_out(note: SystemsLeftOut) -> str:
    return f"The files also hold trials of {listed([*note.trials])}, which were left out"


@shortens(OrderRepeats)
def _order_repeats(note: OrderRepeats) -> str:
    return f"The order repeats every {note.period_visits} visits, as fixed orders do"


@shortens(FailuresUnequal)
def _failures_unequal(note: FailuresUnequal) -> str:
    return (
        f"Attempts fail unequally: {note.failed_baseline} of {note.attempts_baseline} on "
        f"{note.baseline}, {note.failed_other} of {note.attempts_other} on {note.other}"
    )


@shortens(ManyFailures)
def _many_failures(note: ManyFailures) -> str:
    return f"{note.failed} of {note.attempts} attempts failed: results may be biased"


@shortens(MachineMissing)
def _machine_missing(note: MachineMissing) -> str:
    return (
        f"{note.machine} is missing for {format_duration(note.missing_s)}, since its "
        f"{counted(note.visits, 'visit')} of up to {note.visits_most}"
    )


@shortens(SeveralMachines)
def _several_machines(note: SeveralMachines) -> str:
    return f"Measured on {len(note.systems)} machines: these may differ, and not the systems"


@shortens(EngineRemoved)
def _engine_removed(note: EngineRemoved) -> str:
    return f"The engine `{note.engine}` was removed: verdicts may differ from those it gave"


@shortens(SamplesDamaged)
def _samples_damaged(note: SamplesDamaged) -> str:
    return f"Sampled counters cannot be read from {counted(note.count, 'file')}"


@shortens(SamplesDeleted)
def _samples_deleted(note: SamplesDeleted) -> str:
    return f"Sampled counters of {counted(note.attempts, 'attempt')} were deleted"


@shortens(SamplesInParquet)
def _samples_in_parquet(note: SamplesInParquet) -> str:
    return f"Sampled counters of {counted(note.count, 'file')} need `steelyard[parquet]`"


@shortens(BudgetNotDeclared)
def _budget_not_declared(note: BudgetNotDeclared) -> str:
    return f"No budget was declared: at most {note.visits} visits must have been planned"
