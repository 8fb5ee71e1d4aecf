"""From the distributions of trials to the table of each cell.

All requests of the trials that count are taken together, bucket by bucket: what is printed is no
mean of means and no request is left out. It describes; verdicts are of trials, never of requests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from steelyard.judge.analyses.requests.findings import RequestTimesFinding, Served, TimesRow
from steelyard.judge.visits.attempts import Key, key_of
from steelyard.plan.model import Cell
from steelyard.records.histogram import Buckets, add_buckets, read_buckets
from steelyard.records.schema import Distribution, Outcome, TrialRecord

SHARES = (0.5, 0.66, 0.75, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)
TOTAL = "total"
_ERRORS = "errors"


def request_times(records: Sequence[TrialRecord]) -> Iterator[RequestTimesFinding]:
    """One finding for each cell whose trials hold distributions, in the order of the records."""
    cells: dict[tuple[str, Key], list[TrialRecord]] = {}
    for record in records:
        if record.outcome is Outcome.OK and any(each.distributions for each in record.instances):
            key = record.cell.system, key_of(record.cell.conditions)
            cells.setdefault(key, []).append(record)
    for own in cells.values():
        yield _of_cell(own[0].cell, own)


def _of_cell(cell: Cell, records: Sequence[TrialRecord]) -> RequestTimesFinding:
    parts: dict[str, list[Distribution]] = {}
    for record in records:
        for instance in record.instances:
            for name, found in instance.distributions.items():
                parts.setdefault(name, []).append(found)
    buckets = {name: _together(found) for name, found in parts.items()}
    total = buckets[TOTAL]
    return RequestTimesFinding(
        cell=cell,
        trials=len(records),
        requests=sum(total.values()),
        failed=_failed(records),
        rows=tuple(_row(name, parts[name], buckets[name]) for name in parts),
        served=tuple(_served(parts[TOTAL], total)),
    )


def _together(found: Sequence[Distribution]) -> Buckets:
    whole: Buckets = {}
    for each in found:
        add_buckets(whole, read_buckets(each.hdr_v2_b64))
    return whole


def _failed(records: Sequence[TrialRecord]) -> int | None:
    shares = [record.responses.get(_ERRORS) for record in records]
    counts = [
        round(each.value * each.of)
        for each in shares
        if each is not None and each.value is not None and each.of is not None
    ]
    return sum(counts) if len(counts) == len(records) else None


def _row(name: str, found: Sequence[Distribution], buckets: Buckets) -> TimesRow:
    count = sum(each.count for each in found)
    mean_ns = sum(each.mean_ns * each.count for each in found) / count
    squares = sum((_middle(bucket) - mean_ns) ** 2 * n for bucket, n in buckets.items())
    return TimesRow(
        name=name,
        requests=count,
        min_ns=min(each.min_ns for each in found),
        mean_ns=mean_ns,
        sd_ns=math.sqrt(squares / max(1, count - 1)),
        median_ns=_quantile(buckets, 0.5),
        max_ns=max(each.max_ns for each in found),
    )


def _served(found: Sequence[Distribution], buckets: Buckets) -> Iterator[Served]:
    for share in SHARES:
        largest = float(max(each.max_ns for each in found))
        within = largest if share == 1 else min(largest, _quantile(buckets, share))
        yield Served(share=share, within_ns=within)


def _quantile(buckets: Buckets, share: float) -> float:
    """The middle of the bucket that holds the request of this rank."""
    rank = math.ceil(share * sum(buckets.values()))
    seen = 0
    for bucket in sorted(buckets):
        seen += buckets[bucket]
        if seen >= rank:
            return _middle(bucket)
    raise ValueError("a distribution without requests")


def _middle(bucket: tuple[int, int]) -> float:
    low, beyond = bucket
    return (low + beyond - 1) / 2
