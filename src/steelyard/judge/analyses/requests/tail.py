"""Whether the slowest requests waited for a lost segment of their connection to be sent again.

A SYN that is lost is sent again after 1 s, then 2, 4, 8 s later (RFC 6298): such requests take just
over 1, 3, 7, 15 or 31 s, and few take as long in between. Linux before 3.1, as other systems of its
time, waited 3 s first: 3, 9, 21, 45 s.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.judge.analyses.requests.findings import TailFinding
from steelyard.records.histogram import Buckets
from steelyard.records.schema import TrialRecord

_STEPS_S = (1, 3, 7, 9, 15, 21, 31, 45)
_EARLY, _LATE_S = 0.98, 0.25
"""From just below a step (clocks and buckets) to what an answer may take beside the waiting."""
_SLOW_NS = 0.9e9
_FEWEST = 10
_MOST = 0.5
_COUNTED = ("tcp.syn_retransmits", "generator.syn_retransmits")


def tail_of(buckets: Mapping[str, Buckets], records: Sequence[TrialRecord]) -> TailFinding | None:
    """``None`` when fewer than ten requests were slower than 0.9 s."""
    total = buckets["total"]
    slow = sum(n for (low, _), n in total.items() if low >= _SLOW_NS)
    if slow < _FEWEST:
        return None
    where = buckets.get("connect", total)
    at_steps = min(slow, sum(n for (low, high), n in where.items() if _at_step((low + high) / 2)))
    return TailFinding(
        slow=slow,
        at_steps=at_steps,
        syn_retransmits=_syn_retransmits(records),
        explained=at_steps > _MOST * slow,
    )


def _at_step(took_ns: float) -> bool:
    took_s = took_ns / 1e9
    return any(_EARLY * step <= took_s <= step + _LATE_S for step in _STEPS_S)


def _syn_retransmits(records: Sequence[TrialRecord]) -> float | None:
    """The larger of both ends in each trial: on one machine both are the same counter."""
    seen = []
    for record in records:
        counts = [record.value(name) for name in _COUNTED]
        known = [count for count in counts if count is not None]
        if known:
            seen.append(max(known))
    return sum(seen) if seen else None
