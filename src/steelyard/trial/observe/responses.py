"""From a load result and sampled counters to the responses of a trial.

Pure. Every response is a number or a reason why there is none; a count too small for a
percentile is such a reason, never a 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from steelyard.engine.messages import LoadResult, Stream
from steelyard.records.missing import (
    Missing,
    MissingKind,
    MoreThanProcessors,
    Reading,
    Reason,
)
from steelyard.records.schema import Measured
from steelyard.study.declared.responses import EVENT
from steelyard.study.workload_study import WorkloadStudy
from steelyard.systems.platform import VCPU
from steelyard.trial.observe.devices import (
    Request,
    disk_rate,
    disk_time,
    network_rate,
    rate_of,
    total_of,
)
from steelyard.trial.observe.flows import (
    jitter,
    loss,
    reordered,
    retransmits,
    stream_throughput,
)
from steelyard.trial.observe.latencies import (
    OUT_OF_TIME,
    failed_by,
    failed_share,
    refused_share,
    time_of,
    undefined,
)
from steelyard.trial.observe.meters import Metered, energy_of, mean_of, within_of
from steelyard.trial.observe.power import battery_power_w, energy_j, mean_power_w
from steelyard.trial.observe.window import WindowSamples

SERVICE = "service"
INSTANCE = "instance"

ERRORS = "errors"

PROBE = "probe"
_MOST_OF_PROCESSORS = 1.25
"""Samples are not taken at one instant, so that a little more may be seen."""
_NO_GOOD_ANSWER = Reason(kind="no_good_answer")
_NO_SEPARATE_HOST = Reason(kind="no_separate_host")


@dataclass(frozen=True)
class Seen:
    """All that was seen of one trial's window: of the load, inside the system, outside of it.

    ``driven`` is ``None`` for a workload that drives no load; ``own`` is what such a workload
    measured itself. ``probe`` is what a latency probe measured meanwhile; without it, why.
    """

    driven: LoadResult | None
    window: WindowSamples
    host: WindowSamples | None = None
    generator: WindowSamples | None = None
    own: Mapping[str, Measured] = field(default_factory=dict)
    probe: LoadResult | None = None
    probe_missing: Missing | None = None
    meter: Metered | Missing | None = None
    """What a meter says of the machine that carries the system; ``None`` without one."""
    column: str = INSTANCE
    """How what stands for the instance is called among the samples of its host."""
    own_kernel: bool = False
    """Whether the system has a kernel of its own, so that it cannot see the machine below it."""
    processors: int | None = None
    """Those of the machine that the system is, where it tells them."""
    through_loopback: bool = False
    """Whether the load reaches the system through the loopback device of its machine."""

    @property
    def load(self) -> LoadResult:
        """What the generator says; only asked for responses of a load."""
        if self.driven is None:
            raise ValueError("this workload drives no load")
        return self.driven

    @property
    def outside(self) -> WindowSamples:
        """What was sampled on the machine that carries the system; itself without another."""
        if self.host is not None:
            return self.host
        return (
            WindowSamples.none(Reason(kind="host_not_sampled")) if self.own_kernel else self.window
        )


def wanted_units(study: WorkloadStudy) -> dict[str, str]:
    """What every trial must measure, with units: responses, what limits look at, failures."""
    limits = [limit for find in study.find.values() for limit in find.limits]
    gates = {gate.name: gate.unit for gate in (*study.gates.values(), *limits)}
    gates |= {each.name: each.unit for each in study.guardrails.values()}
    if study.has_operations:
        gates |= {ERRORS: "ratio"}
    return gates | {response.name: response.unit for response in study.responses.values()}


def measure_responses(wanted: Mapping[str, str], seen: Seen) -> dict[str, Measured]:
    """Each wanted response; ``wanted`` maps names to units."""
    return {
        name: seen.own.get(name) or _measured(name, unit, seen) for name, unit in wanted.items()
    }


def _measured(name: str, unit: str, seen: Seen) -> Measured:
    if name.startswith(f"{PROBE}."):
        return _of_probe(name, seen)
    if name.startswith(f"{EVENT}."):
        return Measured(value=None, unit=unit, missing=Reason(kind="no_event"))
    beyond = None if seen.driven is None else undefined(name, seen.driven)
    if beyond is not None:
        return Measured(value=None, unit=unit, missing=beyond, infinite=True)
    reading = _read(name, seen)
    if isinstance(reading, MissingKind):
        return Measured(value=None, unit=unit, missing=reading)
    shared = name == ERRORS or name.startswith(f"{ERRORS}.")
    of = seen.load.counts.intended if shared else None
    return Measured(value=reading, unit=unit, of=of, within=within_of(name, seen.meter))


def _read(name: str, seen: Seen) -> Reading:
    if seen.driven is None and (name in _OF_LOADS or name not in _RESPONSES):
        return Reason(kind="no_load")
    if name in _RESPONSES:
        return _RESPONSES[name](seen)
    return time_of(name, seen.load)


def _of_probe(name: str, seen: Seen) -> Measured:
    """``probe.p99``, ``probe.phase.connect.p50``, ``probe.errors``, as those of a load."""
    rest = name.removeprefix(f"{PROBE}.")
    if seen.probe is None:
        unit, missing = "ratio" if rest == ERRORS else "ns", seen.probe_missing
        return Measured(value=None, unit=unit, missing=missing or Reason(kind="no_probe"))
    if rest == ERRORS:
        return _measured(ERRORS, "ratio", replace(seen, driven=seen.probe))
    of_load = rest if rest.startswith("phase.") else f"response.{rest}"
    return _measured(of_load, "ns", replace(seen, driven=seen.probe))


def throughput_of(load: LoadResult) -> Reading:
    """Operations, or bytes of a stream, a second."""
    if load.stream is not None:
        return stream_throughput(load.stream)
    if load.counts.ok == 0:
        return _NO_GOOD_ANSWER
    if load.rates.ok_per_s == 0:
        return Reason(kind="good_answers_late")
    return load.rates.ok_per_s


def _throughput(seen: Seen) -> Reading:
    return throughput_of(seen.load)


def _damaged(seen: Seen) -> Reading:
    payload = seen.load.payload
    if payload is None or payload.checked == 0:
        return Reason(kind="no_payload_checked")
    return float(payload.corrupted)


def _lost(seen: Seen) -> Reading:
    payload = seen.load.payload
    if payload is None or payload.lost is None:
        return Reason(kind="payloads_not_in_order")
    return float(payload.lost)


def _of_stream(read: Callable[[Stream], Reading]) -> Callable[[Seen], Reading]:
    def reading(seen: Seen) -> Reading:
        stream = seen.load.stream
        return Reason(kind="no_stream") if stream is None else read(stream)

    return reading


def _retransmits(seen: Seen) -> Reading:
    count = _of_stream(retransmits)(seen)
    if isinstance(count, MissingKind):
        return count
    return count * 1e9 / seen.load.load.window_ns


def _run_time(seen: Seen) -> Reading:
    window = seen.load.load
    if window.job.get("duration_ns") is not None:
        return Reason(kind="ended_by_clock")
    return window.window_ns / 1e9


def _errors(seen: Seen) -> Reading:
    return failed_share(seen.load)


def _of_service(window: WindowSamples, figure: str) -> list[str]:
    """The column of the service, and those of its parts: ``process.service.PART.FIGURE``."""
    whole = f"process.{SERVICE}.{figure}"
    begin, end = f"process.{SERVICE}.", f".{figure}"
    parts = [name for name in window.counters.columns if name.startswith(begin) and name != whole]
    return [whole, *(name for name in parts if name.endswith(end))]


def _service_cores(seen: Seen) -> Reading:
    columns = _of_service(seen.window, "cpu_ns")
    return _possible(total_of([rate_of(seen.window, column, 1e-9) for column in columns]), seen)


def _possible(cores: Reading, seen: Seen) -> Reading:
    """The cores, unless there are not so many: an emulated guest may lose track of its time."""
    most = seen.processors
    if isinstance(cores, MissingKind) or most is None or cores <= most * _MOST_OF_PROCESSORS:
        return cores
    return MoreThanProcessors(cores=cores, processors=most)


def _service_cpu_per_operation(seen: Seen) -> Reading:
    cores = _service_cores(seen)
    if isinstance(cores, MissingKind):
        return cores
    per_s = seen.load.rates.ok_per_s
    return cores * 1e9 / per_s if per_s else _NO_GOOD_ANSWER


def _service_memory(seen: Seen) -> Reading:
    columns = _of_service(seen.window, "rss_bytes")
    peak = seen.window.peak(*columns)
    if peak is not None:
        return peak
    reasons = (seen.window.why_missing(column) for column in columns)
    return next((reason for reason in reasons if reason), Reason(kind="not_measured"))


def _generator_cpu_per_operation(seen: Seen) -> Reading:
    spent = seen.load.cpu.ns_per_operation
    return _NO_GOOD_ANSWER if spent is None else spent


_BUSY = ("user", "nice", "system", "irq", "softirq")


def _grown(window: WindowSamples | None, column: str) -> Reading:
    """By how much a counter grew between the first and the last sample of the window."""
    if window is None:
        return Reason(kind="generator_not_sampled")
    grown = rate_of(window, column, window.span_s)
    return grown if isinstance(grown, MissingKind) else round(grown)


def _busy_cores(window: WindowSamples) -> Reading:
    return total_of([rate_of(window, f"cpu.{state}_ns", 1e-9) for state in _BUSY])


def _steal(window: WindowSamples) -> Reading:
    states = (*_BUSY, "idle", "iowait", "steal")
    whole = total_of([rate_of(window, f"cpu.{state}_ns") for state in states])
    steal = rate_of(window, "cpu.steal_ns")
    if isinstance(whole, MissingKind) or isinstance(steal, MissingKind):
        return whole
    return steal / whole if whole else Reason(kind="cpu_counters_constant")


def _instance_cores(seen: Seen) -> Reading:
    """What stands for the system on its host: a control group, or the processes of an emulator."""
    if seen.host is None:
        return _NO_SEPARATE_HOST
    of = (f"cgroup.{seen.column}.cpu_ns", f"process.{seen.column}.cpu_ns")
    told = (column for column in of if seen.host.why_missing(column) is None)
    return rate_of(seen.host, next(told, of[0]), 1e-9)


def _of_vcpus(figure: str) -> Callable[[Seen], Reading]:
    """Of the threads that are a guest's processors, in cores."""

    def reading(seen: Seen) -> Reading:
        if seen.host is None:
            return _NO_SEPARATE_HOST
        return rate_of(seen.host, f"threads.{seen.column}.{VCPU}.{figure}", 1e-9)

    return reading


