"""The report as one HTML file that works offline, on a phone, in the dark and on paper."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from steelyard.judge.findings import ResponseFinding, RunFindings
from steelyard.report.charts.all import Charts, all_charts
from steelyard.report.charts.drawing import SYSTEM_COLOURS, SYSTEM_SHAPES
from steelyard.report.charts.time import Series
from steelyard.report.figures import counted
from steelyard.report.sections import AUTHOR, paragraphs, sections
from steelyard.report.sentences.answer import answer, exploratory_lines, sure
from steelyard.report.sentences.assumptions import caveat_lines, check_lines, warning_lines
from steelyard.report.sentences.claims import claim_lines
from steelyard.report.sentences.consolidation import consolidation_lines
from steelyard.report.sentences.design import done_rows
from steelyard.report.sentences.failures import failed_lines
from steelyard.report.sentences.ranking import ranking_lines
from steelyard.report.sentences.saturation import saturation_lines
from steelyard.report.summary import glance
from steelyard.report.tables.claims import claims_table
from steelyard.report.tables.consolidation import consolidation_table
from steelyard.report.tables.costs import cost_table, placement_table
from steelyard.report.tables.influence import influence_tables
from steelyard.report.tables.interference import interference_tables
from steelyard.report.tables.ranking import ranking_tables
from steelyard.report.tables.requests import request_tables
from steelyard.report.tables.responses import (
    attempt_table,
    bottleneck_table,
    calibration_table,
    difference_table,
    failed_table,
    response_table,
    steadiness_table,
    words_of_direction,
)
from steelyard.report.tables.saturation import saturation_table
from steelyard.report.tables.table import Table
from steelyard.report.view import View, lines, tables, views
from steelyard.report.vocabulary import compared_all, primary_response

_SHAPE_PATHS = {
    "circle": "M6 1.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9",
    "triangle-up": "M6 1l5 9.5h-10z",
    "square": "M2 2h8v8h-8z",
    "diamond": "M6 .5l5 5.5l-5 5.5l-5-5.5z",
    "cross": "M4.5 1h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z",
    "triangle-down": "M1 1.5h10l-5 9.5z",
}


def render(run: RunFindings, series: Series, *, records: str | None = "..") -> str:
    """The whole page. ``records`` is the run's folder as seen from where the page will lie.

    ``None``: the page goes where the records do not.
    """
    return _template().render(
        findings=run,
        several=len(run.workloads) > 1,
        conditions=any(own.conditions for own in run.workloads),
        compared=compared_all(run),
        style=Markup(_style()),  # noqa: S704 - our own file, no data in it
        glance=glance(run),
        views=[_view(view, series) for view in views(run)],
        claims=lines(run, claim_lines),
        claims_tables=tables(run, claims_table),
        failures=lines(run, failed_lines),
        warnings=lines(run, warning_lines),
        sure=sure(run),
        caveats=caveat_lines(run),
        diagnostics=check_lines(run),
        legend=_legend(run),
        interference=interference_tables(run),
        failed=failed_table(run),
        attempts=attempt_table(run),
        differences=difference_table(run),
        done=done_rows(run),
        records=records,
        author=AUTHOR,
        paragraphs=paragraphs,
    )


def _view(view: View, series: Series) -> dict[str, Any]:
    """All that stands in the page for one workload; ``prefix`` keeps its identifiers apart."""
    charts = all_charts(view, series)
    primary = primary_response(view)
    return {
        "name": view.heading,
        "prefix": "" if view.heading is None else f"{view.heading}-",
        "answer": answer(view),
        "ranking": ranking_lines(view),
        "rankings": ranking_tables(view),
        "influence": [table for table in influence_tables(view) if table.rows],
        "charts": charts,
        "primary": primary,
        "primary_table": None if primary is None else response_table(view, primary),
        "secondary": _secondary(view),
        "exploratory": exploratory_lines(view),
        "saturation": saturation_lines(view),
        "consolidation": consolidation_lines(view),
        "consolidation_table": consolidation_table(view),
        "saturation_table": saturation_table(view),
        "sections": sections(view),
        "cut": view.own.sections,
        "costs": cost_table(view),
        "placements": placement_table(view),
        "request_tables": request_tables(view),
        "limits": bottleneck_table(view),
        "calibrations": calibration_table(view),
        "steadiness": steadiness_table(view),
        "resources_note": _resources_note(charts),
    }


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("steelyard.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["typeset"] = typeset
    environment.filters["opening"] = lambda text: text[:1].upper() + text[1:]
    environment.filters["svg"] = Markup  # drawings escape their own text
    return environment.get_template("report.html.j2")


@cache
def _style() -> str:
    folder = resources.files("steelyard.report").joinpath("templates")
    return folder.joinpath("report.css").read_text(encoding="utf-8")


def typeset(text: str) -> Markup:
    """Plain words as a book sets them: true minus, range dashes, figures kept with their unit."""
    shown = re.sub(r"(?<![\w.-])-(?=\d)", "−", str(text))
    shown = re.sub(r"(?<=\d)\.\.(?=\d|1/)", "–", shown)
    shown = re.sub(r"(?<=\d)\.\.(?=[+−])", " to ", shown)
    shown = re.sub(r"(?<=\d) (?=%|visits?|trials?|attempts?|users?)", "\u00a0", shown)
    return escape(shown)


def _legend(run: RunFindings) -> list[tuple[str, str, int]]:
    return [
        (system, _SHAPE_PATHS[SYSTEM_SHAPES[i % len(SYSTEM_SHAPES)]], i % len(SYSTEM_COLOURS))
        for i, system in enumerate(run.systems)
    ]


def _secondary(view: View) -> list[tuple[ResponseFinding, str, Table]]:
    return [
        (response, words_of_direction(response), response_table(view, response))
        for response in view.own.responses
        if not response.primary
    ]


def _resources_note(charts: Charts) -> str:
    if not charts.resources:
        return "No resource was sampled."
    drawn = max(panels.trials_drawn for panels in charts.resources)
    sampled = max(panels.trials_sampled for panels in charts.resources)
    if drawn == sampled:
        return f"Each thin line is one trial; all {counted(sampled, 'sampled trial')} are drawn."
    return (
        f"Each thin line is one trial; up to {drawn} of {counted(sampled, 'sampled trial')} are "
        "drawn for each resource, chosen evenly over the run and the conditions."
    )
