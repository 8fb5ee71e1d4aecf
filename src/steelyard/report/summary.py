"""What a study of several workloads found, at a glance: a line for each of its answers."""

from __future__ import annotations

from steelyard.judge.findings import Findings
from steelyard.report.words import answer


def glance(findings: Findings) -> list[str]:
    """The answers of every workload after its name; none where a study has a single workload."""
    return [
        f"{each.workload}: {main.head}" for each in findings.workloads for main, _ in answer(each)
    ]
