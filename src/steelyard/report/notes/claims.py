"""Why a claim is undecided or not judged."""

from __future__ import annotations

from steelyard.judge.analyses.claims.findings import NothingToCompare
from steelyard.report.notes.registry import writes


@writes(NothingToCompare)
def _nothing_to_compare(_: NothingToCompare) -> str:
    return "no system is left to be compared"