def _network(seen: Seen, figure: str) -> Reading:
    return network_rate(seen.window, figure, loopback=seen.through_loopback)


_DISK_RATES = {
    "reads": "reads",
    "read": "read_bytes",
    "writes": "writes",
    "written": "write_bytes",
    "flushes": "flushes",
}
_DISK_TIMES: dict[str, Request] = {
    "read_time": "read",
    "write_time": "write",
    "flush_time": "flush",
}


def _of_disks(
    prefix: str, where: Callable[[Seen], WindowSamples]
) -> dict[str, Callable[[Seen], Reading]]:
    """The responses of the disk of one machine, inside the system or outside of it."""

    def rate(figure: str) -> Callable[[Seen], Reading]:
        return lambda seen: disk_rate(where(seen), figure)

    def time(kind: Request) -> Callable[[Seen], Reading]:
        return lambda seen: disk_time(where(seen), kind)

    rates = {f"{prefix}.{name}": rate(figure) for name, figure in _DISK_RATES.items()}
    return rates | {f"{prefix}.{name}": time(kind) for name, kind in _DISK_TIMES.items()}


def _power(seen: Seen) -> Reading:
    return mean_power_w(seen.outside) if seen.meter is None else mean_of(seen.meter)


def _energy(seen: Seen) -> Reading:
    return energy_j(seen.outside) if seen.meter is None else energy_of(seen.meter)


