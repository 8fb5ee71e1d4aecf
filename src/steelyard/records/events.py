"""The events of a ledger: one class for each, named in the record by its ``event``.

Figures carry their units in their names. A text is an error message, kept as it was;
everything else is a kind with figures. ``docs/reference/records.md`` is the table.
"""

from __future__ import annotations

import functools
from typing import Annotated, Literal

from pydantic import Field, JsonValue, TypeAdapter

from steelyard.plan.model import Cell, Frozen
from steelyard.records.disk_checks import DiskCheck
from steelyard.records.missing import Missing
from steelyard.records.schema import Calibration, Outcome
from steelyard.records.steady_clock import now_unix_ns
from steelyard.study.model import Level

InterimVerdict = Literal["faster", "slower", "equivalent", "trade_off", "undecided", "not_judged"]
SessionEnd = Literal["decided", "budget_visits", "budget_time", "interrupted", "failures"]
"""Why a session ended by itself or was asked to."""


class Recorded(Frozen):
    """Base of all events; ``at_unix_ns`` is when it was made, just before it was written."""

    event: str
    at_unix_ns: int = Field(default_factory=now_unix_ns)


class LedgerRepaired(Recorded):
    """A line that a crash had torn was cut off when the ledger was opened."""

    event: Literal["ledger_repaired"] = "ledger_repaired"
    bytes_cut: int


class SessionOpened(Recorded):
    """A controller began to work on the run."""

    event: Literal["session_opened"] = "session_opened"


class SessionClosed(Recorded):
    """The controller ended; ``reason`` is ``None`` when an error ended it."""

    event: Literal["session_closed"] = "session_closed"
    reason: SessionEnd | None


class MachineLeased(Recorded):
    """The session is about to take the lease of a machine, with the next fence number there."""

    event: Literal["machine_leased"] = "machine_leased"
    machine: str
    fence: int


class MachineLeft(Recorded):
    """An error ended what is done on this machine of several; the others went on."""

    event: Literal["machine_left"] = "machine_left"
    message: str


class EnvironmentRecorded(Recorded):
    """The machines that carry systems were listed before the session.

    ``not_listed`` maps a machine to the error that kept it from being listed.
    """

    event: Literal["environment_recorded"] = "environment_recorded"
    machines: tuple[str, ...]
    not_listed: dict[str, str]


class EnvironmentDifference(Frozen):
    """One thing of a machine that is not as it was; ``None`` where it was or is absent."""

    machine: str
    kind: str
    name: str
    before: str | None
    after: str | None


class EnvironmentCompared(Recorded):
    """The machines were listed again and compared after the session's changes were undone.

    ``differences`` are the first 50 of ``count`` that the run may have caused, ``others`` the
    first 50 of what others did meanwhile: nothing that the run planned names it. Of machines in
    ``forced_stop`` nothing is known, because the user forced the run to end.
    """

    event: Literal["environment_compared"] = "environment_compared"
    machines: tuple[str, ...]
    count: int
    differences: tuple[EnvironmentDifference, ...] = ()
    others: tuple[EnvironmentDifference, ...] = ()
    not_listed: dict[str, str]
    forced_stop: tuple[str, ...] = ()


class WallClock(Frozen):
    """How far the wall clock of a machine is ahead of the controller's; negative: behind it."""

    machine: str
    ahead_ns: int
    uncertainty_ns: int


class WallClocksCompared(Recorded):
    """The wall clocks of the other machines of the study were read, before anything was started."""

    event: Literal["wall_clocks_compared"] = "wall_clocks_compared"
    machines: tuple[WallClock, ...]


class ReferenceKernelSeries(Frozen):
    """Results of one part of the reference kernel in a row, on one machine at rest.

    ``missing`` says why a part has no values.
    """

    machine: str
    part: str
    values: tuple[float | None, ...]
    missing: Missing | None = None


class NoiseMeasured(Recorded):
    """The reference kernel ran many times in a row before the first trial, once in a run."""

    event: Literal["noise_measured"] = "noise_measured"
    series: tuple[ReferenceKernelSeries, ...]


class CellCalibration(Calibration):
    """What the generator could do at most with the load of one cell."""

    cell: Cell


class GeneratorCalibrated(Recorded):
    """The generator was calibrated for everything that is still to be measured.

    ``after_visit``: anew and between visits, for cells whose calibration a trial of that visit has
    disproved; ``None`` before the first trial of a session.
    """

    event: Literal["generator_calibrated"] = "generator_calibrated"
    after_visit: int | None = None
    cells: tuple[CellCalibration, ...]


class AttemptStarted(Recorded):
    """An attempt at a trial began."""

    event: Literal["attempt_started"] = "attempt_started"
    trial: int
    attempt: int


class AttemptFinished(Recorded):
    """The record of an attempt is on stable storage."""

    event: Literal["attempt_finished"] = "attempt_finished"
    trial: int
    attempt: int
    outcome: Outcome


