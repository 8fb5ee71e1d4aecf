"""The docs say what is there: a message, outcome, exit code or decision without its line fails."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steelyard.errors import ExitCode
from steelyard.records.schema import Outcome
from steelyard.trial.attempt.outcomes import RETRY_HELPS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MESSAGES = (DOCS / "reference" / "messages.md").read_text(encoding="utf-8")


def slugs_in_source() -> set[str]:
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    pattern = re.compile(r'slug(?:: str)? ?= ?"([a-z-]+)"')
    return {slug for text in sources for slug in pattern.findall(text)}


def test_every_message_has_a_heading_and_every_heading_a_message() -> None:
    page, _, _ = MESSAGES.partition("# Outcomes")
    assert set(re.findall(r"^## ([a-z-]+)$", page, re.MULTILINE)) == slugs_in_source()


@pytest.mark.parametrize("outcome", Outcome)
def test_every_outcome_says_whether_it_is_tried_again(outcome: Outcome) -> None:
    row = re.search(rf"^\| `{outcome}` \| .+ \| (.*) ?\|$", MESSAGES, re.MULTILINE)
    assert row is not None
    assert (row[1].strip() == "yes") == (outcome in RETRY_HELPS)


@pytest.mark.parametrize("code", ExitCode)
def test_every_exit_code_is_in_the_table(code: ExitCode) -> None:
    page = (DOCS / "reference" / "exit-codes.md").read_text(encoding="utf-8")
    assert f"| {code.value} | {code.name} |" in page


def test_every_decision_is_listed_and_says_its_choice_and_price() -> None:
    index = (DOCS / "decisions" / "README.md").read_text(encoding="utf-8")
    pages = sorted((DOCS / "decisions").glob("[0-9]*.md"))
    assert pages
    for page in pages:
        assert f"]({page.name})" in index


def test_every_relative_link_of_the_docs_leads_somewhere() -> None:
    pages = [*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / "studies").rglob("*.md")]
    broken = [
        f"{page.relative_to(ROOT)}: {link}"
        for page in pages
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert broken == []


def test_the_glossary_has_at_most_45_terms() -> None:
    rows = re.findall(r"^\| (.+?) \|", (ROOT / "GLOSSARY.md").read_text("utf-8"), re.MULTILINE)
    assert sum(len(row.split(",")) for row in rows if row != "term") <= 45
