"""What a study of several workloads found, at a glance: a line for each of its answers."""

from __future__ import annotations

from steelyard.judge.findings import RunFindings
from steelyard.report.sentences.answer import answer
from steelyard.report.view import views


def glance(run: RunFindings) -> list[str]:
    """The answers of every workload after its name; none where a study has a single workload."""
    several = [view for view in views(run) if view.heading is not None]
    return [view.titled(main.head) for view in several for main, _ in answer(view)]
