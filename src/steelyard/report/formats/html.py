"""The report as one HTML file that works offline, on a phone, in the dark and on paper."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from steelyard.judge.findings import RunFindings
from steelyard.report.page.contents import sections
from steelyard.report.page.render import filled, own_text
from steelyard.report.page.section import Page
from steelyard.report.sentences.design import trials_words


def render(
    run: RunFindings,
    *,
    records: str | None = "..",
    beside: Mapping[str, str] | None = None,
) -> str:
    """The whole page. ``records`` is the run's folder as seen from where the page will lie.

    ``None``: the page goes where the records do not. ``beside`` maps formats that lie in the same
    folder to their files.
    """
    page = Page(run, records, beside or {})
    whole = filled(
        "page.html.j2",
        run,
        style=Markup(own_text("page.css")),  # noqa: S704 - our own file, no data in it
        script=Markup(own_text("page.js")),  # noqa: S704 - the same
        sections=sections(page),
        beside=page.beside,
        trials=trials_words(run),
        tool=f"steelyard {run.tool_version}",
        records=records,
    )
    return str(whole)
