"""What the flows of a stream say together.

Pure. A flow that broke has no counts that may be used, and a figure that one flow lacks is not
known of all of them.
"""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.engine.messages import Stream
from steelyard.records.missing import Quoted, Reading, Reason

_UNKNOWN = Reason(kind="flow_figure_unknown")


def stream_throughput(stream: Stream) -> Reading:
    """Payload bytes a second over all flows, of both directions together."""
    for flow in stream.flows:
        if flow.broken is not None:
            return Quoted(kind="flow_broken", said=flow.broken)
    told = [
        rate for rate in (stream.sent_bytes_per_s, stream.received_bytes_per_s) if rate is not None
    ]
    if not sum(told):
        return Reason(kind="no_bytes")
    return sum(told)


def loss(stream: Stream) -> Reading:
    """Datagrams lost, of those sent."""
    return _ratio(
        (flow.datagrams_lost for flow in stream.flows),
        (flow.datagrams_sent for flow in stream.flows),
    )


def reordered(stream: Stream) -> Reading:
    """Datagrams that came after a later one, of those received."""
    return _ratio(
        (flow.datagrams_reordered for flow in stream.flows),
        (flow.datagrams_received for flow in stream.flows),
    )


def jitter(stream: Stream) -> Reading:
    """The largest of all flows, in ns."""
    known = [flow.jitter_ns for flow in stream.flows if flow.jitter_ns is not None]
    if len(known) < max(1, len(stream.flows)):
        return _UNKNOWN
    return float(max(known))


def retransmits(stream: Stream) -> Reading:
    """Segments that were sent again, in the window."""
    count = _total(flow.retransmits for flow in stream.flows)
    return _UNKNOWN if count is None else float(count)


def _ratio(parts: Iterable[int | None], wholes: Iterable[int | None]) -> Reading:
    part, whole = _total(parts), _total(wholes)
    if part is None or whole is None:
        return _UNKNOWN
    if whole == 0:
        return Reason(kind="no_datagrams")
    return part / whole


def _total(counts: Iterable[int | None]) -> int | None:
    found = list(counts)
    known = [count for count in found if count is not None]
    return sum(known) if known and len(known) == len(found) else None
