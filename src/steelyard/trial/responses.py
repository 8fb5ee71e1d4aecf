"""From a load result and sampled counters to the responses of a trial.

Pure. Every response is a number or a reason why there is none; a count too small for a
percentile is such a reason, never a 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from steelyard.engine.messages import Latency, LoadResult, Stream
from steelyard.records.schema import Measured
from steelyard.study.model import Study
from steelyard.systems.platform import VCPU
from steelyard.trial.streams import (
    Reading,
    jitter,
    loss,
    reordered,
    retransmits,
    stream_throughput,
)
from steelyard.trial.window import WindowSamples

SERVICE = "service"
STORE = "store"
INSTANCE = "instance"

ERRORS = "errors"

_OF_OPERATIONS = ("response", "service_time")
_LATENCIES = {"response": "response", "service_time": "service", "lateness": "lateness"}
_SHARE_ABOVE = {"p50": 0.5, "p90": 0.1, "p95": 0.05, "p99": 0.01, "p999": 0.001, "p9999": 0.0001}
_SAMPLES_ABOVE = 10


@dataclass(frozen=True)
class Seen:
    """All that was seen of one trial's window: of the load, inside the system, outside of it.

    ``driven`` is ``None`` for a workload that drives no load; ``own`` is what such a workload
    measured itself.
    """

    driven: LoadResult | None
    window: WindowSamples
    host: WindowSamples | None = None
    own: Mapping[str, Measured] = field(default_factory=dict)
    column: str = INSTANCE
    """How what stands for the instance is called among the samples of its host."""

    @property
    def load(self) -> LoadResult:
        """What the generator says; only asked for responses of a load."""
        if self.driven is None:
            raise ValueError("this workload drives no load")
        return self.driven

    @property
    def outside(self) -> WindowSamples:
        """What was sampled on the machine that carries the system; itself without another."""
        return self.window if self.host is None else self.host


def wanted_units(study: Study) -> dict[str, str]:
    """What every trial must measure, with units: responses, what limits look at, failures."""
    limits = [limit for find in study.find.values() for limit in find.limits]
    gates = {gate.name: gate.unit for gate in (*study.gates.values(), *limits)}
    gates |= {guard.name: guard.unit for guard in study.judge.guards.values()}
    if study.has_operations:
        gates |= {ERRORS: "ratio"}
    return gates | {response.name: response.unit for response in study.responses.values()}


def measure_responses(wanted: Mapping[str, str], seen: Seen) -> dict[str, Measured]:
    """Each wanted response; ``wanted`` maps names to units."""
    return {
        name: seen.own.get(name) or _measured(name, unit, seen) for name, unit in wanted.items()
    }


def _measured(name: str, unit: str, seen: Seen) -> Measured:
    undefined = _undefined(name, seen)
    if undefined is not None:
        return Measured(value=None, unit=unit, missing=undefined, infinite=True)
    value, missing = _read(name, seen)
    of = seen.load.counts.intended if name == ERRORS and value is not None else None
    return Measured(value=value, unit=unit, missing=missing, of=of)


def _undefined(name: str, seen: Seen) -> str | None:
    """Why a percentile of all operations is beyond every value: a failed one never ended.

    Only of what an operation as a whole takes. Where fewer fail, the percentile is that of the
    operations that were answered well.
    """
    kind, _, figure = name.partition(".")
    if seen.driven is None or kind not in _OF_OPERATIONS or figure not in _SHARE_ABOVE:
        return None
    failed, _ = _errors(seen)
    if failed is None or failed < _SHARE_ABOVE[figure]:
        return None
    return f"undefined ({failed:.2g} of the operations failed, and a failed one never ended)"


def _read(name: str, seen: Seen) -> Reading:
    if seen.driven is None and (name in _OF_LOADS or name not in _RESPONSES):
        return None, "this workload drives no load"
    if name in _RESPONSES:
        return _RESPONSES[name](seen)
    kind, _, figure = name.partition(".")
    if kind in _LATENCIES:
        return _latency(seen.load.latency_ns.get(_LATENCIES[kind]), figure)
    word, _, figure = figure.rpartition(".")
    if kind == "phase":
        return _latency(seen.load.latency_ns.get(f"phase.{word}"), figure)
    if kind == "kind":
        of_kind = seen.load.operations.get(word)
        return _latency(None if of_kind is None else of_kind.latency_ns, figure)
    return None, f"nothing here measures {name}"


def _latency(latency: Latency | None, figure: str) -> Reading:
    if latency is None or latency.count == 0:
        return None, "no operation was answered well"
    value = getattr(latency, figure, None)
    if value is not None:
        return float(value), None
    if figure not in _SHARE_ABOVE:
        return None, f"{figure} is no figure of a latency distribution"
    needed = round(_SAMPLES_ABOVE / _SHARE_ABOVE[figure])
    return None, f"fewer than the {needed:,} samples that {figure} needs (ten above it)"


def throughput_of(load: LoadResult) -> Reading:
    """Operations, or bytes of a stream, a second."""
    if load.stream is not None:
        return stream_throughput(load.stream)
    if load.counts.ok == 0:
        return None, "no operation was answered well"
    return load.rates.ok_per_s, None


def _throughput(seen: Seen) -> Reading:
    return throughput_of(seen.load)


def _damaged(seen: Seen) -> Reading:
    payload = seen.load.payload
    if payload is None or payload.checked == 0:
        return None, "no payload was checked: say `verify: true` where the workload can"
    return float(payload.corrupted), None


def _lost(seen: Seen) -> Reading:
    payload = seen.load.payload
    if payload is None or payload.lost is None:
        return None, "payloads were not read in the order of sending"
    return float(payload.lost), None


def _of_stream(read: Callable[[Stream], Reading]) -> Callable[[Seen], Reading]:
    def reading(seen: Seen) -> Reading:
        stream = seen.load.stream
        return (None, "this workload is no stream") if stream is None else read(stream)

    return reading


def _retransmits(seen: Seen) -> Reading:
    count, missing = _of_stream(retransmits)(seen)
    if count is None:
        return None, missing or "not counted"
    return count * 1e9 / seen.load.load.window_ns, None


def _errors(seen: Seen) -> Reading:
    counts = seen.load.counts
    if counts.intended == 0:
        return None, "no operation was intended in the window"
    return (counts.errors + counts.unsent) / counts.intended, None


def _rate_of(window: WindowSamples, column: str, scale: float = 1.0) -> Reading:
    rate = window.rate_per_s(column)
    if rate is None:
        return None, window.why_missing(column) or "not sampled"
    return rate * scale, None


def _rate(column: str, scale: float = 1.0) -> Callable[[Seen], Reading]:
    return lambda seen: _rate_of(seen.window, column, scale)


def _of_service(window: WindowSamples, figure: str) -> list[str]:
    """The column of the service, and those of its parts: ``process.service.PART.FIGURE``."""
    whole = f"process.{SERVICE}.{figure}"
    begin, end = f"process.{SERVICE}.", f".{figure}"
    parts = [name for name in window.frame.columns if name.startswith(begin) and name != whole]
    return [whole, *(name for name in parts if name.endswith(end))]


def _service_cores(seen: Seen) -> Reading:
    cores = 0.0
    for column in _of_service(seen.window, "cpu_ns"):
        value, missing = _rate_of(seen.window, column, 1e-9)
        if value is None:
            return None, missing or "not sampled"
        cores += value
    return cores, None


def _service_cpu_per_operation(seen: Seen) -> Reading:
    cores, missing = _service_cores(seen)
    if cores is None:
        return None, missing or "not sampled"
    if seen.load.rates.ok_per_s == 0:
        return None, "no operation was answered well"
    return cores * 1e9 / seen.load.rates.ok_per_s, None


def _service_memory(seen: Seen) -> Reading:
    columns = _of_service(seen.window, "rss_bytes")
    peak = seen.window.peak(*columns)
    if peak is None:
        reasons = (seen.window.why_missing(column) for column in columns)
        return None, next((reason for reason in reasons if reason), "not sampled")
    return peak, None


def _generator_cpu_per_operation(seen: Seen) -> Reading:
    spent = seen.load.cpu.ns_per_operation
    return (None, "no operation was answered well") if spent is None else (spent, None)


_NO_HOST = "the system is its own host, or the host was not sampled"
_BUSY = ("user", "nice", "system", "irq", "softirq")


def _busy_cores(window: WindowSamples) -> Reading:
    rates = [_rate_of(window, f"cpu.{state}_ns", 1e-9) for state in _BUSY]
    for value, missing in rates:
        if value is None:
            return None, missing or "not sampled"
    return sum(value for value, _ in rates if value is not None), None


def _steal(window: WindowSamples) -> Reading:
    states = (*_BUSY, "idle", "iowait", "steal")
    rates = {state: _rate_of(window, f"cpu.{state}_ns") for state in states}
    for value, missing in rates.values():
        if value is None:
            return None, missing or "not sampled"
    whole = sum(value for value, _ in rates.values() if value is not None)
    steal = rates["steal"][0]
    if steal is None or whole == 0:
        return None, "the kernel's CPU counters stood still"
    return steal / whole, None


def _instance_cores(seen: Seen) -> Reading:
    """What stands for the system on its host: a control group, or the processes of an emulator."""
    if seen.host is None:
        return None, _NO_HOST
    of = (f"cgroup.{seen.column}.cpu_ns", f"process.{seen.column}.cpu_ns")
    told = (column for column in of if seen.host.why_missing(column) is None)
    return _rate_of(seen.host, next(told, of[0]), 1e-9)


def _of_vcpus(figure: str) -> Callable[[Seen], Reading]:
    """Of the threads that are a guest's processors, in cores."""

    def reading(seen: Seen) -> Reading:
        if seen.host is None:
            return None, _NO_HOST
        return _rate_of(seen.host, f"threads.{seen.column}.{VCPU}.{figure}", 1e-9)

    return reading


_OF_LOADS = frozenset(
    {
        "throughput",
        "throughput.least",
        "errors",
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
    "payload.corrupted": _damaged,
    "payload.lost": _lost,
    "stream.loss": _of_stream(loss),
    "stream.reordered": _of_stream(reordered),
    "stream.jitter": _of_stream(jitter),
    "stream.retransmits": _retransmits,
    "service.cpu": _service_cores,
    "service.cpu_per_operation": _service_cpu_per_operation,
    "service.memory": _service_memory,
    "disk.writes": _rate(f"disk.{STORE}.writes"),
    "disk.written": _rate(f"disk.{STORE}.write_bytes"),
    "disk.flushes": _rate(f"disk.{STORE}.flushes"),
    "system.cpu": lambda seen: _busy_cores(seen.window),
    "system.steal": lambda seen: _steal(seen.window),
    "host.cpu": lambda seen: _busy_cores(seen.outside),
    "host.steal": lambda seen: _steal(seen.outside),
    "host.instance_cpu": _instance_cores,
    "host.vcpu_cpu": _of_vcpus("cpu_ns"),
    "host.vcpu_wait": _of_vcpus("run_delay_ns"),
    "generator.cpu_per_operation": _generator_cpu_per_operation,
}
