"""Section Method: the design, what the error rates rest on, and how to do it again."""

from __future__ import annotations

from steelyard.report.page.render import filled
from steelyard.report.page.section import Page, Section
from steelyard.report.sentences.answer import sure
from steelyard.report.sentences.assumptions import check_lines
from steelyard.report.sentences.design import done_rows


def method(page: Page) -> Section:
    """Always there."""
    body = filled(
        "sections/method.html.j2",
        page.run,
        sure=sure(page.run),
        diagnostics=check_lines(page.run),
        done=done_rows(page.run),
        records=page.records,
    )
    return Section("method", "Method", body)
