"""What people read of several workloads: each under its name, what is common once."""

from __future__ import annotations

import csv
import io
import re
from functools import cache

from tests.unit.judge.several_workloads import judged

from steelyard.judge.analyses.consolidation.findings import NoScenario, RatioFinding
from steelyard.judge.findings import RunFindings
from steelyard.report.compare import compare_lines
from steelyard.report.formats.csv import csv_text
from steelyard.report.formats.html import render
from steelyard.report.formats.junit import junit_text
from steelyard.report.formats.markdown import markdown_text
from steelyard.report.tables.interference import cell_text
from steelyard.report.tables.responses import response_table
from steelyard.report.view import NO_GRAND_MEAN, lines, views


@cache
def findings() -> RunFindings:
    return judged()


def test_every_workload_has_its_answer_under_its_name() -> None:
    _, cpu, disk, *_ = markdown_text(findings()).split("\n## ")
    assert cpu.startswith("cpu\n\n**guest is slower than bare: ")
    assert "over their common 2 conditions" in cpu
    assert disk.startswith("disk\n\n**No difference larger than 5 % in run time")
    assert "at disk, alone" in disk, "the only condition that both can meet"


def test_a_report_begins_with_what_every_workload_found() -> None:
    first, _, _ = markdown_text(findings()).partition("\n## ")
    assert re.search(r"^- cpu: guest is slower than bare: .+$", first, re.MULTILINE)
    assert re.search(r"^- disk: No difference larger than 5 % in run time", first, re.MULTILINE)
    page = render(findings())
    assert page.index("cpu slower, disk equivalent, against bare") < page.index("<h3 class")


def test_the_answer_says_that_there_is_none_over_workloads() -> None:
    assert NO_GRAND_MEAN in markdown_text(findings())
    assert NO_GRAND_MEAN.split(";")[0] in render(findings())


def test_what_is_said_of_all_workloads_is_said_once() -> None:
    found = lines(findings(), lambda view: ["both", f"only {view.own.name}"])
    assert found == ["both", "cpu: only cpu", "disk: only disk"]


def test_cells_that_do_not_exist_read_as_not_applicable() -> None:
    cpu = views(findings())[0]
    table = response_table(cpu, cpu.own.responses[0])
    missing = [row for row in table.rows if row[2] == "not applicable"]
    assert {row[1] for row in missing} == {"bare"}
    assert len(missing) == 4
    assert not any("not measured" in cell for row in table.rows for cell in row)
    guest = next(row for row in table.rows if row[1] == "guest" and "two" in row[0])
    assert guest[-1] == "–", "nothing to compare it with, so nothing is missing either"


def test_a_page_of_several_workloads_names_each_and_repeats_no_identifier() -> None:
    page = render(findings())
    assert '<h3 class="workload" id="workload-cpu">cpu</h3>' in page
    assert '<h3 class="workload" id="workload-disk">disk</h3>' in page
    identifiers = re.findall(r'\bid="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers))
    referred = re.findall(r"url\(#([^)]+)\)", page)
    assert set(referred) <= set(identifiers)


def test_markdown_has_a_section_for_each_workload() -> None:
    text = markdown_text(findings())
    assert "\n## cpu\n" in text
    assert "## disk: run time" in text


def test_every_row_of_the_flat_table_names_its_workload() -> None:
    rows = list(csv.DictReader(io.StringIO(csv_text(findings()))))
    assert {row["condition.workload"] for row in rows} == {"cpu", "disk"}
    verdicts = [row for row in rows if row["kind"] == "verdict"]
    assert [(row["condition.workload"], row["word"]) for row in verdicts[:1]] == [("cpu", "slower")]
    absent = [row for row in rows if row["kind"] == "not_applicable"]
    assert len(absent) == 5
    attempts = [row for row in rows if row["kind"] == "attempt"]
    assert len(attempts) == len(findings().attempts)


def test_two_runs_are_held_side_by_side_workload_by_workload() -> None:
    lines = compare_lines(findings(), findings())
    assert any("run time of guest against bare, over all conditions of disk" in x for x in lines)
    assert lines[-1].endswith("0 of them contradictory.")


def test_who_is_slowed_by_whom_is_a_table_with_words_in_every_cell() -> None:
    text = markdown_text(findings())
    assert "## Who is slowed by whom, on guest" in text
    assert "| Victim | beside disk on another instance |" in text
    assert re.search(
        r"^\| cpu, n 100 \| 1\.6\d \(1\.6\d to 1\.\d+\), slowed \|$", text, re.MULTILINE
    )
    assert 'id="interference"' in render(findings())
    rows = list(csv.DictReader(io.StringIO(csv_text(findings()))))
    told = [row for row in rows if row["kind"] == "interference"]
    assert [(row["system"], row["word"]) for row in told] == [("guest", "disturbed")] * 2


def test_a_slowdown_that_is_not_told_apart_from_none_says_so() -> None:
    cell = findings().interference[0].cells[0]
    open_ = cell.model_copy(
        update={"word": "open", "slowdown": RatioFinding(log=0.02, low_log=-0.01, high_log=0.05)}
    )
    assert cell_text(open_) == "1.02 (0.99 to 1.05), not distinguished from none"
    assert cell_text(open_.model_copy(update={"word": "undisturbed"})).endswith(
        "nothing as large as the margin"
    )
    empty = cell.model_copy(update={"slowdown": None, "missing": NoScenario()})
    assert cell_text(empty) == "not in the study"
    single = cell.model_copy(
        update={"visits": 1, "slowdown": RatioFinding(log=0.02, low_log=None, high_log=None)}
    )
    assert cell_text(single) == "1.02 in 1 visit, no interval"


def test_every_workload_has_its_tests_in_a_pipeline() -> None:
    names = re.findall(r'<testcase [^>]*name="([^"]+)"', junit_text(findings()))
    for wanted in ("cpu: linpack.rate of guest against bare", "disk: run_time of guest"):
        assert any(name.startswith(wanted) for name in names), wanted
