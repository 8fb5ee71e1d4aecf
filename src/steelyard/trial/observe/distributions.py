"""Whole distributions that a trial keeps in its record, so that a report can show them."""

from __future__ import annotations

from steelyard.engine.messages import LoadResult
from steelyard.records.schema import Distribution

_PARTS = {
    "connect": "phase.connect",
    "processing": "processing",
    "waiting": "phase.ttfb",
    "total": "response",
}
_OF_CONNECTIONS = ("connect", "processing")


def distributions_of(load: LoadResult) -> dict[str, Distribution]:
    """The parts of a request; connecting and what follows only where each has a connection."""
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
