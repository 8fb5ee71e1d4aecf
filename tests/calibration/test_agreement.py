"""A script in R, written from the text of the method alone, says the same of 21 studies."""

from __future__ import annotations

import shutil

import pytest
from tests.calibration.agreement import (
    SAID_BY_R,
    STUDIES,
    Said,
    Study,
    disagreements,
    read_said,
    said_by_r,
    said_here,
)

needs_r = pytest.mark.skipif(
    shutil.which("Rscript") is None, reason="R is not installed (Debian: r-base-core)"
)


told_by_r = pytest.mark.skipif(
    not SAID_BY_R.exists(),
    reason="R has not judged by this method yet: python -m tests.calibration.agreement",
)


def kept() -> dict[str, Said]:
    return read_said(SAID_BY_R.read_text(encoding="utf-8"))


@told_by_r
@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.file)
def test_the_judge_agrees_with_what_r_said(study: Study) -> None:
    assert disagreements(said_here(study), kept()[study.file]) == []


@told_by_r
def test_the_studies_hold_every_word_and_undecided() -> None:
    words = {word for said in kept().values() for word in said.words}
    assert words == {"faster", "slower", "equivalent"}
    assert any(not said.words for said in kept().values())


@told_by_r
@needs_r
def test_r_says_today_what_it_said() -> None:
    short = [study.file for study in STUDIES if study.visits <= 16]
    assert len(short) >= 3
    assert read_said(said_by_r(short)) == {file: kept()[file] for file in short}


@told_by_r
@needs_r
@pytest.mark.validate
def test_r_says_today_what_it_said_of_all() -> None:
    assert read_said(said_by_r()) == kept()
