"""Twenty ways in which a report once misled, in the order of their weight.

Each has tests that would have seen it: those of the page as a whole stand here, the others where
their subject is tested, and this list holds them to their names.
"""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.golden.report_examples import CASES
from tests.unit.report.golden_findings import sampled

from steelyard.report.formats.html import render
from steelyard.report.sentences.caveats import MOST_ON_TOP
from steelyard.report.tables.effects import effect_rows

ROOT = Path(__file__).parents[2]

CLOSED_BY = {
    "a ceiling that is exceeded": (
        "unit/judge/test_exceeded_calibration.py",
        "test_one_trial_above_the_capacity_makes_the_calibration_invalid",
    ),
    "an accelerator that nobody names": (
        "unit/report/test_first_screen.py",
        "test_an_emulated_system_is_named_first_of_what_differs",
    ),
    "an estimate that is not what its label says": (
        "unit/judge/test_adjusted_estimate.py",
        "test_the_ratio_as_measured_stands_beside_an_estimate_that_stalls_hardly_move",
    ),
    "a margin with one bound": (
        "unit/report/test_first_screen.py",
        "test_the_evidence_names_both_bounds_of_the_margin",
    ),
    "confounders that are counted and not ranked": (
        "unit/judge/test_confounders.py",
        "test_what_explains_most_comes_first_and_three_subjects_are_named",
    ),
    "caveats that drown each other": (
        "unit/report/test_first_screen.py",
        "test_at_most_three_caveats_stand_on_the_first_screen_the_gravest",
    ),
    "trials without their values": (
        "unit/report/test_load_charts.py",
        "test_a_row_of_a_trial_has_its_values_its_warnings_and_its_folder",
    ),
    "labels that are cut to the same text": (
        "unit/report/test_charts.py",
        "test_labels_that_begin_alike_are_shown_whole",
    ),
    "forecasts that no one can act on": (
        "unit/judge/test_forecast.py",
        "test_beyond_five_budgets_nothing_is_attainable_here",
    ),
    "warnings told three times": (
        "unit/report/test_load_charts.py",
        "test_a_warning_is_a_tag_with_its_sentence",
    ),
    "a first screen for two systems only": (
        "unit/report/test_first_screen.py",
        "test_several_systems_stand_in_one_table_with_value_change_interval_and_rank",
    ),
    "empty charts, columns and tables": (
        "unit/report/test_charts.py",
        "test_a_response_without_a_value_is_not_drawn",
    ),
    "a machine that is not described": (
        "unit/report/test_environment.py",
        "test_a_machine_is_reported_in_rows_with_units",
    ),
    "latency without its tail": (
        "unit/report/test_load_charts.py",
        "test_the_tail_chart_has_the_findings_of_every_system",
    ),
    "resources as a tangle of lines, above what there is": (
        "unit/report/test_load_charts.py",
        "test_a_panel_says_window_limit_and_medians",
    ),
    "an answer to another question": (
        "unit/report/test_first_screen.py",
        "test_a_screening_shows_its_effects_the_largest_first",
    ),
    "limits that are not those of the study": (
        "unit/judge/test_audit.py",
        "test_where_no_load_is_driven_nothing_is_said_of_a_load_from_the_same_machine",
    ),
    "figures as programs print them": (
        "unit/judge/test_audit.py",
        "test_carry_over_is_written_in_percent_of_the_response_and_not_of_its_logarithm",
    ),
    "samples that are older than the program": (
        "golden/test_examples.py",
        "test_a_report_says_what_its_findings_say_today",
    ),
    "runs compared in words of the judge": (
        "unit/report/test_compare.py",
        "test_two_runs_are_put_side_by_side_without_a_test_between_them",
    ),
}


