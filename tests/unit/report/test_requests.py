"""Request times in every form of the report: the table of ApacheBench."""

from __future__ import annotations

import csv
import io

from tests.golden.report_findings import changed
from tests.unit.report.golden_findings import golden

from steelyard.judge.analyses.requests.findings import RequestTimesFinding, Served, TimesRow
from steelyard.judge.findings import RunFindings
from steelyard.report.formats.csv import csv_text
from steelyard.report.formats.html import render
from steelyard.report.formats.markdown import markdown_text
from steelyard.report.tables.requests import request_tables
from steelyard.report.view import views

MS = 1_000_000


def row(name: str, mean_ms: float) -> TimesRow:
    return TimesRow(
        name=name,
        requests=990,
        min_ns=MS,
        mean_ns=mean_ms * MS,
        sd_ns=2.5 * MS,
        median_ns=3.0 * MS,
        max_ns=3_004 * MS,
    )


def with_times(*, failed: int | None = 10) -> RunFindings:
    plain = golden("plain")
    found = RequestTimesFinding(
        cell=plain.workloads[0].cells[0].cell,
        trials=3,
        requests=990,
        failed=failed,
        rows=(row("connect", 1.0), row("processing", 4.0), row("waiting", 3.5), row("total", 5.0)),
        served=(Served(share=0.5, within_ns=3 * MS), Served(share=1.0, within_ns=3_004 * MS)),
    )
    return changed(plain, request_times=(found,))


def test_the_table_has_a_row_for_each_part_and_no_unit_twice() -> None:
    parts, served = request_tables(views(with_times())[0])
    assert [cells[4] for cells in parts.rows] == ["connect", "processing", "waiting", "total"]
    assert parts.head[4] == "Part, s"
    assert parts.rows[3][2:4] == ("990", "10")
    assert parts.rows[3][-5:] == ("0.00100", "0.00500", "0.00250", "0.00300", "3.00")
    assert served.head[-2:] == ("50 %", "100 % (slowest)")


def test_failures_that_were_not_reported_are_not_zero() -> None:
    parts, _ = request_tables(views(with_times(failed=None))[0])
    assert parts.rows[0][3] == "not known"


def test_every_form_of_the_report_has_them() -> None:
    findings = with_times()
    page = render(findings)
    assert 'id="latency"' in page
    assert "Connection times" in page
    words = markdown_text(findings)
    assert "## Request times" in words
    assert "### Connection times" in words
    rows = list(csv.DictReader(io.StringIO(csv_text(findings))))
    told = {r["response"]: r["value"] for r in rows if r["kind"] == "request_time"}
    assert float(told["total.mean"]) == 5 * MS
    assert float(told["served.0.5"]) == 3 * MS


def test_a_study_without_requests_has_no_such_section() -> None:
    plain = golden("plain")
    assert request_tables(views(plain)[0]) == []
    assert 'id="latency"' not in render(plain)
    assert "Request times" not in markdown_text(plain)
