"""Reports of real runs, opened as a person opens them."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.browser.conftest import DESKTOP, EXAMPLES, PHONE, Open
from tests.browser.looks import (
    accessibility_faults,
    faint_marks,
    folded,
    links_to_nowhere,
    marks_of_charts,
    overhang_px,
    overlapping_labels,
    shortened_labels,
)
from tests.unit.report.test_hostile_names import SCRIPT, hostile

from steelyard.report.from_run import stored
from steelyard.report.sentences.headline import headline

if TYPE_CHECKING:
    from steelyard.judge.findings import RunFindings

DECIDED, OPEN, SCREENED = "quickstart", "noise-floor", "which-settings-matter"
Report = Callable[["str | RunFindings"], Path]
SETTINGS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": PHONE},
}
VALIDATOR = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "steelyard", "vnu")


@pytest.fixture(params=[DECIDED, OPEN, SCREENED])
def report(request: pytest.FixtureRequest, report_of: Report) -> Path:
    return report_of(request.param)


@pytest.mark.parametrize("setting", SETTINGS)
def test_a_report_has_no_serious_fault_of_accessibility(
    report: Path, opened: Open, setting: str
) -> None:
    assert accessibility_faults(opened(report, **SETTINGS[setting])) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_marks_of_charts_differ_from_their_ground(report: Path, opened: Open, scheme: str) -> None:
    page = opened(report, color_scheme=scheme)
    assert marks_of_charts(page) > 100
    assert faint_marks(page) == []


def test_labels_of_charts_can_be_read(report: Path, opened: Open) -> None:
    page = opened(report)
    assert overlapping_labels(page) == []
    assert shortened_labels(page) == []


def test_a_report_is_as_wide_as_the_window(report: Path, opened: Open) -> None:
    assert overhang_px(opened(report)) <= 0
    assert overhang_px(opened(report, viewport=PHONE)) <= 0


def test_the_answer_is_on_the_first_screen(report_of: Report, opened: Open) -> None:
    said = headline(stored(EXAMPLES / DECIDED / "findings.json"))
    for viewport in ({"width": 1280, "height": 800}, PHONE):
        page = opened(report_of(DECIDED), viewport=viewport)
        box = page.get_by_role("heading", level=1).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] < viewport["height"]
        shown = page.get_by_role("heading", level=1).inner_text()
        assert said.text in " ".join(shown.split())


@pytest.mark.parametrize("example", ["durable-mail", "server-threads", "where-to-serve"])
def test_a_chart_begins_on_the_first_screen_whatever_the_caveats(
    report_of: Report, opened: Open, example: str
) -> None:
    page = opened(report_of(example), viewport=DESKTOP)
    box = page.locator(".figures figure").first.bounding_box()
    assert box is not None
    assert box["y"] < DESKTOP["height"] - 40


@pytest.mark.parametrize("example", ["home-server", "server-threads", DECIDED])
def test_the_chart_of_effects_is_not_cut(report_of: Report, opened: Open, example: str) -> None:
    page = opened(report_of(example))
    tables = page.locator(".effects .scroll")
    cut = tables.evaluate_all("all => all.map(one => one.scrollWidth - one.clientWidth)")
    assert cut
    assert max(cut) <= 0


def test_every_link_of_a_report_leads_somewhere(report: Path, opened: Open) -> None:
    page = opened(report)
    assert links_to_nowhere(page) == []
    links = page.locator("a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
    files = {to for to in links if not to.startswith(("#", "data:"))}
    assert files >= {"report.csv", "findings.json"}
    assert [to for to in files if not (report.parent / to).is_file()] == []


def test_without_script_a_report_says_the_same(report: Path, opened: Open) -> None:
    with_script = opened(report)
    without = opened(report, java_script_enabled=False)
    for part in ("h1", "h2", "h3", "summary", "td"):
        words = without.locator(part).all_text_contents()
        assert set(words) <= set(with_script.locator(part).all_text_contents())
        assert part == "h3" or words


def test_a_printed_report_has_nothing_folded(report: Path, opened: Open) -> None:
    page = opened(report)
    assert folded(page) != []
    page.emulate_media(media="print")
    assert folded(page) == []
    assert io.BytesIO(page.pdf()).read(5) == b"%PDF-"


def test_names_that_are_markup_are_shown_and_not_run(report_of: Report, opened: Open) -> None:
    page = opened(report_of(hostile()))
    assert SCRIPT in page.title()
    assert page.get_by_text(SCRIPT).count() > 0
    scripts = page.locator("script").all_text_contents()
    assert [text for text in scripts if "alert(1)" in text and "<script>" in text] == []
    assert accessibility_faults(page) == []


def test_what_is_looked_for_is_found(opened: Open, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.html"
    wrong.write_text(
        """<!doctype html><html lang="en"><title>wrong</title><body style="background: white">
        <main><h1 style="color: #aaa">faint</h1><a href="#nowhere">nowhere</a>
        <svg class="drawing" width="2000"><path d="M0,0h9v9z" fill="#ddd"><title>1</title></path>
        <text x="5" y="20">one</text><text x="9" y="20">two…</text></svg></main>"""
    )
    page = opened(wrong)
    assert [fault.partition(":")[0] for fault in accessibility_faults(page)] == ["color-contrast"]
    assert len(faint_marks(page)) == 1
    assert overlapping_labels(page) == ["one | two…"]
    assert shortened_labels(page) == ["two…"]
    assert links_to_nowhere(page) == ["nowhere"]
    assert overhang_px(page) > 0


def test_the_html_of_reports_is_valid(report_of: Report) -> None:
    program = VALIDATOR / "node_modules" / "vnu-jar" / "build" / "dist" / "vnu.jar"
    if shutil.which("java") is None or not program.is_file():
        pytest.skip("the validator of HTML is not here: see .ci/install")
    pages = [report_of(each) for each in (DECIDED, OPEN, SCREENED, hostile())]
    checked = subprocess.run(
        ["java", "-jar", program, "--errors-only", "--format", "text", *pages],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr
