"""The texts of warnings about trials, of their bottlenecks and of failed operations in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from steelyard.judge.findings import BottleneckNote, WarningNote
from steelyard.records.schema import FailedOperations
from steelyard.records.warnings import Figures, Resource, WarningKind
from steelyard.report.figures import counted
from steelyard.report.notes.registry import writes

_K = WarningKind


@writes(WarningNote)
def warning_text(note: WarningNote) -> str:
    """What happened, with its figures; the bare kind where a record does not have them."""
    of = ("part",) if note.kind == _K.GENERATORS_APART else ("part", "generator")
    figures = {name: value for name, value in note.figures.items() if name not in of}
    try:
        text = TEXTS[note.kind](figures)
    except KeyError:
        text = kind_text(note.kind)
    if "part" in note.figures:
        text = f"{note.figures['part']}: {text}"
    named = "generator" in of and "generator" in note.figures
    return f"generator {note.figures['generator']}: {text}" if named else text


_NAMES = {
    _K.STEAL: "CPU steal",
    _K.GUEST_STEAL: "CPU steal in the guest",
    _K.FOREIGN_CPU: "CPU used by other processes",
    _K.FOREIGN_DISK: "disk used by other processes",
    _K.FOREIGN_PAGING: "memory of other processes read from disk",
    _K.HIDDEN_WAIT: "hidden steal of vCPUs",
    _K.DELAYED_ACK: "delayed ACK",
    _K.LATE: "late operations",
    _K.RUN_DELAY: "load threads waiting for a CPU",
    _K.LITTLES_LAW: "Little's law broken",
}


def kind_text(kind: str) -> str:
    """A kind as a noun: ``CPU used by other processes``, ``clock step``."""
    names = {str(known): name for known, name in _NAMES.items()}
    return names.get(str(kind), str(kind).replace("_", " "))


def _steal(figures: Figures) -> str:
    machine = figures.get("machine", "the generator's machine")
    return f"{figures['steal_ratio']:.1%} of the CPU time of {machine} was stolen"


def _foreign_disk(figures: Figures) -> str:
    megabytes = float(figures["bytes_per_s"]) / 1e6
    return (
        f"foreign processes moved {megabytes:,.0f} MB/s on the disk of the service "
        f"({figures['machine']})"
    )


def _link_throttled(figures: Figures) -> str:
    machine = figures["machine"]
    if "overlimit_ratio" in figures:
        ratio = float(figures["overlimit_ratio"])
        return (
            f"a queue discipline of {figures['device']} ({machine}) held packets back: it was at "
            f"its limit {ratio:.2g} times for each packet sent"
        )
    if "delayed_ratio" in figures:
        return (
            f"netem on {figures['device']} ({machine}) held packets in "
            f"{figures['delayed_ratio']:.0%} of the samples"
        )
    return f"the packet filter of {machine} dropped {figures['refused_ratio']:.2%} of what it sent"


def _connections_failed(figures: Figures) -> str:
    when = str(figures["when"]).replace("_", " ").replace("before window", "before the window")
    most = ", mostly {error} in phase {phase} ({error_count} times)"
    return f"{figures['connections']} connections failed {when}" + (
        most.format_map(figures) if "error" in figures else ""
    )


def _hidden_wait(figures: Figures) -> str:
    if "vcpu_wait_cores" not in figures:
        raise KeyError("vcpu_wait_cores")
    names = ("busy_inside_cores", "stolen_inside_cores", "vcpu_cores", "vcpu_wait_cores")
    cores = {
        name: f"{figures[name]:.2f}" if name in figures else "an unknown number of"
        for name in names
    }
    return (
        "{machine}: the guest was busy for {busy_inside_cores} cores and reported "
        "{stolen_inside_cores} stolen; its vCPUs had {vcpu_cores} of the host and waited for "
        "{vcpu_wait_cores}, which times measured inside include"
    ).format(machine=figures["machine"], **cores)


def _probe_suspect(figures: Figures) -> str:
    kind = str(figures["warning"])
    texts: Mapping[str, Callable[[Figures], str]] = {str(k): text for k, text in TEXTS.items()}
    return f"the latency probe ({kind}): {texts[kind](figures)}"


def _clock_step(figures: Figures) -> str:
    step_ms = float(figures["step_ns"]) / 1e6
    if "machine" not in figures:  # of an earlier version, which kept no direction either
        return f"the wall clock was stepped or slewed by {step_ms:.1f} ms during the trial"
    where = figures["machine"]
    return f"the wall clock of {where} was stepped or slewed by {step_ms:+.1f} ms during the trial"


def _generators_apart(figures: Figures) -> str:
    apart_ns, window_ns = float(figures["apart_ns"]), float(figures["window_ns"])
    return (
        f"the windows of the generators may lie {apart_ns / 1e6:.2g} ms apart, "
        f"{apart_ns / window_ns:.1%} of their length: the clock of generator "
        f"{figures['generator']} ({figures['machine']}) is the least known"
    )


def _instances_apart(figures: Figures) -> str:
    together_ns, longest_ns = float(figures["together_ns"]), float(figures["longest_ns"])
    return (
        f"the instances worked at the same time for {together_ns / 1e9:.2g} s, "
        f"{together_ns / longest_ns:.0%} of the time that the slowest took"
    )


def _delayed_ack(figures: Figures) -> str:
    first_ms = float(figures["first_byte_ns"]) / 1e6
    return (
        f"in {figures['share']:.0%} of the operations the rest of the reply came about 40 ms after "
        f"the first byte, which took {first_ms:.2g} ms: delayed ACK and Nagle's algorithm (set "
        "TCP_NODELAY, or write a reply at once), and not work of the server"
    )


TEXTS: Mapping[WarningKind, Callable[[Figures], str]] = {
    _K.STEAL: _steal,
    _K.GUEST_STEAL: _steal,
    _K.FOREIGN_CPU: (
        "foreign processes used {cpu_ratio:.1%} of the CPU time of {machine}".format_map
    ),
    _K.FOREIGN_DISK: _foreign_disk,
    _K.FOREIGN_PAGING: (
        "foreign processes of {machine} read {faults_per_s:,.0f} pages a second back into "
        "memory".format_map
    ),
    _K.RETRANSMITS: "{segment_ratio:.2%} of what {machine} sent was sent again".format_map,
    _K.LINK_THROTTLED: _link_throttled,
    _K.SWAPPED: "{machine} read memory back from swap".format_map,
    _K.OUT_OF_MEMORY: "the kernel of {machine} ran out of memory and killed a process".format_map,
    _K.THROTTLED: "the processor of {machine} was throttled because it was too hot".format_map,
    _K.RAID_REBUILDING: "an array of {machine} was being rebuilt or checked".format_map,
    _K.NOT_IDLE: "{machines} was still busy after {waited_s:g} s of waiting".format_map,
    _K.CLOCK_STEP: _clock_step,
    _K.CLOCK_DRIFT: (
        "the clock of {machine} drifted by {drift_ppm:+.0f} ppm from the controller's".format_map
    ),
    _K.HIDDEN_WAIT: _hidden_wait,
    _K.SAMPLES_LOST: "{samples} samples of {machine} were lost: the buffer was full".format_map,
    _K.METER_READINGS_LOST: (
        "{lost} of {readings} readings of the meter could not be used: {said}"
    ).format_map,
    _K.METER_COARSE: (
        "the energy that the meter told may be off by {share:.1%}, and the margin is {margin:.1%}"
    ).format_map,
    _K.PROBE_SUSPECT: _probe_suspect,
    _K.BACKGROUND_ENDED: (
        "the background workload of instance {instance} ended {idle_s:.1f} s before the measured "
        "one".format_map
    ),
    _K.INSTANCES_APART: _instances_apart,
    _K.CONNECTIONS_FAILED: _connections_failed,
    _K.COUNTS_DIFFER: (
        "the service counts {answered} good answers, the generator received {received}".format_map
    ),
    _K.DELAYED_ACK: _delayed_ack,
    _K.TIMER_TICKS: (
        "{share:.0%} of the times lie near the multiples of {tick_ms:g} ms: something waits for "
        "the next tick of a timer, which hides differences below it".format_map
    ),
    _K.GENERATOR_NEAR_CAPACITY: (
        "the trial reached {capacity_ratio:.0%} of the generator's capacity".format_map
    ),
    _K.GENERATORS_APART: _generators_apart,
    _K.GENERATOR_BOUND: (
        "a worker of the generator used {busiest_worker_ratio:.0%} of its core".format_map
    ),
    _K.LATE: (
        "p99 of the generator's own lag is {lag_p99_ns:,} ns, above {allowed_ns:,} ns".format_map
    ),
    _K.RATE_NOT_REACHED: "{sent_ratio:.1%} of {asked_per_s:g} operations/s were sent".format_map,
    _K.STREAM_RATE_NOT_REACHED: (
        "{sent_ratio:.1%} of {asked_bytes_per_s:g} bytes/s were sent".format_map
    ),
    _K.CONNECTIONS_MISSING: "{achieved} of {asked} connections were established".format_map,
    _K.RUN_DELAY: (
        "the generator waited for a CPU for {run_delay_ratio:.1%} of the window".format_map
    ),
    _K.LITTLES_LAW: (
        "throughput x time of a round is {computed_users:.2f}, with {users:g} users".format_map
    ),
    _K.OVERLOADED: (
        "{unsent} arrivals were never sent; the true response times are longer".format_map
    ),
    _K.CANCELLED: "ended on request; the figures cover the time until then".format_map,
    _K.TOO_FEW_SAMPLES: "{ok} operations succeeded; a median needs {needed}".format_map,
    _K.NO_BYTES: "not one byte arrived in the window".format_map,
    _K.FLOWS_BROKEN: "{broken} of {flows} flows ended before their time".format_map,
    _K.CONSERVATION_BROKEN: (
        "the generator lost count: {intended} intended, {unsent} unsent, {sent} sent, {ok} ok, "
        "{errors} errors, {inflight_at_stop} in flight".format_map
    ),
}

RESOURCES: Mapping[Resource, str] = {
    Resource.GENERATOR: "the load generator",
    Resource.DISK_WAIT: "the disk",
    Resource.DISK_BUSY_TIME: "disk always busy, saturated or not",
    Resource.MACHINE_CPU: "the machine's CPU",
    Resource.CPU_LIMIT: "the CPU limit of the system",
    Resource.HOST_CPU: "the CPU of the host below the guest",
    Resource.MEMORY: "memory",
    Resource.ONE_CORE_OF_SERVICE: "one core of the service",
    Resource.LOCK: "a lock in the service",
    Resource.NETWORK: "the network of the system",
    Resource.ACCEPT_QUEUE: "the service's accept queue",
}
_SHARES: Mapping[Resource, str] = {
    Resource.GENERATOR: "the load generator (a worker used {:.0%} of its core)",
    Resource.DISK_WAIT: "the disk ({:.0%} of the time of busy threads was waiting for it)",
    Resource.DISK_BUSY_TIME: "disk busy for {:.0%} of the measured time, saturated or not",
    Resource.MACHINE_CPU: "the machine's CPU ({:.0%} used)",
    Resource.CPU_LIMIT: (
        "the CPU limit of the system (met in {:.0%} of the measured time, or of its periods)"
    ),
    Resource.HOST_CPU: (
        "the CPU of the host below the guest (waited for in {:.0%} of the measured time)"
    ),
    Resource.MEMORY: "memory (waited for in {:.0%} of the time)",
    Resource.ONE_CORE_OF_SERVICE: "one core of the service ({:.0%} used or waited for)",
    Resource.LOCK: (
        "a lock in the service (a thread waited for another in {:.0%} of the operations under way)"
    ),
    Resource.NETWORK: "the network of the system (packets waited in {:.0%} of the samples)",
    Resource.ACCEPT_QUEUE: (
        "the service's accept queue (connections waited in {:.0%} of the samples)"
    ),
}


@writes(BottleneckNote)
def bottleneck_text(note: BottleneckNote) -> str:
    """The resource, with the share of it that was used where a record has that, and the others."""
    also = (_used_up(each.kind, each.share) for each in note.also)
    return "; also ".join([_used_up(note.kind, note.share), *also])


def _used_up(kind: Resource, share: float | None) -> str:
    return RESOURCES[kind] if share is None else _SHARES[kind].format(share)


@writes(FailedOperations)
def failed_operations_text(note: FailedOperations) -> str:
    """``HTTP status 500 in phase ttfb, 3 operations (reply: No room)``."""
    said = f" (reply: {note.reply})" if note.reply else ""
    return f"{_failure(note)} in phase {note.phase}, {counted(note.count, 'operation')}{said}"


def _failure(note: FailedOperations) -> str:
    return note.error.replace("_", " ") if note.status is None else f"HTTP status {note.status}"
