"""Files of other tools are read whole or refused with their place: real ones, cut ones, flipped."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from steelyard.errors import Complaint, StudyError
from steelyard.imports.kind import kind, names
from steelyard.imports.reading import Result, ResultFile, parse_file, read_file

CASES = Path(__file__).parents[2] / "cases"
IMPORTS, TOOLS = CASES / "imports", CASES / "tools"
CASES_OF = {
    "ab": ("2.3-r1934973", "2.3-r1934973-keep-alive"),
    "wrk": ("4.0.0", "4.1.0", "4.1.0-no-latency"),
    "iperf3": ("3.12-tcp", "3.12-udp", "3.18-tcp"),
    "sysbench-cpu": ("1.0.11", "1.0.20"),
    "sysbench-memory": ("1.0.11-read", "1.0.20-read"),
    "h2load": ("1.52.0.txt",),
    "oha": ("1.16.0.json",),
    "hyperfine": ("1.15.0-two-commands.json", "1.15.0-parameter-list.json"),
    "google-benchmark": ("1.7.1-old.json", "1.7.1-new.json", "1.7.1-repetitions.json"),
}
FILES = {
    name: [
        IMPORTS / name / case
        if case.endswith((".json", ".txt"))
        else TOOLS / name / case / "stdout.txt"
        for case in cases
    ]
    for name, cases in CASES_OF.items()
}
REAL = [(name, path) for name, paths in FILES.items() for path in paths]
CUTS, FLIPS = 40, 60
GIVEN = Path("given")


def parsed(name: str, data: bytes) -> ResultFile:
    return parse_file(data, GIVEN, name, kind(name))


def read_or_refused(name: str, data: bytes) -> tuple[Result, ...] | Complaint:
    """What a file says, or the one complaint; any other error fails the test."""
    try:
        return parsed(name, data).results
    except StudyError as error:
        return error.complaints[0]


def case_id(value: object) -> str:
    return "-".join(value.parts[-2:]) if isinstance(value, Path) else str(value)


def test_every_kind_has_a_real_file() -> None:
    assert sorted(FILES) == sorted(names())


@pytest.mark.parametrize(("name", "path"), REAL, ids=case_id)
def test_a_real_file_gives_its_primary_response_in_every_trial(name: str, path: Path) -> None:
    found = read_file(path, name, kind(name))
    assert found.results
    for result in found.results:
        assert result.trials
        assert all(trial[kind(name).primary] > 0 for trial in result.trials)


@pytest.mark.parametrize(("name", "path"), REAL, ids=case_id)
def test_a_file_that_was_cut_is_refused_or_says_the_same(name: str, path: Path) -> None:
    data = path.read_bytes()
    whole = parsed(name, data).results
    said = [read_or_refused(name, data[:cut]) for cut in range(0, len(data), len(data) // CUTS)]
    assert [each for each in said if not isinstance(each, Complaint) and each != whole] == []
    refused = [each for each in said if isinstance(each, Complaint)]
    assert len(refused) >= CUTS * 3 // 4
    assert all(each.line >= 1 and each.path == GIVEN for each in refused)


@pytest.mark.parametrize(("name", "path"), REAL, ids=case_id)
def test_a_flipped_byte_is_refused_or_read_and_nothing_else(name: str, path: Path) -> None:
    data, chance = path.read_bytes(), random.Random(1)
    for _ in range(FLIPS):
        damaged = bytearray(data)
        damaged[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        assert read_or_refused(name, bytes(damaged))


@pytest.mark.parametrize("name", names())
def test_a_file_of_another_tool_is_named(name: str) -> None:
    for other, path in REAL:
        if other != name:
            with pytest.raises(StudyError):
                read_file(path, name, kind(name))


def test_json_that_is_broken_is_named_with_line_and_column() -> None:
    data = FILES["hyperfine"][0].read_bytes().replace(b'"mean"', b"mean", 1)
    with pytest.raises(StudyError) as refused:
        parsed("hyperfine", data)
    place = refused.value.complaints[0]
    assert (place.line, place.column) == (5, 7)


@pytest.mark.parametrize("name", ["ab", "iperf3", "sysbench-cpu"])
def test_a_version_that_was_not_seen_is_refused(name: str) -> None:
    path, own = FILES[name][0], kind(name).version
    said = read_file(path, name, kind(name)).version
    assert own is not None
    assert said is not None
    newer = path.read_bytes().replace(said.encode(), b"99.1")
    with pytest.raises(StudyError) as refused:
        parsed(name, newer)
    assert "99.1" in refused.value.complaints[0].message


def test_a_run_that_failed_makes_its_file_unusable() -> None:
    path = IMPORTS / "hyperfine" / "1.15.0-failed.json"
    with pytest.raises(StudyError):
        read_file(path, "hyperfine", kind("hyperfine"))


def test_units_are_converted_where_the_file_names_them() -> None:
    data = FILES["google-benchmark"][0].read_bytes()
    ns = parsed("google-benchmark", data).results[0].trials[0]["benchmark.real"]
    us = parsed("google-benchmark", data.replace(b'"ns"', b'"us"')).results[0].trials[0]
    assert us["benchmark.real"] == pytest.approx(1000 * ns)
    with pytest.raises(StudyError):
        parsed("google-benchmark", data.replace(b'"ns"', b'"weeks"'))


def test_repetitions_within_a_process_are_one_trial() -> None:
    path = IMPORTS / "google-benchmark" / "1.7.1-repetitions.json"
    found = read_file(path, "google-benchmark", kind("google-benchmark"))
    assert [(result.name, len(result.trials)) for result in found.results] == [
        ("BM_sort/64", 1),
        ("BM_sort/512", 1),
        ("BM_copy", 1),
    ]
