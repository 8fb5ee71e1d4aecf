"""Sampled counters as files: of this version, of earlier checkouts, damaged."""

from __future__ import annotations

import gzip
import importlib
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.errors import HostError
from steelyard.records import counters as module
from steelyard.records.counters import Counters, counters_of, deflate, stored

RUN = Path(__file__).parents[2] / "records" / "v2"
NAME = "samples.json.gz"
EXACT = 2**62 + 1


def packed(document: object) -> bytes:
    return gzip.compress(json.dumps(document).encode())


ISAL = "isal.isal_zlib"


def unpacked_by(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where isal is installed, or where it is not."""
    if library == ISAL:
        pytest.importorskip(ISAL)
    else:
        monkeypatch.setitem(sys.modules, ISAL, None)
    deflate.cache_clear()
    assert deflate() is importlib.import_module(library)


@pytest.fixture(params=[ISAL, "zlib"])
def _library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    unpacked_by(request.param, monkeypatch)
    yield
    deflate.cache_clear()


def answer(data: bytes) -> object:
    """The counters, or the refusal in its words."""
    try:
        return counters_of(data, NAME)
    except ValueError as error:
        return str(error)


@pytest.mark.usefixtures("_library")
def test_counters_come_back_as_they_were_to_the_last_unit() -> None:
    counters = Counters({"monotonic_ns": [1, EXACT], "disk.a.writes": [None, -3]})
    assert counters_of(stored(counters), NAME) == counters
    assert stored(counters) == stored(counters)


def test_any_tool_reads_them() -> None:
    kept = json.loads(gzip.decompress(stored(Counters({"a": [1, None]}))))
    assert kept == {"a": [1, None]}


@pytest.mark.usefixtures("_library")
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


def test_every_cut_and_every_flipped_bit_has_one_answer_with_isal_and_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = packed({"a": list(range(1000, 1060)), "b": [None] * 60})
    cut = [whole[:length] for length in range(len(whole))]
    flipped = [
        whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :]
        for place in range(len(whole))
        for bit in range(8)
    ]
    inputs = [whole, whole + whole, whole + b"more", *cut, *flipped]
    answers = []
    for library in (ISAL, "zlib"):
        with monkeypatch.context() as patch:
            unpacked_by(library, patch)
            answers.append([answer(data) for data in inputs])
    deflate.cache_clear()
    assert answers[0] == answers[1]
    assert len({str(each) for each in answers[0]}) > 1


@pytest.mark.usefixtures("_library")
def test_what_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = packed({"a": [1] * 1000})
    length = len(gzip.decompress(data))
    monkeypatch.setattr(module, "_MOST_BYTES", length)
    assert len(counters_of(data, NAME)) == 1000
    monkeypatch.setattr(module, "_MOST_BYTES", length - 1)
    with pytest.raises(ValueError, match="larger than any samples"):
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
