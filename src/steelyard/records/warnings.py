"""What speaks against a trial without breaking it, and what its bottleneck was: kinds and figures.

The text of each is written by ``report/notes/warnings.py``; ``docs/reference/warnings.md`` is the
table of the rules.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from steelyard.plan.model import Frozen

Figures = dict[str, int | float | str]
"""Named numbers and names, with units in the names of numbers."""


class WarningKind(StrEnum):
    """Every kind: those of machines and clocks, those of a trial, and those of the generator."""

    STEAL = "steal"
    GUEST_STEAL = "guest_steal"
    FOREIGN_CPU = "foreign_cpu"
    FOREIGN_DISK = "foreign_disk"
    FOREIGN_PAGING = "foreign_paging"
    RETRANSMITS = "retransmits"
    LINK_THROTTLED = "link_throttled"
    SWAPPED = "swapped"
    OUT_OF_MEMORY = "out_of_memory"
    THROTTLED = "throttled"
    RAID_REBUILDING = "raid_rebuilding"
    NOT_IDLE = "not_idle"
    CLOCK_STEP = "clock_step"
    CLOCK_DRIFT = "clock_drift"
    HIDDEN_WAIT = "hidden_wait"
    SAMPLES_LOST = "samples_lost"
    METER_READINGS_LOST = "meter_readings_lost"
    METER_COARSE = "meter_coarse"

    PROBE_SUSPECT = "probe_suspect"
    BACKGROUND_ENDED = "background_ended"
    INSTANCES_APART = "instances_apart"
    CONNECTIONS_FAILED = "connections_failed"
    COUNTS_DIFFER = "counts_differ"
    DELAYED_ACK = "delayed_ack"
    TIMER_TICKS = "timer_ticks"
    GENERATOR_NEAR_CAPACITY = "generator_near_capacity"
    GENERATORS_APART = "generators_apart"

    GENERATOR_BOUND = "generator_bound"
    LATE = "late"
    RATE_NOT_REACHED = "rate_not_reached"
    STREAM_RATE_NOT_REACHED = "stream_rate_not_reached"
    CONNECTIONS_MISSING = "connections_missing"
    RUN_DELAY = "run_delay"
    LITTLES_LAW = "littles_law"
    OVERLOADED = "overloaded"
    CANCELLED = "cancelled"
    TOO_FEW_SAMPLES = "too_few_samples"
    NO_BYTES = "no_bytes"
    FLOWS_BROKEN = "flows_broken"
    CONSERVATION_BROKEN = "conservation_broken"


class TrialWarning(Frozen):
    """One reason to distrust a trial: its kind and its figures.

    ``suspect`` trials count, ``invalid`` ones do not.
    """

    kind: WarningKind
    state: Literal["suspect", "invalid"] = "suspect"
    figures: Figures = Field(default_factory=dict)


class Resource(StrEnum):
    """What can be used up in a trial.

    Of the disk it is known for how much of the window it had a request, though one that serves many
    at once may have more to give; and of threads of the service that had something to do, how much
    of their time they waited for it. Of a lock, for how many operations under way one of them
    waited for another. Of the network, and of the queue in front of a service, in how many
    samples something waited there.
    """

    GENERATOR = "generator"
    DISK_WAIT = "disk_wait"
    DISK_BUSY_TIME = "disk_busy_time"
    MACHINE_CPU = "machine_cpu"
    CPU_LIMIT = "cpu_limit"
    HOST_CPU = "host_cpu"
    MEMORY = "memory"
    ONE_CORE_OF_SERVICE = "one_core_of_service"
    LOCK = "lock"
    NETWORK = "network"
    ACCEPT_QUEUE = "accept_queue"


class UsedUp(Frozen):
    """A resource that was used up in the window, and the share of it that was used."""

    resource: Resource
    share: float | None


class Bottleneck(UsedUp):
    """What held a trial back most; ``also`` are the others that were used up, worst first."""

    also: tuple[UsedUp, ...] = ()
