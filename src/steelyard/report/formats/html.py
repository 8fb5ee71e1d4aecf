"""The report as one HTML file that works offline, on a phone, in the dark and on paper."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from steelyard.judge.findings import Findings, ResponseFinding
from steelyard.report.assumptions import caveat_lines, check_lines, sure_lines, warning_lines
from steelyard.report.charts.all import Charts, all_charts
from steelyard.report.charts.drawing import SYSTEM_COLOURS, SYSTEM_SHAPES
from steelyard.report.charts.time import Series
from steelyard.report.each_workload import NO_GRAND_MEAN, each_of, tables, told
from steelyard.report.figures import counted
from steelyard.report.sections import AUTHOR, paragraphs, sections
from steelyard.report.summary import glance
from steelyard.report.tables.claims import claim_lines, claims_table
from steelyard.report.tables.consolidation import consolidation_lines, consolidation_table
from steelyard.report.tables.costs import cost_table, placement_table
from steelyard.report.tables.failures import failed_lines
from steelyard.report.tables.influence import influence_tables
from steelyard.report.tables.interference import interference_tables
from steelyard.report.tables.ranking import ranking_lines, ranking_tables
from steelyard.report.tables.requests import request_lines, request_tables
from steelyard.report.tables.responses import (
    Table,
    attempt_table,
    calibration_table,
    difference_table,
    done_rows,
    failed_table,
    limits_table,
    response_table,
    steadiness_table,
    words_of_direction,
)
from steelyard.report.tables.saturation import saturation_lines, saturation_table
from steelyard.report.vocabulary import compared_all, primary_response
from steelyard.report.words import answer, exploratory_lines

_SHAPE_PATHS = {
    "circle": "M6 1.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 1 0 0-9",
    "triangle-up": "M6 1l5 9.5h-10z",
    "square": "M2 2h8v8h-8z",
    "diamond": "M6 .5l5 5.5l-5 5.5l-5-5.5z",
    "cross": "M4.5 1h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z",
    "triangle-down": "M1 1.5h10l-5 9.5z",
}


def render(findings: Findings, series: Series, *, records: str | None = "..") -> str:
    """The whole page. ``records`` is the run's folder as seen from where the page will lie.

    ``None``: the page goes where the records do not.
    """
    return _template().render(
        findings=findings,
        compared=compared_all(findings),
        style=Markup(_style()),  # noqa: S704 - our own file, no data in it
        glance=glance(findings),
        views=[_view(each, series) for each in each_of(findings)],
        claims=told(findings, claim_lines),
        claims_tables=tables(findings, claims_table),
        failures=told(findings, failed_lines),
        warnings=told(findings, warning_lines),
        sure=[*told(findings, sure_lines), *([NO_GRAND_MEAN] if findings.workloads else [])],
        caveats=told(findings, caveat_lines),
        diagnostics=told(findings, check_lines),
        legend=_legend(findings),
        interference=interference_tables(findings),
        failed=failed_table(findings),
        attempts=attempt_table(findings),
        differences=difference_table(findings),
        done=done_rows(findings),
        records=records,
        author=AUTHOR,
        paragraphs=paragraphs,
    )


def _view(findings: Findings, series: Series) -> dict[str, Any]:
    """All that stands in the page for one workload; ``prefix`` keeps its identifiers apart."""
    charts = all_charts(findings, series)
    primary = primary_response(findings)
    return {
        "name": findings.workload,
        "prefix": "" if findings.workload is None else f"{findings.workload}-",
        "answer": answer(findings),
        "ranking": ranking_lines(findings),
        "rankings": ranking_tables(findings),
        "influence": [table for table in influence_tables(findings) if table.rows],
        "charts": charts,
        "primary": primary,
        "primary_table": None if primary is None else response_table(findings, primary),
        "secondary": _secondary(findings),
        "exploratory": exploratory_lines(findings),
        "saturation": saturation_lines(findings),
        "consolidation": consolidation_lines(findings),
        "consolidation_table": consolidation_table(findings),
        "saturation_table": saturation_table(findings),
        "sections": sections(findings),
        "cut": findings.sections,
        "costs": cost_table(findings),
        "placements": placement_table(findings),
        "requests": request_lines(findings),
        "request_tables": request_tables(findings),
        "limits": limits_table(findings),
        "calibrations": calibration_table(findings),
        "steadiness": steadiness_table(findings),
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


def _legend(findings: Findings) -> list[tuple[str, str, int]]:
    return [
        (system, _SHAPE_PATHS[SYSTEM_SHAPES[i % len(SYSTEM_SHAPES)]], i % len(SYSTEM_COLOURS))
        for i, system in enumerate(findings.systems)
    ]


def _secondary(findings: Findings) -> list[tuple[ResponseFinding, str, Table]]:
    return [
        (response, words_of_direction(response), response_table(findings, response))
        for response in findings.responses
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
