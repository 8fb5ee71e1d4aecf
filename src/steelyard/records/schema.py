"""What lies on disk for one attempt at a trial.

Integers in ns and bytes as measured, never rounded; units in every name; a value that was not
measured is ``None`` with the reason beside it, never 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Literal

from pydantic import Field

from steelyard.plan.model import Cell, Frozen
from steelyard.records.disk_checks import DiskCheck
from steelyard.records.missing import Missing
from steelyard.records.note import Note
from steelyard.records.warnings import Bottleneck, TrialWarning

MOST_OF_A_CAPACITY = 1.05
"""A trial that reaches more of the generator's capacity shows that it was measured too low."""


class Outcome(StrEnum):
    """How an attempt ended. Only ``ok`` counts for a verdict; every word is kept and shown."""

    OK = "ok"
    SERVICE_NOT_READY = "service_not_ready"
    SERVICE_DIED = "service_died"
    ADDRESS_IN_USE = "address_in_use"
    PERMISSION_DENIED = "permission_denied"
    DISK_FULL = "disk_full"
    NOT_FOUND = "not_found"
    UNREACHABLE = "unreachable"
    RESOURCE_LIMIT = "resource_limit"
    TIMED_OUT = "timed_out"
    REFUSED_BY_GATE = "refused_by_gate"
    INVALID = "invalid"
    AGENT_LOST = "agent_lost"
    SYSTEM_NOT_READY = "system_not_ready"
    TOOL_FAILED = "tool_failed"
    COMMAND_FAILED = "command_failed"
    OUTPUT_NOT_UNDERSTOOD = "output_not_understood"
    RESET_NOT_PROVED = "reset_not_proved"
    SETTING_CHANGED = "setting_changed"
    EVENT_FAILED = "event_failed"
    EVENT_MISSED = "event_missed"
    NEEDS_OPERATOR = "needs_operator"
    UNDO_FAILED = "undo_failed"
    DAMAGED = "damaged"
    INTERRUPTED = "interrupted"
    CONTROLLER_LOST = "controller_lost"
    SYSTEM = "system"


class AttemptFailure(Frozen):
    """Why an attempt failed: in which phase, what happened, what to do."""

    phase: str
    message: str
    hint: str | None = None


class Measured(Frozen):
    """One response of one trial. ``value`` is ``None`` exactly when ``missing`` says why.

    ``infinite``: there is no value because it is beyond all others, as a percentile into which
    failed operations fall. ``of`` is how many operations a share is a share of. ``within`` is by
    how much the value may be off, where its instrument says so.
    """

    value: float | None
    unit: str
    missing: Missing | None = None
    infinite: bool = False
    of: int | None = None
    within: float | None = None


class FailedOperations(Note):
    """Operations that failed alike: in which phase of the operation, and how.

    ``status`` is that of HTTP (``500``, or ``5xx`` where only its class is known), ``reply`` what
    the server said the first time, on one line.
    """

    kind: Literal["failed_operations"] = "failed_operations"
    phase: str
    error: str
    count: int
    status: str | None = None
    reply: str | None = None


class GateRecord(Frozen):
    """One condition that had to hold for the trial to count; ``limit`` as the study has it."""

    name: str
    limit: str
    value: float | None
    held: bool | None


class Calibration(Frozen):
    """What the generator could do at most with the load of a trial, and how close the trial came.

    ``capacity_per_s`` is in operations (bytes of a stream) a second, ``baseline_latency_ns`` the
    median response of ``sink``, the engine's own server; ``ratio`` is throughput of the trial over
    the capacity. Of several generators the capacity is that of all together, ``shares_per_s`` what
    each had of it, and ``ratios`` what each reached of its own. ``not_calibrated`` says why there
    is no capacity. ``took_ns`` is wall time.
    """

    sink: str | None = None
    capacity_per_s: float | None = None
    shares_per_s: tuple[float, ...] = ()
    baseline_latency_ns: float | None = None
    ratio: float | None = None
    ratios: tuple[float, ...] = ()
    took_ns: int | None = None
    not_calibrated: Missing | None = None

    @property
    def is_exceeded(self) -> bool:
        """Whether the trial reached so much more than the capacity that this cannot be one."""
        return self.ratio is not None and self.ratio > MOST_OF_A_CAPACITY


class ResetRecord(Frozen):
    """How an instance was brought back to its first state, and what proves it."""

    strength: str
    took_ns: int
    evidence: dict[str, str]


class ClockRecord(Frozen):
    """The monotonic clock of a machine less that of the controller, once measured.

    ``at_ns`` is when, by the controller's clock.
    """

    offset_ns: int
    uncertainty_ns: int
    at_ns: int | None = None


