"""Section Load: throughput over the load, and what the generator can do."""

from __future__ import annotations

from typing import Any

from steelyard.report.page.render import filled
from steelyard.report.page.section import Page, Part, Section
from steelyard.report.sentences.saturation import saturation_lines
from steelyard.report.tables.responses import calibration_table
from steelyard.report.tables.saturation import saturation_table


def load(page: Page) -> Section | None:
    """``None`` of workloads without a load that varies, and without a calibrated generator."""
    parts = [found for part in page.parts if (found := _part(part))]
    if not parts:
        return None
    return Section("load", "Load", filled("sections/load.html.j2", page.run, parts=parts))


def _part(part: Part) -> dict[str, Any] | None:
    saturation, calibrations = saturation_lines(part.view), calibration_table(part.view)
    if not saturation and not calibrations.rows and not _drawn(part):
        return None
    return {
        "name": part.name,
        "charts": part.charts,
        "saturation": saturation,
        "saturation_table": saturation_table(part.view),
        "calibrations": calibrations,
    }


def _drawn(part: Part) -> bool:
    return part.charts.primary is not None or part.charts.latency_load is not None
