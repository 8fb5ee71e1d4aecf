"""Templates, and how plain text is set on the page."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from steelyard.judge.findings import RunFindings
from steelyard.report.charts.colours import SYSTEM_COLOURS, SYSTEM_SHAPES
from steelyard.report.charts.drawing import Figures
from steelyard.report.charts.svg.symbol import symbol

_LEGEND_AREA = 90
_NOT_IN_HTML = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
"""Control characters, which what a tool printed may have in it."""


def filled(template: str, run: RunFindings, **values: Any) -> Markup:
    """A template of the folder ``templates`` with these values."""
    text = (
        _environment()
        .get_template(template)
        .render(
            findings=run,
            legend=_legend(run),
            several=len(run.workloads) > 1,
            conditions=any(own.conditions for own in run.workloads),
            **values,
        )
    )
    return Markup(_NOT_IN_HTML.sub("?", text))  # noqa: S704 - templates escape what they are given


@cache
def own_text(name: str) -> str:
    """A style sheet or script of the folder, which holds no data."""
    folder = resources.files("steelyard.report").joinpath("templates")
    return folder.joinpath(name).read_text(encoding="utf-8")


def typeset(text: str) -> Markup:
    """Plain words as a book sets them: true minus, a space before each percent sign,
    figures kept with their unit.
    """
    shown = re.sub(r"(?<![\w.-])-(?=\d)", "−", str(text))
    shown = re.sub(r"(?<=\d)%(?!\w)", " %", shown)
    shown = re.sub(r"(?<=\d) (?=%|visits?|trials?|attempts?|users?)", "\u00a0", shown)
    return escape(shown)


def data_link(figures: Figures) -> str:
    """The figures of a picture as an address that holds them itself."""
    return "data:text/csv;charset=utf-8," + quote(figures.csv(), safe=",;:/()'")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("steelyard.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["typeset"] = typeset
    environment.filters["opening"] = lambda text: text[:1].upper() + text[1:]
    environment.filters["data_link"] = data_link
    environment.filters["svg"] = Markup  # drawings escape their own text
    return environment


def _legend(run: RunFindings) -> list[tuple[str, str, int]]:
    return [
        (
            system,
            symbol(SYSTEM_SHAPES[i % len(SYSTEM_SHAPES)], _LEGEND_AREA),
            i % len(SYSTEM_COLOURS),
        )
        for i, system in enumerate(run.systems)
    ]
