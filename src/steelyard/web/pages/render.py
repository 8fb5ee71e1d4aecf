"""A page and its twin: one document, as HTML from a template and as JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

import steelyard
from steelyard.report.page.render import own_text, typeset
from steelyard.units import format_duration
from steelyard.web.rows import words_of

JSON = ".json"


def shown(
    request: Request, template: str, document: Any, *, status: int = 200, **values: Any
) -> Response:
    """The document as JSON where the address ends so, else the template with it and ``values``."""
    if request.url.path.endswith(JSON):
        return json_answer(document, status)
    text = filled(template, document=document, twin=_twin(request), **values)
    return HTMLResponse(text, status)


def json_answer(document: Any, status: int = 200) -> Response:
    text = document if isinstance(document, str) else json.dumps(document, indent=1) + "\n"
    return Response(text, status, media_type="application/json")


def refusal(request: Request, status: int, message: str, hint: str | None = None) -> Response:
    """Why there is no such page."""
    document = {"error": message, "hint": hint}
    return shown(request, "refused.html.j2", document, status=status, title="Not shown")


def filled(template: str, **values: Any) -> str:
    """A template of this folder."""
    return _environment().get_template(template).render(version=steelyard.__version__, **values)


def style() -> str:
    """The style sheet of reports, and what these pages have besides."""
    own = resources.files("steelyard.web").joinpath("templates", "web.css")
    return own_text("page.css") + own.read_text(encoding="utf-8")


@cache
def script() -> str:
    """What puts the events of a live run on its page."""
    own = resources.files("steelyard.web").joinpath("templates", "live.js")
    return own.read_text(encoding="utf-8")


def address(*parts: str) -> str:
    """A path of this server whose parts may hold anything."""
    return "/" + "/".join(quote(part, safe="") for part in parts)


def run_address(page: str, key: str) -> str:
    """A page of one run: ``/live/STUDY/RUN``."""
    return address(page, *key.split("/", 1))


def moment(unix_ns: int) -> str:
    """A time in UTC, to the minute."""
    try:
        return datetime.fromtimestamp(unix_ns / 1e9, tz=UTC).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return "unknown"


def _twin(request: Request) -> str:
    path = quote(request.url.path.rstrip("/"), safe="/%:@")
    query = request.url.query
    return f"{path}{JSON}?{query}" if query else path + JSON


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=ChoiceLoader([PackageLoader("steelyard.web"), PackageLoader("steelyard.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "typeset": typeset,
        "moment": moment,
        "duration": format_duration,
        "words": words_of,
        "svg": Markup,
    }
    environment.globals |= {"run_address": run_address, "address": address}
    return environment
