from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser

import pytest
from tests.unit.report.golden_findings import CASES, golden, sampled

from steelyard.judge.findings import RunFindings
from steelyard.judge.kinds.not_measured import ValueMissing
from steelyard.records.missing import Quoted
from steelyard.report.formats.html import render
from steelyard.report.page.render import own_text, typeset
from steelyard.report.tables.responses import response_table
from steelyard.report.view import views

VOID = {"meta", "br", "hr", "img", "link", "input", "wbr"}
LOADING = {"src", "srcset", "href", "xlink:href", "data", "poster", "action", "background"}
MOST_BYTES = 3_000_000
MOST_SCRIPT_BYTES = 15_000


class Reader(HTMLParser):
    """Checks nesting; collects tags, attributes and visible text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.ids: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        self.ids += [value or "" for name, value in attrs if name == "id"]

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script"} & set(self.open):
            self.text.append(data)


@cache
def page(case: str) -> str:
    """Times and resources for two cases only: drawing them is what takes time."""
    findings = golden(case)
    return render(sampled(findings) if case in {"decided", "failed"} else findings)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


def visible(html: str) -> str:
    return re.sub(r"\s+", " ", " ".join(read(html).text))


@pytest.mark.parametrize("case", CASES)
def test_every_tag_is_closed_in_its_place_and_no_identifier_stands_twice(case: str) -> None:
    reader = read(page(case))
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))


@pytest.mark.parametrize("case", CASES)
def test_the_page_loads_nothing_and_runs_only_its_own_script(case: str) -> None:
    reader = read(page(case))
    assert re.findall(r"<script>\n(.*?)\n</script>", page(case), re.DOTALL) == [own_text("page.js")]
    assert reader.tags.count("script") == 1
    assert not {"link", "img", "iframe", "object", "image", "use"} & set(reader.tags)
    assert [value for name, value in reader.attributes if name in LOADING - {"href"}] == []
    links = {value for name, value in reader.attributes if name == "href"}
    known = r"#[\w-]+$|\.\./study\.yaml$|\.\./trials/[\d-]+/$|data:text/csv;"
    assert all(re.match(known, link) for link in links)
    assert not [name for name, _ in reader.attributes if name.startswith("on")]
    style = re.search(r"<style>(.*?)</style>", page(case), re.DOTALL)
    assert style is not None
    assert "url(" not in style[1]
    assert "@import" not in style[1]


def test_the_script_is_small_asks_for_nothing_and_never_reads_markup_of_the_study() -> None:
    script = own_text("page.js")
    assert len(script.encode()) <= MOST_SCRIPT_BYTES
    for asking in (
        "fetch(",
        "XMLHttpRequest",
        "import(",
        "WebSocket",
        "eval(",
        "innerHTML",
        "src=",
    ):
        assert asking not in script
    (markup,) = re.findall(r"insertAdjacentHTML\((.*)\)", script)
    assert markup == """"afterbegin", '<rect width="100%" height="100%" fill="#fff"/>'"""
    assert "</script" not in script


def test_buttons_are_made_by_the_script_so_that_none_is_dead_without_it() -> None:
    assert "button" not in read(page("decided")).tags


@pytest.mark.parametrize("case", CASES)
def test_the_page_stays_below_three_megabytes(case: str) -> None:
    assert len(page(case).encode()) < MOST_BYTES


def test_a_long_study_with_times_and_samples_stays_below_three_megabytes() -> None:
    findings = golden("decided")
    attempts = tuple(
        attempt.model_copy(update={"trial": attempt.trial + 36 * turn, "visit": attempt.visit + 12})
        for turn in range(3)
        for attempt in findings.attempts
    )
    many = findings.model_copy(update={"attempts": attempts})
    assert len(render(sampled(many)).encode()) < MOST_BYTES


def test_the_sections_stand_in_the_order_of_reading_and_the_contents_link_to_each() -> None:
    html = page("failed")
    sections = re.findall(r'<section id="([\w-]+)">', html)
    order = ("result", "latency", "load", "resources", "trials", "responses", "environment",
             "method", "caveats")  # fmt: skip
    assert tuple(sections) == order
    contents = re.search(r'<nav aria-label="Contents">(.*?)</nav>', html, re.DOTALL)
    assert contents is not None
    assert re.findall(r'href="#([\w-]+)"', contents[1]) == sections


@pytest.mark.parametrize("case", CASES)
def test_every_link_within_the_page_leads_somewhere(case: str) -> None:
    reader = read(page(case))
    targets = {value[1:] for name, value in reader.attributes if name == "href" and value[0] == "#"}
    assert targets <= set(reader.ids)


def test_all_charts_stand_in_the_page_with_title_and_description() -> None:
    html = page("decided")
    names = re.findall(r'aria-labelledby="(\S+)-title \S+-words"', html)
    wanted = {"first-load-throughput", "load-throughput", "load-response-p99", "order-wide",
              "order-narrow", "tail-0", "phases-wide", "heat-0-0"}  # fmt: skip
    assert wanted <= set(names)
    assert {f"resource-service_cpu-{i}" for i in range(3)} <= set(names)
    for name in names:
        assert re.search(rf'<title id="{name}-title">[^<]+</title>', html)
        assert re.search(rf'<desc id="{name}-words">[^<]+</desc>', html)


def test_a_hostile_name_is_shown_and_never_becomes_markup() -> None:
    html = page("three")
    assert html.count("<script") == 1
    assert "<b>mail" not in html
    assert "<script>alert(1)</script>" in visible(html)


def test_a_cell_without_data_reads_not_measured_with_its_reason_and_never_zero() -> None:
    text = visible(page("failed"))
    assert "durable at 16 users: not measured, trial 9, attempt 3: service died." in text
    chart = re.search(r'<desc id="load-throughput-words">([^<]+)', page("failed"))
    assert chart is not None
    assert "durable at 16 users: not measured" in chart[1]


def test_many_cells_that_lack_a_value_for_one_reason_are_counted_and_the_reason_told_once() -> None:
    found = golden("failed")
    lost = [
        c
        for c in found.workloads[0].cells
        if c.values and c.response == found.workloads[0].responses[0].name
    ][1:]
    why = {
        "values": (),
        "median": None,
        "low": None,
        "high": None,
        "not_measured": (ValueMissing(reason=Quoted(kind="tool_reported", said="too few")),),
    }
    cells = tuple(c.model_copy(update=why) if c in lost else c for c in found.workloads[0].cells)
    workload = found.workloads[0].model_copy(update={"cells": cells})
    lacking = found.model_copy(update={"workloads": (workload,)})
    table = response_table(views(lacking)[0], workload.responses[0])
    told = [note for note in table.notes if "too few" in note]
    assert told == [f"{len(lost)} of 6 cells: not measured, too few."]


def test_every_attempt_is_listed_also_those_that_failed() -> None:
    text = visible(page("failed"))
    for attempt in golden("failed").attempts:
        assert f"{attempt.trial:04d}-{attempt.attempt}" in text
    assert "Hint: free 210 MB or set store: elsewhere" in text


def test_a_study_without_samples_has_no_chart_of_resources() -> None:
    assert "Over time" not in visible(page("plain"))


def test_the_page_names_what_it_needs_to_be_made_again() -> None:
    findings: RunFindings = golden("failed")
    text = visible(page("failed"))
    for fact in (findings.study_sha256, str(findings.seed), findings.run, findings.tool_version):
        assert fact in text
    assert "--variant small" in text
    assert "../trials/0001-1/" in text


def test_a_heading_keeps_the_capitals_of_its_label() -> None:
    assert "<h3>CPU of the service" in page("decided")


def test_typesetting_changes_signs_and_dashes_but_no_names() -> None:
    assert typeset("-0.4 %, -0.7 to +2.9 %") == "−0.4\u00a0%, −0.7 to +2.9\u00a0%"
    assert typeset("kvm-2 sha-1-x") == "kvm-2 sha-1-x"
    assert typeset("<b>") == "&lt;b&gt;"


@pytest.mark.parametrize("case", ["decided", "screened"])
def test_every_chart_has_its_figures_to_download(case: str) -> None:
    html = page(case)
    assert html.count('<div class="chart">') > 0
    assert html.count('<div class="chart">') == html.count('href="data:text/csv;')


def test_a_median_of_some_trials_says_of_how_many_and_why_the_others_have_none() -> None:
    found = golden("failed")
    (workload,) = found.workloads
    response = workload.responses[0]
    cell = next(c for c in workload.cells if c.response == response.name and len(c.values) > 1)
    reason = ValueMissing(reason=Quoted(kind="tool_reported", said="too few"))
    lacking = {"values": cell.values[1:], "trials": cell.trials[1:], "not_measured": (reason,)}
    cells = tuple(c.model_copy(update=lacking) if c is cell else c for c in workload.cells)
    run = found.model_copy(update={"workloads": (workload.model_copy(update={"cells": cells}),)})
    table = response_table(views(run)[0], response)
    among = f"{len(cell.values) - 1} of {len(cell.values)}"
    assert [row[4] for row in table.rows if row[1] == cell.cell.system].count(among) == 1
    assert sum(f"of {among} trials" in note and "too few" in note for note in table.notes) == 1


def test_a_page_is_the_same_whatever_was_drawn_before_it() -> None:
    assert render(golden("decided")) == render(golden("decided"))
