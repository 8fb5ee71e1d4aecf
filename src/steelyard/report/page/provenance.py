"""Sections Environment, Method, Caveats: where and how it was measured, what bounds the claims."""

from __future__ import annotations

from steelyard.report.page.render import filled
from steelyard.report.page.section import Page, Section
from steelyard.report.sentences.assumptions import check_lines
from steelyard.report.sentences.caveats import TITLES
from steelyard.report.sentences.caveats import caveats as all_caveats
from steelyard.report.sentences.design import done_rows
from steelyard.report.sentences.terminal.answer import sure
from steelyard.report.tables.environment import environment_table
from steelyard.report.tables.responses import difference_table
from steelyard.report.view import views
from steelyard.report.vocabulary import compared_all, machines_in


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


def method(page: Page) -> Section:
    """The design, what the error rates rest on, and how to do it again; always there."""
    body = filled(
        "sections/method.html.j2",
        page.run,
        sure=sure(page.run),
        diagnostics=check_lines(page.run),
        done=done_rows(page.run),
        records=page.records,
        machines=[name for view in views(page.run) for name in machines_in(view)],
    )
    return Section("method", "Method", body)


def caveats(page: Page) -> Section | None:
    """All of them, by weight."""
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
