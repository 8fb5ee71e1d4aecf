"""Files of other tools are read whole or refused with their place: real ones, cut ones, flipped."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import Complaint, StudyError
from steelyard.imports.kind import kind, names
from steelyard.imports.reading import Result, ResultFile, parse_file, read_file

CASES = Path(__file__).parents[2] / "cases"
IMPORTS, TOOLS = CASES / "imports", CASES / "tools"
OF_WORKLOADS = {
    "ab": ("2.3-r1934973", "2.3-r1934973-keep-alive"),
    "wrk": ("4.0.0", "4.1.0", "4.1.0-no-latency"),
    "iperf3": ("3.12-tcp", "3.12-udp", "3.18-tcp"),
    "sysbench-cpu": ("1.0.11", "1.0.20"),
    "sysbench-memory": ("1.0.11-read", "1.0.20-read"),
    "sysbench-fileio": ("1.0.0-rndrw", "1.0.11-rndrw", "1.0.20-seqrd"),
}
REFUSED = (
    "1.15.0-failed.json", "3.33-not-grouped.json", "4.9.4-failed.txt", "10.8.6-two-of-one-name.xml",
)  # fmt: skip
READ = "read.json"
FILES = {
    name: [TOOLS / name / case / "stdout.txt" for case in OF_WORKLOADS.get(name, ())]
    + [path for path in sorted((IMPORTS / name).iterdir()) if path.name not in {READ, *REFUSED}]
    for name in names()
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


def test_every_kind_has_a_file() -> None:
    assert [name for name, paths in FILES.items() if not paths] == []


@pytest.mark.parametrize("name", names())
def test_every_figure_of_a_file_is_read_as_it_stands_there(name: str) -> None:
    """``read.json`` holds the figures that were read when it was accepted."""
    read = {
        path.name if path.parent.name == name else path.parent.name: figures(name, path)
        for path in FILES[name]
    }
    kept = IMPORTS / name / READ
    if os.environ.get("STEELYARD_ACCEPT"):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(json.dumps(read, indent=1, ensure_ascii=False) + "\n", "utf-8")
    assert read == json.loads(kept.read_text("utf-8"))


def figures(name: str, path: Path) -> dict[str, Any]:
    found = read_file(path, name, kind(name))
    results = [
        {"name": each.name, "conditions": each.conditions, "trials": [*each.trials]}
        | ({} if each.system is None else {"system": each.system})
        for each in found.results
    ]
    assert all(result["trials"] for result in results)
    return {"version": found.version, "results": results}


def ends_as_a_whole_one(name: str, part: bytes) -> bool:
    """Rows that are lines say nowhere how many they are: the reference page says so."""
    return kind(name).format in {"csv", "ndjson"} and part.endswith(b"\n")


@pytest.mark.parametrize(("name", "path"), REAL, ids=case_id)
def test_a_file_that_was_cut_is_refused_or_says_the_same(name: str, path: Path) -> None:
    data = path.read_bytes()
    whole = parsed(name, data).results
    parts = [data[:cut] for cut in range(0, len(data), len(data) // CUTS)]
    said = [read_or_refused(name, part) for part in parts if not ends_as_a_whole_one(name, part)]
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


TABLE = "system,metric,unit,direction,value\n" + "".join(
    f"{name},t,ms,lower,{10 + at}\n" for at, name in enumerate(["old"] * 10 + ["new"] * 10)
)


@pytest.mark.parametrize("cell", ["NA", "", "9.1ms", '"10,129"', "inf", "1e999"])
def test_a_cell_that_is_no_number_is_named_with_its_line(cell: str) -> None:
    data = TABLE.replace("lower,15\n", f"lower,{cell}\n")
    refused = read_or_refused("long-csv", data.encode())
    assert isinstance(refused, Complaint)
    assert refused.line == 7
    assert "is no number" in refused.message or "is not finite" in refused.message
    assert "number" in str(refused.hint)
    assert "cut" not in str(refused.hint)


def test_a_wrong_row_of_a_tool_whose_rows_are_one_result_is_named_with_its_line() -> None:
    lines = FILES["jmeter"][0].read_text("utf-8").splitlines()
    at = lines[0].split(",").index("elapsed")
    cells = lines[4].split(",")
    lines[4] = ",".join([*cells[:at], "NA", *cells[at + 1 :]])
    refused = read_or_refused("jmeter", ("\n".join(lines) + "\n").encode())
    assert isinstance(refused, Complaint)
    assert refused.line == 5
    assert "`NA` is no number" in refused.message


def test_a_run_that_failed_is_refused_for_that_and_not_as_cut() -> None:
    whole = json.loads(FILES["hyperfine"][0].read_text("utf-8"))
    whole["results"][0]["exit_codes"][2] = 1
    refused = read_or_refused("hyperfine", json.dumps(whole).encode())
    assert isinstance(refused, Complaint)
    assert "another exit code than 0" in refused.message
    assert "measure all of it again" in str(refused.hint)
    assert "cut" not in str(refused.hint)


def test_what_is_no_direction_is_not_said_to_be_of_a_version_that_was_not_seen() -> None:
    refused = read_or_refused("long-csv", TABLE.replace("lower,15", "down,15").encode())
    assert isinstance(refused, Complaint)
    assert refused.line == 7
    assert "seen" not in str(refused.hint)


@pytest.mark.parametrize(("data", "cut"), [(b"a \xe2\x96", True), (b"a \xe2 b", False)])
def test_a_file_that_ends_within_a_character_was_cut(data: bytes, cut: bool) -> None:
    refused = read_or_refused("hey", data)
    assert isinstance(refused, Complaint)
    assert ("was cut" in refused.hint) is cut


@pytest.mark.parametrize("name", [name for name in names() if kind(name).says_version])
def test_a_version_that_was_not_seen_is_refused(name: str) -> None:
    path, own = FILES[name][0], kind(name).version
    said = read_file(path, name, kind(name)).version
    assert own is not None
    assert said is not None
    old, new = (said, "99.1") if "." in said else (f'"version": {said}', '"version": 99.1')
    newer = path.read_bytes().replace(old.encode(), new.encode())
    with pytest.raises(StudyError) as refused:
        parsed(name, newer)
    assert "99.1" in refused.value.complaints[0].message


def test_a_run_that_did_not_end_is_quoted_with_its_last_line() -> None:
    begun, _, _ = FILES["ab"][0].read_text("utf-8").partition("Server Software")
    refused = read_or_refused("ab", f"{begun}apr_socket_recv: Connection refused (111)\n".encode())
    assert isinstance(refused, Complaint)
    assert "`apr_socket_recv: Connection refused (111)`" in refused.message
    assert "failed" in refused.hint


def test_more_failed_requests_than_there_were_are_refused_with_their_line() -> None:
    lines = FILES["ab"][0].read_text("utf-8").splitlines()
    place, complete = (
        next(at for at, line in enumerate(lines) if line.startswith(f"{name} requests:"))
        for name in ("Failed", "Complete")
    )
    all_failed = int(lines[complete].split()[-1])
    for failed in (all_failed, all_failed + 1):
        lines[place] = f"Failed requests:        {failed}"
        read = read_or_refused("ab", ("\n".join(lines) + "\n").encode())
        assert isinstance(read, Complaint) is (failed > all_failed)
    assert isinstance(read, Complaint)
    assert read.line == place + 1
    assert f"{all_failed + 1:,}" in read.message


def test_a_run_that_failed_makes_its_file_unusable() -> None:
    path = IMPORTS / "hyperfine" / "1.15.0-failed.json"
    with pytest.raises(StudyError):
        read_file(path, "hyperfine", kind("hyperfine"))


def test_a_run_in_which_no_operation_succeeded_is_refused() -> None:
    with pytest.raises(StudyError) as refused:
        read_file(IMPORTS / "mstone" / "4.9.4-failed.txt", "mstone", kind("mstone"))
    assert "`SMTP`" in refused.value.complaints[0].message


def test_a_run_of_which_a_client_did_not_report_is_refused() -> None:
    data = FILES["mstone"][0].read_bytes().replace(b"clients: 4 of 4", b"clients: 3 of 4")
    with pytest.raises(StudyError):
        parsed("mstone", data)


def test_the_file_says_which_way_is_better_where_its_rows_do_not() -> None:
    data = FILES["mmtests"][0].read_bytes()
    assert {*parsed("mmtests", data).results[0].trials[0]} == {"mmtests.lower"}
    other = parsed("mmtests", data.replace(b'"Lower"', b'"Higher"'))
    assert {*other.results[0].trials[0]} == {"mmtests.higher"}


def test_a_row_that_lacks_a_field_is_named_with_its_line() -> None:
    data = (IMPORTS / "jmeter" / "5.6.3.jtl").read_bytes().replace(b",OK,users", b",users", 3)
    with pytest.raises(StudyError) as refused:
        parsed("jmeter", data)
    assert refused.value.complaints[0].line == 2


def test_xml_that_declares_entities_is_refused() -> None:
    data = b'<!DOCTYPE a [<!ENTITY b "c">]><PhoronixTestSuite>&b;</PhoronixTestSuite>'
    with pytest.raises(StudyError) as refused:
        parsed("phoronix", data)
    assert "entities" in refused.value.complaints[0].message


def test_results_that_differ_by_their_arguments_alone_are_not_read_as_one() -> None:
    data = (IMPORTS / "phoronix" / "10.8.6-two-of-one-name.xml").read_bytes()
    with pytest.raises(StudyError) as refused:
        parsed("phoronix", data)
    assert "`Checksums 1.0 Rate MB/s`" in refused.value.complaints[0].message


def test_jobs_of_one_name_that_are_not_one_result_are_refused() -> None:
    with pytest.raises(StudyError) as refused:
        read_file(IMPORTS / "fio" / "3.33-not-grouped.json", "fio", kind("fio"))
    assert "`twice`" in refused.value.complaints[0].message


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


def perfmon(*changes: tuple[str, str]) -> tuple[Result, ...] | Complaint:
    text = FILES["perfmon"][0].read_text("utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return read_or_refused("perfmon", text.encode())


def test_a_decimal_comma_of_a_number_that_need_not_be_there_is_refused_with_its_line() -> None:
    refused = perfmon(("41.25", "41,25"))
    assert isinstance(refused, Complaint)
    assert refused.line == 3
    assert "perfmon.cpu" in refused.message
    assert "comma" in str(refused.hint)


def test_where_no_column_is_read_those_that_are_there_are_named() -> None:
    refused = perfmon(
        ("\\Processor(_Total)\\% Processor Time", "\\Prozessor(_Total)\\Prozessorzeit (%)"),
        ("PhysicalDisk", "Datenträger"),
        ("Processor Queue", "Prozessor-Warteschlange"),
    )
    assert isinstance(refused, Complaint)
    assert "None" not in refused.message
    assert "Prozessorzeit" in refused.message


def test_a_column_that_is_not_there_leaves_the_others() -> None:
    read = perfmon(("% Processor Time", "Prozessorzeit"))
    assert not isinstance(read, Complaint)
    (result,) = read
    assert "perfmon.cpu" in result.missing
    assert "perfmon.queue" in result.trials[0]
