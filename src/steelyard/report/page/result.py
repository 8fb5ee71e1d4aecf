"""Section Result: the answer on one screen, and below it all that is computed of it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from steelyard.report.charts.drawing import Drawing
from steelyard.report.page.marks import drawn_rows
from steelyard.report.page.render import filled
from steelyard.report.page.section import Page, Part, Section
from steelyard.report.sections import AUTHOR, paragraphs, sections
from steelyard.report.sentences.caveats import caveats, on_top
from steelyard.report.sentences.claims import claim_lines
from steelyard.report.sentences.consolidation import consolidation_lines
from steelyard.report.sentences.evidence import evidence
from steelyard.report.sentences.headline import headline
from steelyard.report.sentences.machines import machine_lines
from steelyard.report.sentences.ranking import ranking_lines
from steelyard.report.sentences.terminal.answer import answer
from steelyard.report.sentences.trust import trust_lines
from steelyard.report.tables.claims import claims_table
from steelyard.report.tables.consolidation import consolidation_table
from steelyard.report.tables.effect_rows import EffectRows
from steelyard.report.tables.effects import effect_rows
from steelyard.report.tables.influence import influence_tables
from steelyard.report.tables.interference import interference_tables
from steelyard.report.tables.ranking import ranking_tables
from steelyard.report.tables.responses import response_table
from steelyard.report.tables.shares import divided
from steelyard.report.view import lines, tables, views
from steelyard.report.vocabulary import primary_response

_MOST_CHARTS = 3


def result(page: Page, anchors: Collection[str]) -> Section:
    """Always there: what a page is for. ``anchors`` are what the rest of the page has."""
    run = page.run
    found = caveats(run)
    first = filled(
        "sections/first.html.j2",
        run,
        headline=headline(run),
        evidence=evidence(run),
        effects=[_drawn(each) for each in effect_rows(run)],
        shares=[parts for view in views(run) for e in view.own.influence if (parts := divided(e))],
        trust=trust_lines(run),
        caveats=on_top(found),
        all_caveats=len(found),
        anchors=anchors,
    )
    rest = filled(
        "sections/result.html.j2",
        run,
        parts=[_part(part) for part in page.parts],
        machines=lines(run, machine_lines),
        claims=lines(run, claim_lines),
        claims_tables=tables(run, claims_table),
        interference=interference_tables(run),
        author=AUTHOR,
        paragraphs=paragraphs,
    )
    return Section("result", "Result", first + rest)


def _drawn(table: EffectRows) -> dict[str, Any]:
    drawings, axis = drawn_rows(table)
    rows: list[dict[str, Any]] = []
    for row, drawing in zip(table.rows, drawings, strict=True):
        rows.append({"row": row, "drawing": drawing})
    leads = sum(row.mark.whole for row in table.rows) == 1 < len(rows)
    return {"table": table, "rows": rows, "axis": axis, "leads": leads}


def _first_charts(part: Part) -> list[Drawing]:
    """Three at most: the responses, then the tails of the response times from the highest load."""
    charts = part.charts
    responses = [charts.primary, *charts.secondary[: _MOST_CHARTS - 1]]
    return [each for each in (*responses, *charts.tails[::-1]) if each is not None][:_MOST_CHARTS]


def _part(part: Part) -> dict[str, Any]:
    view = part.view
    primary = primary_response(view)
    return {
        "name": part.name,
        "prefix": part.prefix,
        "charts": part.charts,
        "first": _first_charts(part),
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
