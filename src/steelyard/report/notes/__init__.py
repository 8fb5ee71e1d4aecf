"""The one room that writes English: a sentence for each kind of note that the judge emits.

Each file holds the writers of one family (``@writes(Kind)``, from ``registry``) and is imported
here, so that ``text`` knows every kind.
"""

from __future__ import annotations

from steelyard.report.notes import (
    briefs,
    caveats,
    checks,
    disks,
    factors,
    instances,
    missing,
    scaling,
    steadiness,
    stop,
    verdict,
    warnings,
)
from steelyard.report.notes.registry import (
    brief,
    json_text,
    text,
    texts,
    writes,
    writes_levels,
)

__all__ = [
    "brief",
    "briefs",
    "caveats",
    "checks",
    "disks",
    "factors",
    "instances",
    "json_text",
    "missing",
    "scaling",
    "steadiness",
    "stop",
    "text",
    "texts",
    "verdict",
    "warnings",
    "writes",
    "writes_levels",
]
