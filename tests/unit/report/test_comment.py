"""The comment of a pull request: found by its first line, no longer than servers take."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.judge.findings import RunFindings
from steelyard.report.formats.comment import LONGEST, comment_text, marker
from steelyard.report.from_run import stored

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "ci-gate" / "findings.json"


@pytest.fixture(scope="module")
def run() -> RunFindings:
    return stored(EXAMPLE)


def test_a_comment_begins_with_its_marker_and_folds_what_the_answer_rests_on(
    run: RunFindings,
) -> None:
    text = comment_text(run)
    assert text.splitlines()[0] == marker(run)
    answer, _, folded = text.partition("<details>")
    assert "## Claims" in answer
    assert "## How sure" in folded
    assert folded.rstrip().endswith("</details>")


def test_two_variants_of_a_study_have_comments_of_their_own(run: RunFindings) -> None:
    assert marker(run) != marker(run.model_copy(update={"variant": "unchanged"}))


def test_no_name_of_a_study_ends_the_marker_early(run: RunFindings) -> None:
    told = marker(run.model_copy(update={"study": "a-->b", "variant": "--"}))
    assert told.index("--") == 2
    assert told.index("-->") == len(told) - 3


def test_a_long_report_is_cut_to_what_servers_take(run: RunFindings) -> None:
    long = run.model_copy(update={"question": "why? " * LONGEST})
    text = comment_text(long)
    assert len(text) <= LONGEST + 100
    assert text.startswith(marker(run))
