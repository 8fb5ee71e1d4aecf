"""Sampled counters as files: of this version, of earlier checkouts, damaged."""

from __future__ import annotations

import gzip
import importlib.util
import json
import sys
from pathlib import Path

import pytest

from steelyard.errors import HostError
from steelyard.records.counters import Counters, counters_of, stored

RUN = Path(__file__).parents[2] / "records" / "v2"
NAME = "samples.json.gz"
EXACT = 2**62 + 1


def packed(document: object) -> bytes:
    return gzip.compress(json.dumps(document).encode())


def test_counters_come_back_as_they_were_to_the_last_unit() -> None:
    counters = Counters({"monotonic_ns": [1, EXACT], "disk.a.writes": [None, -3]})
    assert counters_of(stored(counters), NAME) == counters
    assert stored(counters) == stored(counters)


def test_any_tool_reads_them() -> None:
    kept = json.loads(gzip.decompress(stored(Counters({"a": [1, None]}))))
    assert kept == {"a": [1, None]}


@pytest.mark.parametrize(
    "data",
    [
        b"", b"PAR1", packed({"a": [1]})[:-3], packed([1]), packed({"a": ["1"]}),
        packed({"a": [1.5]}), packed({"a": [1], "b": [1, 2]}), gzip.compress(b"{"),
    ],
    ids=["empty", "other", "cut", "list", "text", "fraction", "ragged", "torn"],
)  # fmt: skip
def test_what_is_damaged_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        counters_of(data, NAME)


def test_samples_of_earlier_checkouts_are_read_where_their_library_is_installed() -> None:
    if importlib.util.find_spec("polars") is None:
        pytest.skip("polars is not installed: pip install 'steelyard[parquet]'")
    earlier = next(RUN.glob("trials/*/samples.parquet"))
    counters = counters_of(earlier.read_bytes(), earlier.name)
    assert len(counters) == len(counters["monotonic_ns"]) > 1
    assert "cpu.user_ns" in counters.columns
    with pytest.raises(ValueError, match=r"."):
        counters_of(b"PAR1 and no more", earlier.name)


def test_samples_of_earlier_checkouts_are_refused_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(HostError, match="polars") as refused:
        counters_of(b"", "samples.parquet")
    assert "steelyard[parquet]" in (refused.value.hint or "")
