"""Why a value is missing: kinds and figures, as the record keeps them.

The text of each is written by ``report/notes/missing.py``. A text in a field is quoted: of the
sampler, of a tool, of a server, of the engine.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from steelyard.records.note import Note


class MissingKind(Note):
    """Base of all kinds."""


class Reason(MissingKind):
    """Those that need no figure."""

    kind: Literal[
        "not_measured",
        "no_load",
        "no_stream",
        "no_probe",
        "no_operation_due",
        "no_good_answer",
        "good_answers_late",
        "no_payload_checked",
        "payloads_not_in_order",
        "ended_by_clock",
        "flow_figure_unknown",
        "no_bytes",
        "no_datagrams",
        "no_agent",
        "host_not_sampled",
        "no_separate_host",
        "generator_not_sampled",
        "no_network_device",
        "cpu_counters_constant",
        "no_energy_counter",
        "energy_counters_constant",
        "window_length_unknown",
        "no_battery",
        "battery_not_discharging",
        "battery_reads_zero",
        "not_printed",
        "zero_printed",
        "divisor_zero",
        "no_event",
        "calibration_off",
        "calibrates_itself",
        "calibration_timed_out",
    ]


class Quoted(MissingKind):
    """The words of who could not give the value; of version 1, the whole reason."""

    kind: Literal[
        "sampler_reported",
        "sensor_refused",
        "probe_refused",
        "reference_kernel_refused",
        "tool_reported",
        "flow_broken",
        "calibration_failed",
        "told_by_version_1",
    ]
    said: str


class ColumnMissing(MissingKind):
    """A counter was not sampled, or the kernel has no value of it."""

    kind: Literal["column_not_sampled", "column_not_reported"]
    column: str


class TooFewSamples(MissingKind):
    """The window holds too few samples of the counters of a machine."""

    kind: Literal["too_few_samples"] = "too_few_samples"
    samples: int
    needed: int


class TooFewTimes(MissingKind):
    """A percentile needs more operations than there were."""

    kind: Literal["too_few_times"] = "too_few_times"
    figure: str
    needed: int


class FailedBeyond(MissingKind):
    """A percentile into which failed operations fall, which never ended."""

    kind: Literal["failed_beyond"] = "failed_beyond"
    failed_share: float


class TurnedAway(MissingKind):
    """Clients were turned away while they had no operation, so that no share counts them."""

    kind: Literal["turned_away"] = "turned_away"
    times: int


MeterKind = Literal[
    "meter_silent",
    "meter_late",
    "meter_unreadable",
    "meter_negative",
    "meter_other_unit",
    "meter_stale",
]


class MeterUnusable(MissingKind):
    """For so long a meter gave no reading that could be used; ``said`` is what it did say."""

    kind: MeterKind
    gap_s: float
    said: str


class MeterFell(MissingKind):
    """A counter of energy fell during the window: it began anew."""

    kind: Literal["meter_fell"] = "meter_fell"
    before_j: float
    after_j: float


class MeterTooCoarse(MissingKind):
    """The energy of a window may be off by so much that it is no figure."""

    kind: Literal["meter_too_coarse"] = "meter_too_coarse"
    energy_j: float
    within_j: float


class NameUnknown(MissingKind):
    """Nothing measures a response of this name, no operation that was answered well had such a
    part, or it is no figure of a distribution.
    """

    kind: Literal["response_unknown", "part_unknown", "figure_unknown"]
    name: str


class NoDiskTime(MissingKind):
    """No request to the disk ended, or all took less than the kernel's steps of time resolve."""

    kind: Literal["no_disk_request", "disk_time_too_short"]
    request: Literal["read", "write", "flush"]
    least_ms: float


class MoreThanProcessors(MissingKind):
    """Counters that add up to more cores than there are processors."""

    kind: Literal["more_than_processors"] = "more_than_processors"
    cores: float
    processors: int


class NotMeasuredWith(MissingKind):
    """A metric that a tool does not have with these settings, as a study writes them."""

    kind: Literal["not_measured_with"] = "not_measured_with"
    settings: str


class TooFewPrinted(MissingKind):
    """A metric that needs more of something than the tool printed."""

    kind: Literal["too_few_printed"] = "too_few_printed"
    needed: float
    of: str


class LateBefore(MissingKind):
    """Too much was late before an event to say what it changed: a share of the time."""

    kind: Literal["late_before"] = "late_before"
    share: float


class NotRecovered(MissingKind):
    """What an event disturbed was not as before when the window ended, so long after its start."""

    kind: Literal["not_recovered"] = "not_recovered"
    after_ms: float


class OfInstance(MissingKind):
    """One of several instances lacks the value."""

    kind: Literal["of_instance"] = "of_instance"
    instance: int
    missing: Missing


class NoServerForWorkload(MissingKind):
    """The engine has no server of its own that the generator could be calibrated with."""

    kind: Literal["no_server_for_workload"] = "no_server_for_workload"
    workload: str


class LimitNotKnown(MissingKind):
    """A search ended at a load at which what it limits has no value."""

    kind: Literal["limit_not_known"] = "limit_not_known"
    load: float
    limit: str
    missing: Missing


class NoLoadFound(MissingKind):
    """A search ended without a load that keeps its limits: at its ends, or after ``runs``."""

    kind: Literal["no_load_held_twice", "limits_held_up_to", "limits_broken_down_to"]
    load: float
    runs: int


Missing = TypeAliasType(
    "Missing",
    Annotated[
        Reason
        | Quoted
        | ColumnMissing
        | TooFewSamples
        | TooFewTimes
        | FailedBeyond
        | TurnedAway
        | MeterUnusable
        | MeterFell
        | MeterTooCoarse
        | NameUnknown
        | NoDiskTime
        | MoreThanProcessors
        | NotMeasuredWith
        | TooFewPrinted
        | LateBefore
        | NotRecovered
        | OfInstance
        | NoServerForWorkload
        | LimitNotKnown
        | NoLoadFound,
        Field(discriminator="kind"),
    ],
)

Reading = float | Missing
"""A number, or why there is none."""
