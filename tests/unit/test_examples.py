"""The examples under ``docs/examples`` are what ``steelyard report`` wrote, and name no machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steelyard.report.anonymous import anonymous_text

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
STUDIES = sorted(path.parent.name for path in (ROOT / "studies").glob("*/study.yaml"))
PAGES = sorted(path.stem for path in EXAMPLES.glob("*.md") if path.stem != "README")
HEADINGS = [
    "The question",
    "What was published",
    "What Steelyard finds here",
    "What it would have caught",
    "Run it",
]
MOST_BYTES = 1_500_000


def text_of(*parts: str) -> str:
    return EXAMPLES.joinpath(*parts).read_text(encoding="utf-8")


def squeezed(text: str) -> str:
    """One space between words, without the marks of a quotation."""
    return " ".join(re.sub(r"(?m)^> ?", "", text).split())


def answer_of(report: str) -> str:
    """What a report says first: all between its title and its next heading."""
    _, _, rest = report.partition("\n")
    return squeezed(rest.partition("\n## ")[0])


def quoted(page: str) -> str:
    found = page.partition("## What Steelyard finds here\n")[2]
    lines = []
    for line in found.splitlines():
        if not line.startswith(">"):
            break
        lines.append(line)
    return squeezed("\n".join(lines))


@pytest.mark.parametrize("study", STUDIES)
def test_every_study_is_in_the_list_of_examples(study: str) -> None:
    row = re.search(
        rf"^\| {study} \| (.+?) \| (.*?) ?\| (.*?) ?\|$", text_of("README.md"), re.MULTILINE
    )
    assert row is not None, f"docs/examples/README.md has no row for {study}"
    if study in PAGES:
        cells = (f"[page]({study}.md)", f"[HTML]({study}/report.html)")
        assert row.groups()[:2] == cells
    else:
        assert row[1] == "not run for this list yet"


@pytest.mark.parametrize("page", PAGES)
def test_a_page_belongs_to_a_study_and_has_all_headings_and_both_forms(page: str) -> None:
    assert page in STUDIES
    assert re.findall(r"^## (.+)$", text_of(f"{page}.md"), re.MULTILINE) == HEADINGS
    assert {f.name for f in (EXAMPLES / page).iterdir()} >= {"report.html", "report.md"}


@pytest.mark.parametrize("page", PAGES)
def test_a_page_quotes_the_answer_of_its_report_word_for_word(page: str) -> None:
    answer = answer_of(text_of(page, "report.md"))
    assert answer
    assert quoted(text_of(f"{page}.md")) == answer


@pytest.mark.parametrize("page", PAGES)
def test_both_forms_of_a_report_come_from_the_same_run(page: str) -> None:
    run = re.search(
        r"^- Made by: steelyard \S+ run (\S+)$", text_of(page, "report.md"), re.MULTILINE
    )
    assert run is not None
    assert f"<span>run {run[1]}</span>" in text_of(page, "report.html")


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("report.*")), ids=str)
def test_every_report_can_be_reached_from_its_page(path: Path) -> None:
    page, *_ = path.relative_to(EXAMPLES).parts
    assert f"]({path.relative_to(EXAMPLES)})" in text_of(f"{page}.md")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_names_the_command_that_runs_its_study(page: str) -> None:
    assert f"steelyard run studies/{page}" in text_of(f"{page}.md").partition("## Run it")[2]


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("report.*")), ids=lambda p: p.parent.name)
def test_no_report_tells_whose_machine_it_was(path: Path) -> None:
    words = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        words = re.sub(r"<style>.*?</style>|<[^>]*>", " ", words, flags=re.DOTALL)
    assert words == anonymous_text(words)
    assert not re.search(r"\bhostname \| (?!withheld|–|not known)", words)


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.html")), ids=lambda p: p.parent.name)
def test_a_report_is_small_enough_to_live_in_a_repository(path: Path) -> None:
    assert path.stat().st_size < MOST_BYTES