class InterimComparison(Frozen):
    """One comparison of a primary response after a visit: the word, and how large by then.

    ``workload`` is ``None`` for the only one, ``conditions`` for all together. Ratios are natural
    logarithms of other over baseline. Without ``estimate_log`` no size was asked for, or there is
    none; with it, an end that is ``None`` is not bounded.
    """

    workload: str | None
    baseline: str
    other: str
    conditions: dict[str, Level] | None
    word: InterimVerdict
    margin_log: float
    n_baseline: int
    n_other: int
    estimate_log: float | None
    low_log: float | None
    high_log: float | None


class InterimLook(Recorded):
    """The judge was asked whether to continue, after ``visits_done`` visits.

    ``least_visits_more`` and ``most_visits_more`` are the forecast until all is decided; ``None``
    when there is none, or the visits are more than five budgets.
    """

    event: Literal["interim_look"] = "interim_look"
    visits_done: int
    comparisons: tuple[InterimComparison, ...]
    decided: bool
    least_visits_more: int | None
    most_visits_more: int | None
    open_claims: tuple[str, ...]


class SystemsEliminated(Recorded):
    """From ``block`` on only the ``remaining`` systems are measured; the rest is decided."""

    event: Literal["systems_eliminated"] = "systems_eliminated"
    block: int
    remaining: tuple[str, ...]


class WorkloadsEliminated(Recorded):
    """The same of a study of several workloads: the systems that remain, by workload."""

    event: Literal["workloads_eliminated"] = "workloads_eliminated"
    block: int
    remaining: dict[str, tuple[str, ...]]


class CommonestFailure(Frozen):
    """What most of the trials report that have no value.

    ``outcome`` is that of the attempt, ``None`` when the attempt was good and the response was
    not measured; ``message`` is its error, ``missing`` why there is no value.
    """

    trials: int
    outcome: Outcome | None
    message: str | None = None
    missing: Missing | None = None


class FutilityReason(Frozen):
    """Why further trials of a system would not help.

    Either all trials of its last visits failed (``failed_visits``), or the primary response was
    in none of its ``trials`` (``missing_responses``), or both. ``identical_attempts``: so many in
    a row failed alike, of a system of which no attempt was ever good.
    """

    failed_visits: tuple[int, ...] = ()
    identical_attempts: int = 0
    missing_responses: tuple[str, ...] = ()
    trials: int
    commonest: CommonestFailure


class SystemStopped(Recorded):
    """A system is not measured any more, for futility."""

    event: Literal["system_stopped"] = "system_stopped"
    system: str
    reason: FutilityReason


class WorkloadStopped(Recorded):
    """One workload of several is not measured any more, for futility.

    ``reasons`` by system are those of the systems that failed, ``stopped_on`` all systems on
    which it is not measured any more, ``visit`` the last one before.
    """

    event: Literal["workload_stopped"] = "workload_stopped"
    workload: str
    reasons: dict[str, FutilityReason]
    stopped_on: tuple[str, ...]
    visit: int


class DisksChecked(Recorded):
    """The disks of a system that stayed up between trials were checked when it was taken down."""

    event: Literal["disks_checked"] = "disks_checked"
    system: str
    disk_checks: tuple[DiskCheck, ...]


class StoppedRetried(Recorded):
    """The user asks to measure again what was stopped before: attempts on these systems until now
    do not count for stopping them, nor against the attempts that a trial may have.
    """

    event: Literal["stopped_retried"] = "stopped_retried"
    systems: tuple[str, ...]


class VisitsTimed(Recorded):
    """The first visits took less time than was assumed: the budget of time holds more of them."""

    event: Literal["visits_timed"] = "visits_timed"
    visits: int
    visits_before: int


class BudgetExtended(Recorded):
    """The visits whose systems were assigned in advance are added to the plan, once."""

    event: Literal["budget_extended"] = "budget_extended"
    visits: int
    visits_before: int


class UndoPlanned(Recorded):
    """A machine is about to be changed; ``inverse`` takes the change back.

    Synced before the change. ``removes`` is the label of an instance that the inverse removes,
    and with it everything that was changed on host ``inside:LABEL``.
    """

    event: Literal["undo_planned"] = "undo_planned"
    undo: int
    host: str
    removes: str | None = None
    inverse: dict[str, JsonValue]


class Undone(Recorded):
    """The change of ``undo`` has been undone."""

    event: Literal["undone"] = "undone"
    undo: int


Event = (
    LedgerRepaired
    | SessionOpened
    | SessionClosed
    | MachineLeased
    | MachineLeft
    | EnvironmentRecorded
    | EnvironmentCompared
    | WallClocksCompared
    | NoiseMeasured
    | GeneratorCalibrated
    | AttemptStarted
    | AttemptFinished
    | InterimLook
    | SystemsEliminated
    | WorkloadsEliminated
    | SystemStopped
    | WorkloadStopped
    | DisksChecked
    | StoppedRetried
    | VisitsTimed
    | BudgetExtended
    | UndoPlanned
    | Undone
)


@functools.cache
def event_adapter() -> TypeAdapter[Event]:
    """Reads an event by its name."""
    return TypeAdapter(Annotated[Event, Field(discriminator="event")])