_OF_LOADS = frozenset(
    {
        "throughput",
        "throughput.least",
        "errors",
        "errors.refused",
        "errors.no_room",
        "errors.timed_out",
        "run_time",
        "payload.corrupted",
        "payload.lost",
        "stream.loss",
        "stream.reordered",
        "stream.jitter",
        "stream.retransmits",
        "service.cpu_per_operation",
        "generator.cpu_per_operation",
    }
)
_RESPONSES: dict[str, Callable[[Seen], Reading]] = {
    "throughput": _throughput,
    "throughput.least": _throughput,
    "errors": _errors,
    "errors.refused": lambda seen: refused_share(seen.load),
    "errors.no_room": lambda seen: failed_by(frozenset({"no_room"}), seen.load),
    "errors.timed_out": lambda seen: failed_by(OUT_OF_TIME, seen.load),
    "run_time": _run_time,
    "payload.corrupted": _damaged,
    "payload.lost": _lost,
    "stream.loss": _of_stream(loss),
    "stream.reordered": _of_stream(reordered),
    "stream.jitter": _of_stream(jitter),
    "stream.retransmits": _retransmits,
    "service.cpu": _service_cores,
    "service.cpu_per_operation": _service_cpu_per_operation,
    "service.memory": _service_memory,
    **_of_disks("disk", lambda seen: seen.window),
    **_of_disks("host.disk", lambda seen: seen.outside),
    "network.received": lambda seen: _network(seen, "rx_bytes"),
    "network.sent": lambda seen: _network(seen, "tx_bytes"),
    "system.cpu": lambda seen: _possible(_busy_cores(seen.window), seen),
    "system.steal": lambda seen: _steal(seen.window),
    "tcp.syn_retransmits": lambda seen: _grown(seen.window, "tcp.syn_retransmits"),
    "tcp.timeouts": lambda seen: _grown(seen.window, "tcp.timeouts"),
    "generator.syn_retransmits": lambda seen: _grown(seen.generator, "tcp.syn_retransmits"),
    "generator.tcp_timeouts": lambda seen: _grown(seen.generator, "tcp.timeouts"),
    "host.cpu": lambda seen: _busy_cores(seen.outside),
    "host.steal": lambda seen: _steal(seen.outside),
    "host.instance_cpu": _instance_cores,
    "host.vcpu_cpu": _of_vcpus("cpu_ns"),
    "host.vcpu_wait": _of_vcpus("run_delay_ns"),
    "power.mean": _power,
    "power.energy": _energy,
    "power.battery": lambda seen: battery_power_w(seen.outside),
    "generator.cpu_per_operation": _generator_cpu_per_operation,
}
