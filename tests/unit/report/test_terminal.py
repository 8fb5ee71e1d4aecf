"""The last screen of a run: the first screen of its report, as text."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.golden.report_examples import CASES

from steelyard.report.formats.terminal import MOST_ROWS, screen_lines
from steelyard.report.from_run import stored
from steelyard.report.sentences.caveats import caveats, on_top
from steelyard.report.sentences.headline import headline
from steelyard.report.sentences.trust import trust_lines

EXAMPLES = sorted(Path(__file__).parents[3].glob("docs/examples/*/findings.json"))
COLUMNS, ROWS = 120, 45


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.parent.name)
def test_the_answer_of_a_real_study_fits_a_screen(example: Path) -> None:
    lines = screen_lines(stored(example), COLUMNS)
    assert len(lines) <= ROWS
    assert max(map(len, lines)) <= COLUMNS


@pytest.mark.parametrize("case", CASES)
def test_the_words_are_those_of_the_report(case: str) -> None:
    findings = CASES[case]()
    lines = screen_lines(findings)
    assert lines[2] == f"{headline(findings).badge.upper()}  {headline(findings).text}"
    for trust in trust_lines(findings):
        assert any(trust.text in line for line in lines)
    for caveat in on_top(caveats(findings)):
        assert f"  -  {caveat.short}" in lines


@pytest.mark.parametrize("case", CASES)
def test_wrapping_loses_no_word(case: str) -> None:
    findings = CASES[case]()
    whole, wrapped = screen_lines(findings), screen_lines(findings, 60)
    assert " ".join(" ".join(wrapped).split()) == " ".join(" ".join(whole).split())


def test_of_many_conditions_the_first_are_shown_and_the_others_counted() -> None:
    lines = screen_lines(CASES["huge"]())
    shown = [line for line in lines if line.endswith(" more rows in the report")]
    assert all(int(line.split()[0]) > 0 for line in shown)
    assert len(lines) < ROWS + MOST_ROWS
