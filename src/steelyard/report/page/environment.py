"""Section Environment: where it was measured, and what differs between the systems."""

from __future__ import annotations

from steelyard.report.page.render import filled
from steelyard.report.page.section import Page, Section
from steelyard.report.tables.environment import environment_table
from steelyard.report.tables.responses import difference_table
from steelyard.report.vocabulary import compared_all


def environment(page: Page) -> Section:
    """Always there: no difference is an answer too."""
    body = filled(
        "sections/environment.html.j2",
        page.run,
        machines=environment_table(page.run),
        compared=compared_all(page.run),
        differences=difference_table(page.run),
    )
    return Section("environment", "Environment", body)
