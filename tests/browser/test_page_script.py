"""What the script of a report adds, done with pointer and keyboard on a real run."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.browser.conftest import EXAMPLES, Open
from tests.browser.looks import accessibility_faults
from tests.browser.test_report_pages import DECIDED, Report

from steelyard.report.from_run import stored

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

TRIALS = "#attempts table"
REMEMBER = """Object.defineProperty(navigator, "clipboard",
  {value: {writeText: async text => { window.copied = text; }}});"""
RUN = stored(EXAMPLES / DECIDED / "findings.json")
(PRIMARY,) = (each.label for each in RUN.workloads[0].responses if each.primary)


@pytest.fixture
def page(report_of: Report, opened: Open) -> Page:
    return opened(report_of(DECIDED).as_uri() + "#attempts")


def values(page: Page, column: int) -> list[float]:
    cells = page.locator(f"{TRIALS} tbody tr:visible td:nth-child({column})")
    return [float(text.replace(",", "")) for text in cells.all_inner_texts()]


def column_of(page: Page, title: str) -> tuple[Locator, int]:
    heads = page.locator(f"{TRIALS} thead th")
    place = next(i for i, text in enumerate(heads.all_inner_texts()) if title in text)
    return heads.nth(place), place + 1


def test_a_click_on_a_column_sorts_the_trials_and_another_turns_them(page: Page) -> None:
    head, column = column_of(page, PRIMARY)
    measured = values(page, column)
    assert len(measured) == len(RUN.attempts)
    assert measured != sorted(measured)
    head.get_by_role("button").click()
    assert (values(page, column), head.get_attribute("aria-sort")) == (
        sorted(measured),
        "ascending",
    )
    head.get_by_role("button").press("Enter")
    assert values(page, column) == sorted(measured, reverse=True)
    head.get_by_role("button").press("Enter")
    assert values(page, column) == measured


def test_rows_are_chosen_by_word_and_the_address_keeps_the_choice(page: Page, opened: Open) -> None:
    search = page.locator("#attempts").get_by_role("searchbox")
    search.fill("https")
    rows = page.locator(f"{TRIALS} tbody tr:visible")
    wanted = [each for each in RUN.attempts if each.cell.system == "https"]
    assert 0 < rows.count() == len(wanted) < len(RUN.attempts)
    address = page.url
    again = opened(address)
    assert again.locator(f"{TRIALS} tbody tr:visible").count() == len(wanted)


def test_what_is_copied_is_what_is_shown(report_of: Report, opened: Open) -> None:
    page = opened(report_of(DECIDED).as_uri() + "#attempts", REMEMBER)
    page.locator("#attempts").get_by_role("searchbox").fill("https")
    page.locator("#attempts").get_by_role("button", name="Copy as CSV").click()
    page.wait_for_function("window.copied")
    rows = list(csv.DictReader(io.StringIO(page.evaluate("window.copied"))))
    of_https = {each.trial for each in RUN.attempts if each.cell.system == "https"}
    assert {int(row["Trial"].partition("-")[0]) for row in rows} == of_https


def test_a_pointer_shows_the_value_of_a_mark_and_escape_hides_it(page: Page) -> None:
    chart = page.locator("svg.drawing:visible").first
    chart.scroll_into_view_if_needed()
    chart.locator("path:has(title)").first.hover(force=True)
    tip = page.locator(".tip")
    assert any(system in tip.inner_text() for system in RUN.systems)
    page.keyboard.press("Escape")
    assert not tip.is_visible()


def test_one_condition_is_chosen_for_all_charts(page: Page) -> None:
    row = page.get_by_role("group", name="Condition").first
    chosen = row.get_by_role("button").last
    chosen.click()
    assert chosen.get_attribute("aria-pressed") == "true"
    pressed = row.get_by_role("button").evaluate_all(
        "all => all.filter(one => one.getAttribute('aria-pressed') === 'true').length"
    )
    assert pressed == 1
    assert accessibility_faults(page) == []


@pytest.mark.parametrize(("kind", "begins"), [("SVG", b"<svg"), ("PNG", b"\x89PNG")])
def test_a_chart_is_saved_as_a_picture(
    page: Page, tmp_path: Path, kind: str, begins: bytes
) -> None:
    with page.expect_download() as saved:
        page.locator(".chart:visible").first.get_by_role("button", name=kind).click()
    path = tmp_path / "saved"
    saved.value.save_as(path)
    assert saved.value.suggested_filename.endswith(kind.lower())
    assert path.read_bytes().startswith(begins)
