"""The last screen of a run: the answer, in the words of the report."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.cli.console import say, tell
from steelyard.judge.findings import RunFindings
from steelyard.report.sentences.answer import verdict_lines


def print_answer(findings: RunFindings, reports: Sequence[str], further: str | None) -> None:
    """With where the reports are, and the command that may decide more."""
    for line in verdict_lines(findings):
        say(line)
    for path in reports:
        say(f"report: {path}")
    if further is not None:
        tell(f"for as many visits again: {further}")
