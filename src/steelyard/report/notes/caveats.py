"""What bounds every claim: what was not tested, failures, and what the error rate rests on."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.judge.kinds.caveats import (
    AcceptedNotFound,
    BlockUnfinished,
    BudgetNotDeclared,
    CalibrationExceeded,
    ConditionsMeasured,
    EngineRemoved,
    ErrorRateByRandomisation,
    FailuresUnequal,
    GeneratorBottleneck,
    GeneratorOnSameMachine,
    JudgedOnce,
    LevelsScreened,
    MachineMissing,
    ManyFailures,
    NotReset,
    OneMachine,
    OrderNotRandom,
    OrderRepeats,
    SamplesDamaged,
    SamplesDeleted,
    SamplesInParquet,
    ScreeningAssumptions,
    SeveralMachines,
    SystemsLeftOut,
    SystemsNotSeen,
    TrialExtent,
    WarnedTrials,
)
from steelyard.report.figures import counted, listed, percent
from steelyard.report.notes.registry import writes, writes_levels
from steelyard.report.notes.warnings import kind_text
from steelyard.study.ending import Extent
from steelyard.study.labels import Labels
from steelyard.units import format_duration

_KEPT_BY_A_SERVICE = "system caches, disk layout and boot state"
_KEPT = {
    "service": _KEPT_BY_A_SERVICE,
    "process": _KEPT_BY_A_SERVICE,
    "container": _KEPT_BY_A_SERVICE,
    "snapshot": "boot state and hardware of the host",
    "boot": "installation and hardware",
}
"""What is not renewed by a reset of each strength."""


@writes(OneMachine)
def _one_machine(note: OneMachine) -> str:
    facts = [
        f"{noun} {value}"
        for noun, value in (("processor", note.processor), ("kernel", note.kernel))
        if value is not None
    ]
    machine = f" ({', '.join(facts)})" if facts else ""
    return f"Measured on one machine{machine}: other machines were not tested"


@writes(SystemsNotSeen)
def _systems_not_seen(note: SystemsNotSeen) -> str:
    return (
        f"No agent ran on {listed(list(note.systems))}: nothing of its hardware, kernel, versions, "
        f"settings or use of resources was read, and the {counted(note.facts, 'fact')} of it "
        "are those that the study declares; what differs there may be the reason"
    )


@writes(SeveralMachines)
def _several_machines(note: SeveralMachines) -> str:
    places = "; ".join(listed(list(names)) for names in note.systems)
    return (
        f"Measured on {len(note.systems)} machines ({places}): a difference between systems on "
        "different machines may be one between the machines, and others were not tested"
    )


@writes(MachineMissing)
def _machine_missing(note: MachineMissing) -> str:
    visits = counted(note.visits, "visit")
    return (
        f"{note.machine} is missing since its {visits}, for {format_duration(note.missing_s)} "
        f"({note.error}): what is said of all of these machines rests on {visits} of each, others "
        f"have up to {note.visits_most}. Repair it and go on with `steelyard resume`"
    )


@writes_levels(ConditionsMeasured)
def _conditions_measured(note: ConditionsMeasured, labels: Labels) -> str:
    texts = "; ".join(labels.conditions(each) for each in note.conditions)
    return f"Measured at {texts}: nothing between or beyond was tested"


@writes_levels(LevelsScreened)
def _levels_screened(note: LevelsScreened, labels: Labels) -> str:
    levels = "; ".join(
        f"{name} {', '.join(labels.level(level, name) for level in each)}"
        for name, each in note.factors.items()
    )
    return f"Screened at {levels}: nothing between or beyond was tested"


@writes(ScreeningAssumptions)
def _screening_assumptions(_: ScreeningAssumptions) -> str:
    return (
        "The error rate of effects assumes equal variance in all cells and random order; that of "
        "shares also approximately normal noise"
    )


@writes(TrialExtent)
def _trial_extent(note: TrialExtent) -> str:
    return f"A trial measures {extent_text(note.extent)}: longer runs were not tested"


def extent_text(extent: Extent) -> str:
    """``10 s after 2 s of warm-up``, ``25 messages of each user after 2 s of warm-up``."""
    if extent.warmup_s is None:
        return "one run of the command to its end"
    if extent.window_s is not None:
        of = f"{extent.window_s:g} s"
    elif extent.operations_per_user is not None:
        of = f"{extent.operations_per_user:,} {extent.operation} of each user"
    else:
        of = f"{extent.operations:,} {extent.operation}"
    return f"{of} after {extent.warmup_s:g} s of warm-up"


@writes(NotReset)
def _not_reset(note: NotReset) -> str:
    of = f" of {', '.join(note.systems)}" if note.systems else ""
    if note.strength == "none":
        return (
            "Systems stayed up side by side, with their services, and were not reset between "
            "trials: what a trial leaves is there at the next, and each system was "
            "measured beside the idle others"
        )
    return (
        f"Trials{of} start from a reset of strength '{note.strength}', which does not renew "
        f"{_KEPT[note.strength]}"
    )


@writes(GeneratorOnSameMachine)
def _generator_on_same_machine(note: GeneratorOnSameMachine) -> str:
    systems = f"{listed(list(note.systems))} only" if note.systems else "the systems"
    return f"The load generator ran on the same machine and shared its processors with {systems}"


@writes(GeneratorBottleneck)
def _generator_bottleneck(note: GeneratorBottleneck) -> str:
    return (
        f"The load generator was the bottleneck in {note.trials} of {note.good_trials} trials: "
        "these measure the generator, and systems look more alike than they are"
    )


@writes(CalibrationExceeded)
def _calibration_exceeded(note: CalibrationExceeded) -> str:
    return (
        f"Generator calibration invalid: {note.trials} of {note.good_trials} trials exceeded the "
        f"measured capacity, by up to {percent(note.largest_ratio - 1)}. It was measured too low "
        "and is not used: whether the generator was the bottleneck is not known from it"
    )


@writes(WarnedTrials)
def _warned_trials(note: WarnedTrials) -> str:
    warning = kind_text(note.warning)
    return f"{note.trials} of {note.good_trials} valid trials have the warning: {warning}"


@writes(ManyFailures)
def _many_failures(note: ManyFailures) -> str:
    return (
        f"{note.failed} of {note.attempts} attempts failed, more than {percent(note.limit_share)}: "
        "results may be biased towards the attempts that succeed"
    )


@writes(FailuresUnequal)
def _failures_unequal(note: FailuresUnequal) -> str:
    return (
        f"Attempts fail unequally: {note.failed_baseline} of {note.attempts_baseline} on "
        f"{note.baseline}, {note.failed_other} of {note.attempts_other} on {note.other}. Leaving "
        "them out is not blind to the system, so the error rate is not guaranteed"
    )


@writes(ErrorRateByRandomisation)
def _error_rate_by_randomisation(note: ErrorRateByRandomisation) -> str:
    return (
        "The error rate holds for any noise that affects both systems alike, given the recorded "
        "random assignment, no carry-over between visits, and systems that differ by a constant "
        "ratio; under unequal variance it rests on Welch's test, simulated up to a ratio of "
        f"standard deviations of {note.simulated_spread_ratio:g}:1"
    )


@writes(EngineRemoved)
def _engine_removed(note: EngineRemoved) -> str:
    return (
        f"The study asked for the engine `{note.engine}`, which was removed: its records are "
        "judged as those of any study, and verdicts may differ from those given when it ran"
    )


@writes(SamplesDamaged)
def _samples_damaged(note: SamplesDamaged) -> str:
    files = listed([f"trials/{name}" for name in note.files])
    more = note.count - len(note.files)
    return (
        f"Sampled counters cannot be read from {files}{f' and {more} more files' if more else ''}: "
        "missing or damaged. Charts of resources leave these trials out; verdicts do not use them"
    )


@writes(SamplesDeleted)
def _samples_deleted(note: SamplesDeleted) -> str:
    return (
        f"Sampled counters of {counted(note.attempts, 'attempt')} were deleted to save space "
        "(`steelyard runs delete`). Charts of resources leave them out; verdicts do not use them"
    )


@writes(SamplesInParquet)
def _samples_in_parquet(note: SamplesInParquet) -> str:
    return (
        f"Sampled counters of an earlier steelyard ({counted(note.count, 'file')}) need one more "
        "package: `pip install 'steelyard[parquet]'`. Charts of resources leave them out; verdicts "
        "do not use them"
    )


@writes(OrderNotRandom)
def _order_not_random(_: OrderNotRandom) -> str:
    return (
        "The order was not randomised: drift, warm-up or background load can make equal systems "
        "look different. The error rate holds only if the trials are independent of each other "
        "and of time"
    )


@writes(OrderRepeats)
def _order_repeats(note: OrderRepeats) -> str:
    return (
        f"The order repeats every {note.period_visits} visits, as one in {note.once_in:,} random "
        "orders does. If it was fixed, a rhythm of the machine can make equal systems look "
        "different: judge it with the design `none`"
    )


@writes(AcceptedNotFound)
def _accepted_not_found(note: AcceptedNotFound) -> str:
    return (
        f"The study accepts that the systems differ in {listed(list(note.facts))}, and no such "
        "difference was found"
    )


@writes(JudgedOnce)
def _judged_once(_: JudgedOnce) -> str:
    return (
        "Judged once, after the last trial: the error rate holds only if the number of trials was "
        "fixed before the first one"
    )


@writes(BlockUnfinished)
def _block_unfinished(note: BlockUnfinished) -> str:
    where = "" if note.machine is None else f" on {note.machine}"
    return (
        f"The last block{where} was not finished ({note.visits} of {note.of} visits): its visits "
        "count for a comparison only if both systems were visited in it"
    )


@writes(SystemsLeftOut)
def _systems_left_out(note: SystemsLeftOut) -> str:
    return (
        f"The files hold {left_out_text(note.trials)} as well: systems that were not named, and "
        "nothing of them is used. If one is another spelling of a system that was named, its "
        "trials are missing there"
    )


def left_out_text(trials: Mapping[str, int]) -> str:
    """``3 trials of a and 1 trial of b``."""
    return listed([f"{counted(count, 'trial')} of {name}" for name, count in trials.items()])


@writes(BudgetNotDeclared)
def _budget_not_declared(note: BudgetNotDeclared) -> str:
    where = " on each machine" if note.machines > 1 else ""
    return (
        f"No budget was declared: the error rate holds if at most {note.visits} visits{where} were "
        "planned before the first one"
    )
