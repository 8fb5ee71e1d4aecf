"""What a load result says of times: response, service, lateness, phases and kinds of operations.

Pure. A figure for which there are too few samples is missing with that reason, never a 0.
"""

from __future__ import annotations

import math

from steelyard.engine.messages import Latency, LoadResult
from steelyard.records.histogram import read_buckets
from steelyard.records.missing import (
    FailedBeyond,
    MissingKind,
    NameUnknown,
    Reading,
    Reason,
    TooFewTimes,
    TurnedAway,
)
from steelyard.records.schema import Distribution

_OF_OPERATIONS = ("response", "service_time")
_OF_A_PART = ("phase", "kind")
_LATENCIES = {"response": "response", "service_time": "service", "lateness": "lateness"}
_SHARE_ABOVE = {"p50": 0.5, "p90": 0.1, "p95": 0.05, "p99": 0.01, "p999": 0.001, "p9999": 0.0001}
_SAMPLES_ABOVE = 10
_ROUNDING = 1e-9
_NONE_DUE = Reason(kind="no_operation_due")
_PARTS = {
    "connect": "phase.connect",
    "processing": "processing",
    "waiting": "phase.ttfb",
    "total": "response",
}
_OF_CONNECTIONS = ("connect", "processing")


def failed_share(load: LoadResult) -> Reading:
    """Failed and unsent operations as a share of those that were due in the window."""
    counts = load.counts
    if counts.intended == 0:
        return _NONE_DUE
    return (counts.errors + counts.unsent) / counts.intended


REFUSALS = frozenset(
    {
        "conn_refused",
        "smtp_4xx",
        "smtp_5xx",
        "imap_no",
        "imap_bye",
        "pop_err",
        "pop_in_use",
        "ftp_4xx",
        "ftp_5xx",
        "no_room",
        "auth_fail",
        "bad_status_4xx",
        "bad_status_5xx",
        "h2_goaway",
    }
)
"""Kinds of failure in which a server says no, or nothing listens."""
OUT_OF_TIME = frozenset({"conn_timeout", "send_timeout", "recv_timeout", "too_slow"})


def refused_share(load: LoadResult) -> Reading:
    """Operations that were turned away; not known where clients were before they had one."""
    turned_away = sum(
        count
        for errors in (load.ramp_errors, load.connection_errors)
        for of_phase in errors.values()
        for kind, count in of_phase.items()
        if kind in REFUSALS
    )
    if turned_away:
        return TurnedAway(times=turned_away)
    return failed_by(REFUSALS, load)


def failed_by(kinds: frozenset[str], load: LoadResult) -> Reading:
    """Operations that failed in one of these ways, as a share of those due in the window."""
    if load.counts.intended == 0:
        return _NONE_DUE
    count = sum(n for of_phase in load.errors.values() for k, n in of_phase.items() if k in kinds)
    return count / load.counts.intended


def undefined(name: str, load: LoadResult) -> FailedBeyond | None:
    """Why a percentile of all operations is beyond every value: a failed one never ended.

    Only of what an operation as a whole takes. Where fewer fail, they are the slowest.
    """
    kind, _, figure = name.partition(".")
    if kind not in _OF_OPERATIONS or figure not in _SHARE_ABOVE:
        return None
    failed = failed_share(load)
    if isinstance(failed, MissingKind):
        return None
    latency = load.latency_ns.get(_LATENCIES[kind])
    beyond = latency is not None and _failed(load) > 0 and _rank(latency, figure, load) is None
    if failed < _SHARE_ABOVE[figure] and not beyond:
        return None
    return FailedBeyond(failed_share=failed)


def time_of(name: str, load: LoadResult) -> Reading:
    """``response.p99``, ``phase.connect.p50``, ``kind.fetch.p50`` and their like."""
    kind, _, figure = name.partition(".")
    if kind in _LATENCIES:
        latency = load.latency_ns.get(_LATENCIES[kind])
        if kind in _OF_OPERATIONS and latency is not None and _failed(load):
            return _with_failed_last(latency, figure, load)
        return _figure(latency, figure)
    word, _, figure = figure.rpartition(".")
    if kind in _OF_A_PART:
        return _of_part(f"{kind}.{word}", figure, load)
    return NameUnknown(kind="response_unknown", name=name)


def _of_part(name: str, figure: str, load: LoadResult) -> Reading:
    """Of a phase of operations, or of those of one kind, which a protocol may not have."""
    latency = load.latency_ns.get(name)
    if name.startswith("kind."):
        of_kind = load.operations.get(name.removeprefix("kind."))
        latency = None if of_kind is None else of_kind.latency_ns
    if load.counts.ok and (latency is None or latency.count == 0):
        return NameUnknown(kind="part_unknown", name=name)
    return _figure(latency, figure)


def _failed(load: LoadResult) -> int:
    return load.counts.errors + load.counts.unsent


def _rank(latency: Latency, figure: str, load: LoadResult) -> int | None:
    """Which of the times this percentile is, the failed operations behind all of them; ``None``
    where it is one of these.
    """
    of_all = latency.count + _failed(load)
    rank = math.ceil(of_all * (1 - _SHARE_ABOVE[figure]) - _ROUNDING)
    return rank if rank <= latency.count else None


def _with_failed_last(latency: Latency, figure: str, load: LoadResult) -> Reading:
    """The figure of all operations, of which those that failed are the slowest.

    From the whole distribution; without one, what the engine says of those answered well.
    """
    if figure not in _SHARE_ABOVE or not latency.hdr_v2_b64 or latency.max is None:
        return _figure(latency, figure)
    rank = _rank(latency, figure, load)
    if rank is None:
        return FailedBeyond(failed_share=_failed(load) / load.counts.intended)
    if latency.count + _failed(load) - rank < _SAMPLES_ABOVE:
        return _too_few(figure)
    seen = 0
    for (_, beyond), count in sorted(read_buckets(latency.hdr_v2_b64).items()):
        seen += count
        if seen >= rank:
            return float(min(beyond - 1, latency.max))
    return float(latency.max)


def _figure(latency: Latency | None, figure: str) -> Reading:
    if latency is None or latency.count == 0:
        return Reason(kind="no_good_answer")
    value = getattr(latency, figure, None)
    if value is not None:
        return float(value)
    if figure not in _SHARE_ABOVE:
        return NameUnknown(kind="figure_unknown", name=figure)
    return _too_few(figure)


def _too_few(figure: str) -> TooFewTimes:
    return TooFewTimes(figure=figure, needed=round(_SAMPLES_ABOVE / _SHARE_ABOVE[figure]))


def distributions_of(load: LoadResult) -> dict[str, Distribution]:
    """Whole distributions for the record, so that a report can show them: the parts of a request.

    Connecting and what follows only where each has a connection.
    """
    connects = load.latency_ns.get("processing")
    parts = _PARTS if connects is not None and connects.count else _without_connections()
    found = {}
    for name, source in parts.items():
        latency = load.latency_ns.get(source)
        if latency is None or latency.mean is None or latency.min is None or latency.max is None:
            continue
        found[name] = Distribution(
            count=latency.count,
            min_ns=latency.min,
            mean_ns=latency.mean,
            max_ns=latency.max,
            hdr_v2_b64=latency.hdr_v2_b64,
        )
    return found if "total" in found else {}


def _without_connections() -> dict[str, str]:
    return {name: source for name, source in _PARTS.items() if name not in _OF_CONNECTIONS}
