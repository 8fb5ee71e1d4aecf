"""Patterns of times: delayed ACK and timer ticks, in distributions that show them or do not."""

from __future__ import annotations

import base64
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from tests.unit.trial.conftest import latency

from steelyard.engine.messages import LoadResult
from steelyard.records.histogram import read_buckets
from steelyard.records.warnings import WarningKind
from steelyard.trial.observe.latency_patterns import pattern_warnings

MS = 1_000_000
RANDOM = np.random.default_rng(3)
_HALF_BITS = 10  # of three digits


def hdr(times_ns: Iterable[float]) -> str:
    """A histogram as the engine writes it: three digits, from 1 ns."""
    counts = Counter(_index(int(each)) for each in times_ns)
    content, at = b"", 0
    for index in sorted(counts):
        content += _zigzag(-(index - at)) if index > at else b""
        content += _zigzag(counts[index])
        at = index + 1
    head = struct.pack(">IIIIqqd", 0x1C849303 | 0x10, len(content), 0, 3, 1, 10**12, 1.0)
    packed = zlib.compress(head + content)
    return base64.b64encode(struct.pack(">II", 0x1C849304 | 0x10, len(packed)) + packed).decode()


def _index(value: int) -> int:
    power = max(0, value.bit_length() - _HALF_BITS - 1)
    return (power << _HALF_BITS) + (value >> power)


def _zigzag(number: int) -> bytes:
    value = (number << 1) ^ (number >> 63)
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def of(times_ns: Any) -> dict[str, Any]:
    times = np.asarray(times_ns, dtype=float)
    return latency(len(times), p50=int(np.median(times))) | {"hdr_v2_b64": hdr(times)}


def kinds(load: Callable[..., LoadResult], **times: Any) -> list[WarningKind]:
    named = {name.replace("_", "."): of(each) for name, each in times.items()}
    return [each.kind for each in pattern_warnings(load(latency_ns=named))]


def test_the_histogram_of_these_tests_is_read_back() -> None:
    buckets = read_buckets(hdr([500, 47_400_000, 47_400_000]))
    assert sum(buckets.values()) == 3
    assert all(low <= 47_400_000 < beyond for low, beyond in buckets if low > 1000)


def test_a_rest_that_comes_40_ms_after_a_fast_first_byte_is_named(
    load: Callable[..., LoadResult],
) -> None:
    first, rest = RANDOM.normal(0.4, 0.05, 300) * MS, RANDOM.normal(44, 1.5, 300) * MS
    (warning,) = pattern_warnings(
        load(latency_ns={"phase.ttfb": of(first), "phase.body": of(rest)})
    )
    assert warning.kind is WarningKind.DELAYED_ACK
    assert warning.figures["share"] > 0.95
    assert warning.figures["first_byte_ns"] == pytest.approx(0.4 * MS, rel=0.1)


@pytest.mark.parametrize(
    ("first_ms", "rest_ms"),
    [
        (40.0, RANDOM.uniform(0.1, 0.3, 300)),  # the server works for 40 ms
        (30.0, RANDOM.normal(44, 1.5, 300)),  # a slow first byte
        (0.4, RANDOM.uniform(5, 80, 300)),  # a slow body, at no certain time
        (0.4, RANDOM.uniform(0.1, 1.0, 300)),  # a fast one
        (0.4, RANDOM.normal(44, 1.5, 30)),  # too few
    ],
)
def test_other_times_are_no_delayed_ack(
    load: Callable[..., LoadResult], first_ms: float, rest_ms: Any
) -> None:
    first = np.full(len(rest_ms), first_ms * MS)
    assert kinds(load, phase_ttfb=first, phase_body=rest_ms * MS) == []


@pytest.mark.parametrize("tick_ms", [1, 4, 10])
@pytest.mark.parametrize("after_ms", [0.0, 0.06, 0.97])
def test_times_near_the_multiples_of_a_tick_are_named_with_the_tick(
    load: Callable[..., LoadResult], tick_ms: int, after_ms: float
) -> None:
    multiples = RANDOM.choice([1, 2, 3, 5, 7], 1000)
    times = (multiples * tick_ms + after_ms + RANDOM.normal(0, 0.02, 1000)) * MS
    (warning,) = pattern_warnings(load(latency_ns={"service": of(times)}))
    assert warning.kind is WarningKind.TIMER_TICKS
    assert warning.figures["tick_ms"] == tick_ms
    assert warning.figures["share"] >= 0.85


@pytest.mark.parametrize(
    "times_ms",
    [
        RANDOM.lognormal(1.0, 0.6, 2000),  # smooth
        RANDOM.normal(10, 0.05, 2000),  # one time for all: work that takes so long
        RANDOM.choice([2, 5], 2000) + RANDOM.normal(0, 0.02, 2000),  # two kinds of operation
        RANDOM.exponential(0.05, 2000),  # far below a tick
        RANDOM.uniform(0, 40, 2000),
        RANDOM.choice([1, 2, 3], 40) + 0.0,  # too few
    ],
)
def test_other_times_are_no_ticks(load: Callable[..., LoadResult], times_ms: Any) -> None:
    assert kinds(load, service=times_ms * MS) == []


def test_a_run_without_distributions_shows_no_pattern(load: Callable[..., LoadResult]) -> None:
    assert list(pattern_warnings(load())) == []
