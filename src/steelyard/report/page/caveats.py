"""Section Caveats: what bounds every claim of the page, by weight."""

from __future__ import annotations

from steelyard.report.page.render import filled
from steelyard.report.page.section import Page, Section
from steelyard.report.sentences.caveats import TITLES
from steelyard.report.sentences.caveats import caveats as all_caveats


def caveats(page: Page) -> Section | None:
    """All of them."""
    found = all_caveats(page.run)
    if not found:
        return None
    groups = [
        (title, [each.text for each in found if each.weight is weight])
        for weight, title in TITLES.items()
    ]
    told = [(title, texts) for title, texts in groups if texts]
    body = filled("sections/caveats.html.j2", page.run, groups=told)
    return Section("caveats", "Caveats", body, len(found))
