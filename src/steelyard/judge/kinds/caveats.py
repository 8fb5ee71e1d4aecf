"""What bounds every claim of a report, by kind."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from steelyard.judge.analyses.steadiness.findings import NotShownSteady
from steelyard.plan.model import Cell
from steelyard.records.events import EnvironmentDifference, FutilityReason
from steelyard.records.note import Note
from steelyard.study.ending import Extent
from steelyard.study.model import Level


class OneMachine(Note):
    """All trials ran on one machine; its facts are ``None`` where not known or not constant."""

    kind: Literal["one_machine"] = "one_machine"
    processor: str | None
    kernel: str | None


class SystemsNotSeen(Note):
    """No agent ran on these systems: of their configuration ``facts`` are declared, none read."""

    kind: Literal["systems_not_seen"] = "systems_not_seen"
    systems: tuple[str, ...]
    facts: int


class SeveralMachines(Note):
    """Trials ran on several machines: the systems of each."""

    kind: Literal["several_machines"] = "several_machines"
    systems: tuple[tuple[str, ...], ...]


class MachineMissing(Note):
    """One of several machines has left by an error, so long before the last event of any.

    It was measured for ``visits``, others for up to ``visits_most``.
    """

    kind: Literal["machine_missing"] = "machine_missing"
    machine: str
    visits: int
    visits_most: int
    missing_s: float
    error: str


class ConditionsMeasured(Note):
    """Nothing between or beyond these conditions was measured."""

    kind: Literal["conditions_measured"] = "conditions_measured"
    conditions: tuple[dict[str, Level], ...]


class LevelsScreened(Note):
    """Nothing between or beyond these levels was screened."""

    kind: Literal["levels_screened"] = "levels_screened"
    factors: dict[str, tuple[Level, ...]]


class ScreeningAssumptions(Note):
    """What the error rates of effects and of their shares rest on."""

    kind: Literal["screening_assumptions"] = "screening_assumptions"


class TrialExtent(Note):
    """How long a trial measures; longer runs were not tested."""

    kind: Literal["trial_extent"] = "trial_extent"
    extent: Extent


class NotReset(Note):
    """What a reset of this strength leaves as it is, on these systems; all of them if empty."""

    kind: Literal["not_reset"] = "not_reset"
    strength: str
    systems: tuple[str, ...]


class GeneratorOnSameMachine(Note):
    """The load generator shared the processors of these systems; of all where none is named."""

    kind: Literal["generator_on_same_machine"] = "generator_on_same_machine"
    systems: tuple[str, ...] = ()


class GeneratorBottleneck(Note):
    """In so many good trials the generator was the bottleneck."""

    kind: Literal["generator_bottleneck"] = "generator_bottleneck"
    trials: int
    good_trials: int


class WarnedTrials(Note):
    """So many good trials have a warning of this kind."""

    kind: Literal["warned_trials"] = "warned_trials"
    warning: str
    trials: int
    good_trials: int


class ManyFailures(Note):
    """More attempts failed than may be left out."""

    kind: Literal["many_failures"] = "many_failures"
    failed: int
    attempts: int
    limit_share: float


class FailuresUnequal(Note):
    """Attempts fail unequally, so that leaving them out is not blind to the system."""

    kind: Literal["failures_unequal"] = "failures_unequal"
    baseline: str
    other: str
    failed_baseline: int
    attempts_baseline: int
    failed_other: int
    attempts_other: int


class CalibrationExceeded(Note):
    """The generator calibration is invalid: trials reached more than its capacity."""

    kind: Literal["calibration_exceeded"] = "calibration_exceeded"
    trials: int
    good_trials: int
    largest_ratio: float


class ErrorRateByRandomisation(Note):
    """What the error rate rests on; unequal spreads were simulated up to the ratio."""

    kind: Literal["error_rate_by_randomisation"] = "error_rate_by_randomisation"
    simulated_spread_ratio: float


class EngineRemoved(Note):
    """The study named an engine that was removed; its records are judged as any others."""

    kind: Literal["engine_removed"] = "engine_removed"
    engine: str


class OrderNotRandom(Note):
    """The order of own trials was not randomised."""

    kind: Literal["order_not_random"] = "order_not_random"


class OrderRepeats(Note):
    """The order of own trials repeats itself, as one of ``once_in`` random orders does."""

    kind: Literal["order_repeats"] = "order_repeats"
    period_visits: int
    once_in: int


class JudgedOnce(Note):
    """Own trials were judged once, after the last one."""

    kind: Literal["judged_once"] = "judged_once"


class BlockUnfinished(Note):
    """The last block of own trials, on a ``machine`` of several, has ``visits`` instead of ``of``.

    They count for a pair only if both of it are among them.
    """

    kind: Literal["block_unfinished"] = "block_unfinished"
    visits: int
    of: int
    machine: str | None = None


class SystemsLeftOut(Note):
    """Files that were imported hold so many trials of systems that were not named."""

    kind: Literal["systems_left_out"] = "systems_left_out"
    trials: dict[str, int]


class BudgetNotDeclared(Note):
    """No budget of own trials was declared; this many visits were assumed, on each machine."""

    kind: Literal["budget_not_declared"] = "budget_not_declared"
    visits: int
    machines: int = 1


class AcceptedNotFound(Note):
    """The study accepts differences in these facts, in which no system differs from another."""

    kind: Literal["accepted_not_found"] = "accepted_not_found"
    facts: tuple[str, ...]


class NeverSteady(Note):
    """Throughput in these cells is not steady within the window."""

    kind: Literal["never_steady"] = "never_steady"
    cells: tuple[Cell, ...]
    extent: Extent


class SteadyLater(Note):
    """Throughput becomes steady within the window; ``warmup_s`` would leave the rest out.

    ``bias_log`` is the largest change of the mean by what precedes the steady part.
    """

    kind: Literal["steady_later"] = "steady_later"
    cells: tuple[Cell, ...]
    extent: Extent
    bias_log: float
    warmup_s: float


class SteadinessUnknown(Note):
    """Whether throughput was steady is not known in these cells, by the reason of the first."""

    kind: Literal["steadiness_unknown"] = "steadiness_unknown"
    cells: tuple[Cell, ...]
    reason: NotShownSteady | None


class SystemFutility(Note):
    """A system was stopped for futility; ``others_continued`` is known once the run has ended."""

    kind: Literal["system_futility"] = "system_futility"
    system: str
    reason: FutilityReason
    others_continued: bool | None = None


class WorkloadFutility(Note):
    """A workload of several was stopped for futility on these systems, or then on all."""

    kind: Literal["workload_futility"] = "workload_futility"
    workload: str
    reasons: dict[str, FutilityReason]
    on_all_systems: bool
    others_continued: bool | None = None


class WorkloadDecided(Note):
    """A workload of several was measured up to this visit, and all asked of it was decided."""

    kind: Literal["workload_decided"] = "workload_decided"
    last_visit: int


class SamplesDamaged(Note):
    """So many files of sampled counters are missing or damaged; ``files`` are the first of them."""

    kind: Literal["samples_damaged"] = "samples_damaged"
    count: int
    files: tuple[str, ...]


class SamplesDeleted(Note):
    """Sampled counters of so many attempts were deleted by ``steelyard runs delete``."""

    kind: Literal["samples_deleted"] = "samples_deleted"
    attempts: int


class SamplesInParquet(Note):
    """So many files of sampled counters are Parquet, as earlier checkouts wrote them.

    What reads it is not installed here.
    """

    kind: Literal["samples_in_parquet"] = "samples_in_parquet"
    count: int


class CleanupVerified(Note):
    """The environment of these machines was the same after the run as before it.

    But for so many things that others changed meanwhile, named by :class:`ChangedByOthers`.
    """

    kind: Literal["cleanup_verified"] = "cleanup_verified"
    machines: tuple[str, ...]
    by_others: int = 0


class CleanupIncomplete(Note):
    """So many things differ after the run; ``differences`` are the first of them.

    ``pending`` is how many changes of the run were not undone, whether or not they show as
    differences. Where it is 0, something else changed the machines meanwhile, or a program that
    was measured did.
    """

    kind: Literal["cleanup_incomplete"] = "cleanup_incomplete"
    count: int
    pending: int = 0
    differences: tuple[EnvironmentDifference, ...]


class ChangedByOthers(Note):
    """So many things differ that the run cannot have changed; ``differences`` are the first.

    Nothing that it planned names them, and they bear no mark of it. Trials may have felt them.
    """

    kind: Literal["changed_by_others"] = "changed_by_others"
    count: int
    differences: tuple[EnvironmentDifference, ...]


class CleanupNotVerified(Note):
    """The environment of a machine was not compared, by this error or as the stop was forced."""

    kind: Literal["cleanup_not_verified"] = "cleanup_not_verified"
    machine: str
    error: str | None


Caveat = Annotated[
    OneMachine
    | SystemsNotSeen
    | SeveralMachines
    | MachineMissing
    | ConditionsMeasured
    | LevelsScreened
    | ScreeningAssumptions
    | TrialExtent
    | NotReset
    | GeneratorOnSameMachine
    | GeneratorBottleneck
    | CalibrationExceeded
    | WarnedTrials
    | ManyFailures
    | FailuresUnequal
    | ErrorRateByRandomisation
    | EngineRemoved
    | OrderNotRandom
    | OrderRepeats
    | JudgedOnce
    | BlockUnfinished
    | SystemsLeftOut
    | BudgetNotDeclared
    | AcceptedNotFound
    | NeverSteady
    | SteadyLater
    | SteadinessUnknown
    | SystemFutility
    | WorkloadFutility
    | WorkloadDecided
    | SamplesDamaged
    | SamplesDeleted
    | SamplesInParquet
    | CleanupVerified
    | CleanupIncomplete
    | ChangedByOthers
    | CleanupNotVerified,
    Field(discriminator="kind"),
]