class CostRecord(Frozen):
    """What one instance cost its host, and what it saw of that; cores, mean of the window.

    ``instance_cores`` are those of its control group or its processes, emulation included. Of a
    guest whose processors are ``vcpus`` threads of the host: what these had and for how much
    they waited, and what the guest itself takes for busy and for stolen.
    """

    instance_cores: float | None
    vcpus: int | None = None
    vcpu_cores: float | None = None
    vcpu_wait_cores: float | None = None
    busy_inside_cores: float | None = None
    stolen_inside_cores: float | None = None


class PlacementRecord(Frozen):
    """Threads of one name that may run in the same places: where, and where they last did.

    ``machine`` is named as its samples are (``system``, ``system.2``, ``host``), ``process`` is
    what is followed there. CPUs are numbers of that machine, as ``0-1,4``.
    """

    machine: str
    process: str
    thread: str
    threads: int
    allowed_cpus: str
    last_cpus: tuple[int, ...]


class Distribution(Frozen):
    """All times of one kind of one instance; ``hdr_v2_b64`` is read by ``records/histogram.py``."""

    count: int
    min_ns: int
    mean_ns: float
    max_ns: int
    hdr_v2_b64: str


class GeneratorRecord(Frozen):
    """One of several generators that drove the load on an instance together.

    ``generator`` is its number, ``machine`` as the study names it. ``clocks`` were measured before
    and after the load. ``window_error_ns`` is how far its window may lie from the common one.
    ``began_ns`` is when it really sent its first operation, by the controller's clock.
    """

    generator: int
    machine: str
    clocks: tuple[ClockRecord, ...]
    window_error_ns: int
    began_ns: int | None
    throughput_per_s: float | None


class InstanceRecord(Frozen):
    """One instance of the system in one attempt; ``background`` ran with the workload.

    ``clocks`` were measured before and after the load; ``started_ns`` is the start of its window
    by the controller's clock, as planned; ``began_ns`` is when the first operation was really sent,
    warm-up included. ``caches`` are the places that may hold data of its disks.
    ``distributions`` are those of the parts of a request, where a workload has requests.
    ``generators`` are there where several drove the load together.
    """

    instance: int
    workload: str
    background: tuple[str, ...] = ()
    reset: ResetRecord | None = None
    clocks: tuple[ClockRecord, ...] = ()
    started_ns: int | None = None
    began_ns: int | None = None
    caches: tuple[str, ...] = ()
    costs: CostRecord | None = None
    placements: tuple[PlacementRecord, ...] = ()
    generators: tuple[GeneratorRecord, ...] = ()
    distributions: dict[str, Distribution] = Field(default_factory=dict)
    responses: dict[str, Measured] = Field(default_factory=dict)


class EventRecord(Frozen):
    """What the study let happen within the window, on ``machine`` as the study names it.

    ``began_ns`` and ``ended_ns`` are by the controller's clock, as the start of an instance's
    window; the machine told them by its own, which may be ``uncertainty_ns`` off.
    """

    event: str
    machine: str
    began_ns: int
    ended_ns: int
    uncertainty_ns: int


class TrialRecord(Frozen):
    """One attempt at one trial, complete or not at all.

    ``failed_operations`` of the measured load, the commonest first. ``cpu_ratio`` is the share of
    the processors of the system that was used in the window, the largest of all instances.
    ``start_spread_ns`` is the time between the first operation of the first and of the last of the
    instances that were started together, as they were really sent. ``disk_checks`` are those of
    disks that were unmade after the trial; any damage makes its outcome ``damaged``.
    """

    schema_version: Literal[2] = 2
    trial: int
    attempt: int
    visit: int
    cell: Cell
    outcome: Outcome
    failure: AttemptFailure | None = None
    started_unix_ns: int
    finished_unix_ns: int
    phases_ns: dict[str, int]
    responses: Mapping[str, Measured]
    gates: tuple[GateRecord, ...] = ()
    failed_operations: tuple[FailedOperations, ...] = ()
    warnings: tuple[TrialWarning, ...] = ()
    bottleneck: Bottleneck | None = None
    cpu_ratio: float | None = None
    calibration: Calibration | None = None
    instances: tuple[InstanceRecord, ...] = ()
    start_spread_ns: int | None = None
    events: tuple[EventRecord, ...] = ()
    disk_checks: tuple[DiskCheck, ...] = ()
    facts: dict[str, dict[str, str | None]]
    files: tuple[str, ...] = ()

    def value(self, response: str) -> float | None:
        """The response as measured, ``None`` when it was not."""
        measured = self.responses.get(response)
        return None if measured is None else measured.value
