"""Section Resources: what was used up, over time and by instance."""

from __future__ import annotations

from typing import Any

from steelyard.report.page.render import filled
from steelyard.report.page.section import Page, Part, Section
from steelyard.report.sentences.charts import resource_note
from steelyard.report.tables.costs import cost_table, placement_table
from steelyard.report.tables.responses import bottleneck_table


def resources(page: Page) -> Section | None:
    """``None`` where nothing was sampled and nothing named what was used up."""
    parts = [found for part in page.parts if (found := _part(part))]
    if not parts:
        return None
    body = filled("sections/resources.html.j2", page.run, parts=parts)
    return Section("resources", "Resources", body)


def _part(part: Part) -> dict[str, Any] | None:
    tables = [bottleneck_table(part.view), cost_table(part.view)]
    placements = placement_table(part.view)
    if not part.charts.resources and not placements.rows and not any(t.rows for t in tables):
        return None
    return {
        "name": part.name,
        "prefix": part.prefix,
        "charts": part.charts,
        "tables": [table for table in tables if table.rows],
        "placements": placements,
        "note": resource_note(part.view),
    }
