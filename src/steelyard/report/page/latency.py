"""Section Latency: distributions of times by system, their course and what they are made of."""

from __future__ import annotations

from typing import Any

from steelyard.report.page.render import filled
from steelyard.report.page.section import Page, Part, Section
from steelyard.report.tables.latency import percentile_table
from steelyard.report.tables.requests import request_tables


def latency(page: Page) -> Section | None:
    """Of workloads whose records hold the distribution of times."""
    parts = [found for part in page.parts if (found := _part(part))]
    if not parts:
        return None
    return Section("latency", "Latency", filled("sections/latency.html.j2", page.run, parts=parts))


def _part(part: Part) -> dict[str, Any] | None:
    tables = request_tables(part.view)
    if not part.view.own.latency and not tables:
        return None
    return {
        "name": part.name,
        "prefix": part.prefix,
        "charts": part.charts,
        "percentiles": percentile_table(part.view),
        "tables": tables,
    }
