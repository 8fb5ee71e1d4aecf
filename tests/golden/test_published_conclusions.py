"""The page on published conclusions says what the findings under ``docs/examples`` say.

``STEELYARD_ACCEPT=1 pytest tests/golden/test_published_conclusions.py`` writes it anew.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest
from bench.published.conclusions import Ask, Conclusion, read_conclusions
from bench.published.page import CONCLUSIONS, STUDIES, page

from steelyard.report.from_run import stored
from steelyard.study.model import Study
from steelyard.study.read import read_study
from steelyard.study.workload_study import studies

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
PAGE = EXAMPLES / "published-conclusions.md"
ACCEPT = os.environ.get("STEELYARD_ACCEPT") == "1"
WORDS = {"faster", "slower", "equivalent", "supported", "uneven"}
SOURCES, ALL = read_conclusions(CONCLUSIONS)
ASKS = [ask for conclusion in ALL for ask in conclusion.asks]


@cache
def study_of(place: str, variant: str | None) -> Study:
    return read_study(STUDIES / place, variant=variant)


def test_the_page_says_what_the_findings_say_today() -> None:
    kept = {
        str(path.parent.relative_to(EXAMPLES)): stored(path)
        for path in sorted(EXAMPLES.rglob("findings.json"))
    }
    said = page(kept)
    if ACCEPT:
        PAGE.write_text(said, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == said


@pytest.mark.parametrize("ask", ASKS, ids=lambda ask: f"{ask.study}-{ask.variant}-{ask.asked}")
def test_what_is_asked_is_asked_by_its_study(ask: Ask) -> None:
    study = study_of(ask.study, ask.variant)
    if ask.claim is not None:
        assert ask.claim in {claim.id for claim in study.claims}
        return
    compared = {str(level) for level in study.compared} | set(study.systems)
    assert ask.other in compared
    assert ask.other != study.baseline
    own = [each for each in studies(study) if ask.workload in (None, each.workload_name)]
    assert own
    assert ask.even or all(ask.response in each.responses for each in own)
    factors = {name: levels for each in own for name, levels in each.factors.items()}
    assert {name for name, level in ask.at.items() if level not in factors.get(name, ())} == set()


@pytest.mark.parametrize("conclusion", ALL, ids=lambda conclusion: conclusion.says[:40])
def test_a_conclusion_has_a_source_and_an_answer_or_a_reason(conclusion: Conclusion) -> None:
    assert conclusion.source in SOURCES
    assert conclusion.asks or conclusion.here
    assert conclusion.agrees <= WORDS
    assert bool(conclusion.agrees) == bool(conclusion.asks)
