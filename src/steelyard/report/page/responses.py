"""Section Other responses: what else was measured, without an error rate of its own."""

from __future__ import annotations

from typing import Any

from steelyard.judge.findings import ResponseFinding
from steelyard.report.page.render import filled
from steelyard.report.page.section import Page, Part, Section
from steelyard.report.sentences.terminal.answer import exploratory_lines
from steelyard.report.tables.responses import response_table, words_of_direction


def responses(page: Page) -> Section | None:
    """``None`` where the primary response is all that was measured."""
    parts = [found for part in page.parts if (found := _part(part))]
    if not parts:
        return None
    count = len({each.name for part in page.parts for each in _others(part)})
    body = filled("sections/responses.html.j2", page.run, parts=parts)
    return Section("responses", "Other responses", body, count)


def _others(part: Part) -> list[ResponseFinding]:
    return [response for response in part.view.own.responses if not response.primary]


def _part(part: Part) -> dict[str, Any] | None:
    others = _others(part)
    if not others:
        return None
    return {
        "name": part.name,
        "charts": part.charts,
        "exploratory": exploratory_lines(part.view),
        "responses": [
            (each, words_of_direction(each), response_table(part.view, each)) for each in others
        ],
    }