@pytest.mark.parametrize("defect", CLOSED_BY)
def test_each_defect_has_the_test_that_would_have_seen_it(defect: str) -> None:
    path, name = CLOSED_BY[defect]
    assert re.search(rf"^def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE)


class _Page(HTMLParser):
    """Visible text, and the cells of each table by column."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.skipped = 0
        self.text: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.cell: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs  # only what a tag is
        self.skipped += tag in {"style", "script", "svg", "pre", "code"}
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in {"td", "th"} and self.tables and self.tables[-1]:
            self.cell = []

    def handle_endtag(self, tag: str) -> None:
        self.skipped -= tag in {"style", "script", "svg", "pre", "code"}
        if tag in {"td", "th"} and self.cell is not None:
            self.tables[-1][-1].append(" ".join("".join(self.cell).split()))
            self.cell = None

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            self.text.append(data)
            if self.cell is not None:
                self.cell.append(data)


@cache
def rendered(case: str) -> str:
    found = CASES[case]()
    return render(sampled(found) if case == "decided" else found)


@cache
def page(case: str) -> _Page:
    read = _Page()
    read.feed(rendered(case))
    return read


def words(case: str) -> str:
    return " ".join(" ".join(page(case).text).split())


@pytest.mark.parametrize("case", CASES)
def test_a_page_has_one_kind_of_minus_and_one_notation_of_ranges(case: str) -> None:
    text = words(case)
    assert not re.findall(r"(?<![\w.-])-\d", text)
    assert not re.findall(r"\d ?%?\.\.[+−-]?\d", text)
    assert not re.findall(r"\d%(?!\w)", text)


@pytest.mark.parametrize("case", CASES)
def test_a_page_has_no_literals_of_a_program_and_no_raw_units(case: str) -> None:
    text = words(case)
    assert not re.findall(r"\bNone\b|\bTrue\b|\bFalse\b|\{'|\(\)|\bnan\b", text)
    assert not re.findall(r"\d e?-?\d*e[+-]\d\d\b", text)
    assert not re.findall(r"\d{6,} (?:ns|B|bytes)\b", text)
    assert not re.findall(r"in logarithms|\d/\d+\.\d+ of", text)


@pytest.mark.parametrize("case", CASES)
def test_no_column_of_the_first_tables_and_no_table_is_empty(case: str) -> None:
    tables = page(case).tables
    assert all(len(table) > 1 for table in tables)
    for head, *rows in tables[: len(effect_rows(CASES[case]()))]:
        whole = [row for row in rows if len(row) == len(head) and any(row[1:])]
        columns = list(zip(*whole, strict=True))[1:-1]
        assert all(set(column) != {"–"} for column in columns)


@pytest.mark.parametrize("case", CASES)
def test_no_section_is_a_heading_alone(case: str) -> None:
    html = rendered(case)
    for body in re.findall(r'<section id="[^"]+">(.*?)</section>', html, re.DOTALL):
        assert len(re.sub(r"<h2.*?</h2>|<[^>]+>|\s", "", body)) > 20


@pytest.mark.parametrize("case", CASES)
def test_the_first_screen_has_few_words_and_few_caveats(case: str) -> None:
    html = rendered(case)
    first = html[html.index("<main") : html.index('id="details"')]
    visible = re.sub(r"<svg.*?</svg>", " ", first, flags=re.DOTALL)
    assert len(re.sub(r"<[^>]+>", " ", visible).split()) < 450
    top = re.search(r'<div class="beside">.*?<ul>(.*?)</ul>', first, re.DOTALL)
    assert top is None or top[1].count("<li>") <= MOST_ON_TOP


def test_the_workloads_of_a_study_stand_in_one_plot_by_verdict() -> None:
    found = CASES["six"]()
    (own,) = found.workloads
    several = found.model_copy(
        update={"workloads": tuple(own.model_copy(update={"name": n}) for n in ("http", "smtp"))}
    )
    html = render(several)
    first = html[html.index("<main") : html.index('id="details"')]
    assert first.count('<table class="effect">') == 1
    groups = re.findall(r'scope="rowgroup"[^>]*>([^<]+)', first)
    assert groups == list(dict.fromkeys(groups))
    assert {"Slower", "Faster"} <= set(groups)
