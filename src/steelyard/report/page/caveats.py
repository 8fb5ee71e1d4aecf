"""Section Caveats: what bounds every claim of the page."""

from __future__ import annotations

from steelyard.report.page.render import filled
from steelyard.report.page.section import Page, Section
from steelyard.report.sentences.assumptions import caveat_lines


def caveats(page: Page) -> Section | None:
    """All of them."""
    found = caveat_lines(page.run)
    if not found:
        return None
    body = filled("sections/caveats.html.j2", page.run, caveats=found)
    return Section("caveats", "Caveats", body, len(found))
