"""Patterns of times that come from the network stack or a timer, and not from work.

Pure, and blind to which system was measured. Delayed ACK: a sender that waits for the
acknowledgement of a small segment (Nagle's algorithm) waits until the receiver's timer sends it,
40 ms on Linux, after the first byte has come at once. Timer ticks: times lie near the multiples of
a period, because something sleeps until the next tick.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from steelyard.engine.messages import Latency, LoadResult
from steelyard.records.histogram import Buckets, read_buckets
from steelyard.records.warnings import TrialWarning, WarningKind

_NS_PER_MS = 1_000_000
_FEWEST_TIMES = 50
_DELAYED_NS = (38 * _NS_PER_MS, 50 * _NS_PER_MS)
_BEFORE_DELAYED_NS = (19 * _NS_PER_MS, 38 * _NS_PER_MS)
_FAST_FIRST_BYTE_NS = 5 * _NS_PER_MS
_LEAST_DELAYED = 0.1
_TICKS_NS = (10 * _NS_PER_MS, 4 * _NS_PER_MS, 1 * _NS_PER_MS)
"""At 100, 250 and 1,000 ticks a second; multiples of 10 ms are also those of 1 ms."""
_PARTS = 20
_NARROW = 4
"""Of the parts of a tick: a fifth of it holds a fifth of times that no tick has arranged."""
_LEAST_ON_TICKS = 0.85
_MOST_TICKS = 50
_LEAST_MULTIPLES = 3
_LEAST_AT_A_MULTIPLE = 0.05


def pattern_warnings(load: LoadResult) -> Iterator[TrialWarning]:
    """What the times of a load show of acknowledgements and timers."""
    yield from _delayed_ack(load)
    yield from _timer_ticks(load)


def _delayed_ack(load: LoadResult) -> Iterator[TrialWarning]:
    """Replies whose rest comes about 40 ms after a first byte that was fast."""
    first, rest = load.latency_ns.get("phase.ttfb"), _times(load.latency_ns.get("phase.body"))
    if first is None or first.p50 is None or first.p50 > _FAST_FIRST_BYTE_NS:
        return
    delayed, before = _between(rest, _DELAYED_NS), _between(rest, _BEFORE_DELAYED_NS)
    share = delayed / sum(rest.values()) if rest else 0.0
    if share >= _LEAST_DELAYED and before < delayed / 4:
        figures = {"share": share, "first_byte_ns": first.p50}
        yield TrialWarning(kind=WarningKind.DELAYED_ACK, figures=figures)


def _timer_ticks(load: LoadResult) -> Iterator[TrialWarning]:
    """The longest period near whose multiples the times lie."""
    times = _times(load.latency_ns.get("service") or load.latency_ns.get("response"))
    for tick_ns in _TICKS_NS:
        share = _on_ticks(times, tick_ns)
        if share >= _LEAST_ON_TICKS:
            figures = {"tick_ms": tick_ns / _NS_PER_MS, "share": share}
            yield TrialWarning(kind=WarningKind.TIMER_TICKS, figures=figures)
            return


def _on_ticks(times: Buckets, tick_ns: int) -> float:
    """The share of times that lie in one narrow part of a tick, at three multiples and more."""
    parts, places = Counter[int](), dict[tuple[int, int], tuple[int, int]]()
    for low, beyond in times:
        middle = (low + beyond) // 2
        if middle <= _MOST_TICKS * tick_ns:
            places[low, beyond] = divmod(middle * _PARTS // tick_ns, _PARTS)
            parts[places[low, beyond][1]] += times[low, beyond]

    def within(start: int) -> int:
        return sum(parts[(start + each) % _PARTS] for each in range(_NARROW))

    start, total = max(range(_PARTS), key=within), sum(times.values())
    at = Counter[int]()
    for bucket, (multiple, part) in places.items():
        if (part - start) % _PARTS < _NARROW:
            at[multiple - (part < start)] += times[bucket]
    several = sum(count >= _LEAST_AT_A_MULTIPLE * total for count in at.values())
    return within(start) / total if several >= _LEAST_MULTIPLES else 0.0


def _times(latency: Latency | None) -> Buckets:
    """The distribution; nothing of too few times."""
    if latency is None or latency.count < _FEWEST_TIMES or not latency.hdr_v2_b64:
        return {}
    return read_buckets(latency.hdr_v2_b64)


def _between(times: Buckets, ends: tuple[int, int]) -> int:
    return sum(count for (low, _), count in times.items() if ends[0] <= low < ends[1])
