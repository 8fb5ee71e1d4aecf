"""The table of request times: every request counts once, and the tail says what it is made of."""

from __future__ import annotations

import base64
import math
import struct
import zlib
from collections.abc import Sequence

import pytest
from tests.unit.judge.studies import a_record, a_study

from steelyard.judge.analyses.requests.findings import RequestTimesFinding
from steelyard.judge.analyses.requests.times import request_times
from steelyard.plan.make import make_plan
from steelyard.records.schema import (
    Distribution,
    InstanceRecord,
    Measured,
    Outcome,
    TrialRecord,
)

MS = 1_000_000


def distribution(times_ns: Sequence[int]) -> Distribution:
    """Written as the engine writes it, by the other direction of the format."""
    indexes = sorted(_index(time_ns) for time_ns in times_ns)
    counts = [indexes.count(index) for index in range(indexes[-1] + 1)]
    body = b"".join(_number(count) for count in _with_runs(counts))
    head = struct.pack(">IIIIqqd", 0x1C849313, len(body), 0, 3, 1, 3_600_000_000_000, 1.0)
    packed = zlib.compress(head + body)
    text = base64.b64encode(struct.pack(">II", 0x1C849314, len(packed)) + packed).decode()
    mean_ns = sum(times_ns) / len(times_ns)
    return Distribution(
        count=len(times_ns),
        min_ns=min(times_ns),
        mean_ns=mean_ns,
        max_ns=max(times_ns),
        hdr_v2_b64=text,
    )


def _index(value: int) -> int:
    bucket = max(0, value.bit_length() - 11)
    return ((bucket + 1) << 10) + (value >> bucket) - 1024


def _with_runs(counts: list[int]) -> list[int]:
    found: list[int] = []
    for count in counts:
        if count == 0 and found and found[-1] < 0:
            found[-1] -= 1
        else:
            found.append(count or -1)
    return found


def _number(value: int) -> bytes:
    zigzag = (value << 1) ^ (value >> 63)
    out = bytearray()
    while zigzag > 0x7F:
        out.append((zigzag & 0x7F) | 0x80)
        zigzag >>= 7
    out.append(zigzag)
    return bytes(out)


def records(*trials: dict[str, Sequence[int]], failed: int = 0) -> list[TrialRecord]:
    plan = make_plan(a_study(users=(1,)), seed=1)
    planned = [t for v in plan.visits for t in v.trials if t.cell.system == "fast"]
    made = []
    for trial, parts in zip(planned, trials, strict=False):
        of = len(parts["total"]) + failed
        responses = {"errors": Measured(value=failed / of, unit="ratio", of=of)}
        instance = InstanceRecord(
            instance=1,
            workload="http",
            distributions={name: distribution(times) for name, times in parts.items()},
        )
        made.append(a_record(trial, 1.0, responses=responses, instances=(instance,)))
    return made


def only(found: Sequence[TrialRecord]) -> RequestTimesFinding:
    (cell,) = request_times(found)
    return cell


def test_all_requests_of_all_trials_are_taken_together() -> None:
    """One trial has many quick requests, one has few slow ones: the mean is that of requests."""
    quick, slow = [2 * MS] * 90, [20 * MS] * 10
    found = only(records({"total": quick}, {"total": slow}))
    (row,) = found.rows
    assert (found.trials, found.requests, row.requests) == (2, 100, 100)
    assert row.mean_ns == pytest.approx(3.8 * MS)
    assert row.sd_ns == pytest.approx(math.sqrt(29.16 * 100 / 99) * MS, rel=1e-3)
    assert (row.min_ns, row.max_ns) == (2 * MS, 20 * MS)
    assert row.median_ns == pytest.approx(2 * MS, rel=1e-3)


def test_the_mean_is_not_the_slowest_request() -> None:
    found = only(records({"total": [MS] * 999 + [1000 * MS]}))
    within = {served.share: served.within_ns for served in found.served}
    assert found.rows[0].mean_ns == pytest.approx(1.999 * MS)
    assert within[0.99] == pytest.approx(MS, rel=1e-3)
    assert within[1.0] == 1000 * MS


def test_failed_requests_are_counted_over_all_trials() -> None:
    assert only(records({"total": [MS] * 20}, {"total": [MS] * 20}, failed=3)).failed == 6


def test_a_trial_that_does_not_count_is_not_in_the_table() -> None:
    good, bad = records({"total": [MS] * 10}, {"total": [9 * MS] * 10})
    bad = bad.model_copy(update={"outcome": Outcome.REFUSED_BY_GATE})
    assert only([good, bad]).requests == 10


def test_workloads_without_requests_have_no_table() -> None:
    plan = make_plan(a_study(users=(1,)), seed=1)
    assert list(request_times([a_record(plan.visits[0].trials[0], 1.0)])) == []
