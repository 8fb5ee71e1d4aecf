"""A workload that computes becomes a command of the engine, and its document responses."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from typing import Any

import pytest

from steelyard.engine.locate import find_engine
from steelyard.records.missing import Quoted
from steelyard.records.schema import Measured
from steelyard.workloads.tools.alone import measured_alone, words_alone

LINPACK = {"n": 60, "threads": 1, "repeats": 4}
RAM = {"test": "int", "operation": "read", "blocks": 4096, "threads": 1, "repeats": 2}


@cache
def printed(use: str, *changed: tuple[str, Any]) -> str:
    settings = {"linpack": LINPACK, "ram": RAM}[use] | dict(changed)
    command = words_alone(use, settings)
    assert command[0] == "@engine"
    command[0] = str(find_engine())
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def document(use: str, *changed: tuple[str, Any]) -> Any:
    return json.loads(printed(use, *changed))


def responses(use: str, read: Any) -> dict[str, Measured]:
    return measured_alone(use, {}, json.dumps(read))


def test_a_solution_gives_its_rate_its_time_and_its_residual() -> None:
    got = responses("linpack", document("linpack"))
    rate, time, residual = (got[f"linpack.{name}"] for name in ("rate", "time", "residual"))
    assert (rate.unit, time.unit, residual.unit) == ("GFLOP/s", "ns", "ratio")
    assert residual.value is not None
    assert 0 < residual.value < 16
    operations = 2 / 3 * 60**3 + 2 * 60**2
    # Of four repeats the medians of rate and time are means of two, and so not quite inverse.
    assert rate.value == pytest.approx(operations / time.value, rel=0.5)


@pytest.mark.parametrize("operation", ["read", "write"])
def test_reading_and_writing_measure_one_block_of_the_size_asked_for(operation: str) -> None:
    passes = document("ram", ("operation", operation))
    assert [row["block_bytes"] for row in passes["passes"]] == [4096]
    rate = responses("ram", passes)["ram.rate"]
    assert rate.unit == "bytes/s"
    assert rate.value == passes["passes"][0]["bytes_per_s"]["median"] > 0


def test_arrays_give_one_rate_and_know_how_they_were_stored() -> None:
    changed = [("operation", "triad"), ("test", "float"), ("blocks", 1 << 20), ("stores", "cached")]
    triad = document("ram", *changed)
    assert triad["passes"][0]["stores"] == "cached"
    assert triad["array_bytes"] == 1 << 20
    assert list(responses("ram", triad)) == ["ram.rate"]


def test_threads_and_repeats_reach_the_engine() -> None:
    solved = document("linpack", ("repeats", 2))
    assert len(solved["solutions"][0]["repeats"]) == 2
    assert words_alone("ram", RAM | {"threads": 2})[-5:] == [
        "--threads", "2", "--repeat", "2", "--json"
    ]  # fmt: skip


@pytest.mark.parametrize("use", ["linpack", "ram"])
@pytest.mark.parametrize(
    ("changed", "why"),
    [({"interrupted": True, "valid": False}, "interrupted"), ({"valid": False}, "")],
)
def test_a_document_that_is_not_to_be_used_gives_reasons_and_no_figures(
    use: str, changed: dict[str, bool], why: str
) -> None:
    for measured in responses(use, document(use) | changed).values():
        assert measured.value is None
        assert isinstance(measured.missing, Quoted)
        assert why in measured.missing.said


@pytest.mark.parametrize("use", ["linpack", "ram"])
def test_the_settings_of_the_catalogue_make_a_command(use: str) -> None:
    assert "None" not in words_alone(use, {})
