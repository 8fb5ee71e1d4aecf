"""Section Latency: distributions of times, by system."""

from __future__ import annotations

from steelyard.report.page.render import filled
from steelyard.report.page.section import Page, Section
from steelyard.report.tables.requests import request_tables


def latency(page: Page) -> Section | None:
    """Of workloads whose records hold the distribution of times."""
    parts = [part for part in page.parts if request_tables(part.view)]
    if not parts:
        return None
    body = filled(
        "sections/latency.html.j2",
        page.run,
        parts=[
            {"name": part.name, "tables": request_tables(part.view), "charts": part.charts}
            for part in parts
        ],
    )
    return Section("latency", "Latency", body)
