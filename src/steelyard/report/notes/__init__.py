"""The one room that writes English: a sentence for each kind of note that the judge emits.

Each file holds the writers of one family (``@writes(Kind)``, from ``registry``) and is imported
here, so that ``text`` knows every kind.
"""

from __future__ import annotations

from steelyard.report.notes import caveats, checks, steadiness, stop, verdict, warnings
from steelyard.report.notes.registry import json_text, text, writes, writes_levels

__all__ = [
    "caveats",
    "checks",
    "json_text",
    "steadiness",
    "stop",
    "text",
    "verdict",
    "warnings",
    "writes",
    "writes_levels",
]
