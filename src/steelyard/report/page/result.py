"""Section Result: the answer, and all that is computed of it."""

from __future__ import annotations

from typing import Any

from steelyard.report.page.render import filled
from steelyard.report.page.section import Page, Part, Section
from steelyard.report.sections import AUTHOR, paragraphs, sections
from steelyard.report.sentences.answer import answer
from steelyard.report.sentences.assumptions import warning_lines
from steelyard.report.sentences.claims import claim_lines
from steelyard.report.sentences.consolidation import consolidation_lines
from steelyard.report.sentences.ranking import ranking_lines
from steelyard.report.summary import glance
from steelyard.report.tables.claims import claims_table
from steelyard.report.tables.consolidation import consolidation_table
from steelyard.report.tables.influence import influence_tables
from steelyard.report.tables.interference import interference_tables
from steelyard.report.tables.ranking import ranking_tables
from steelyard.report.tables.responses import response_table
from steelyard.report.view import lines, tables
from steelyard.report.vocabulary import primary_response


def result(page: Page) -> Section:
    """Always there: what a page is for."""
    run = page.run
    body = filled(
        "sections/result.html.j2",
        run,
        glance=glance(run),
        parts=[_part(part) for part in page.parts],
        warnings=lines(run, warning_lines),
        claims=lines(run, claim_lines),
        claims_tables=tables(run, claims_table),
        interference=interference_tables(run),
        author=AUTHOR,
        paragraphs=paragraphs,
    )
    return Section("result", "Result", body)


def _part(part: Part) -> dict[str, Any]:
    view = part.view
    primary = primary_response(view)
    return {
        "name": part.name,
        "prefix": part.prefix,
        "charts": part.charts,
        "answer": answer(view),
        "ranking": ranking_lines(view),
        "rankings": ranking_tables(view),
        "influence": [table for table in influence_tables(view) if table.rows],
        "primary": primary,
        "primary_table": None if primary is None else response_table(view, primary),
        "sections": sections(view),
        "cut": view.own.sections,
        "consolidation": consolidation_lines(view),
        "consolidation_table": consolidation_table(view),
    }
