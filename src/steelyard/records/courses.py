"""Throughput within the window of a trial, as the generator counted it interval by interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_NS_PER_S = 1e9


@dataclass(frozen=True)
class Course:
    """Good answers a second in equal intervals from the window's start on."""

    interval_s: float
    per_s: tuple[float, ...]


def course_of(documents: list[dict[str, Any]]) -> Course | None:
    """The course over all loads of a trial, which share their intervals; ``None`` without rows.

    The last row may be shorter than the rest, and answers after the window's end are counted in
    it: it is left out.
    """
    rows = [document.get("series") or [] for document in documents]
    whole = min((len(each) for each in rows), default=0) - 1
    if whole < 2:
        return None
    starts = [row["start_ns"] for row in rows[0][: whole + 1]]
    interval_s = (starts[-1] - starts[0]) / whole / _NS_PER_S
    counts = [sum(each[place]["ok"] for each in rows) for place in range(whole)]
    return Course(interval_s, tuple(count / interval_s for count in counts))
