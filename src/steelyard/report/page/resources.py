"""Section Resources: what was used up, over time and by instance."""

from __future__ import annotations

from typing import Any

from steelyard.report.charts.all import Charts
from steelyard.report.figures import counted
from steelyard.report.page.render import filled
from steelyard.report.page.section import Page, Part, Section
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
        "charts": part.charts,
        "tables": [table for table in tables if table.rows],
        "placements": placements,
        "note": _note(part.charts),
    }


def _note(charts: Charts) -> str:
    if not charts.resources:
        return ""
    drawn = max(panels.trials_drawn for panels in charts.resources)
    sampled = max(panels.trials_sampled for panels in charts.resources)
    if drawn == sampled:
        return f"Each thin line is one trial; all {counted(sampled, 'sampled trial')} are drawn."
    return (
        f"Each thin line is one trial; up to {drawn} of {counted(sampled, 'sampled trial')} are "
        "drawn for each resource, chosen evenly over the run and the conditions."
    )
