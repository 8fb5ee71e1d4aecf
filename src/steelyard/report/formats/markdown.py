"""The report as Markdown: the same words and tables, without pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from steelyard.judge.findings import RunFindings
from steelyard.report.sections import AUTHOR, paragraphs, sections
from steelyard.report.sentences.assumptions import caveat_lines, check_lines, warning_lines
from steelyard.report.sentences.claims import claim_lines
from steelyard.report.sentences.consolidation import consolidation_lines
from steelyard.report.sentences.design import done_rows
from steelyard.report.sentences.failures import damage_lines, failed_lines
from steelyard.report.sentences.headline import DAMAGE, headline
from steelyard.report.sentences.machines import machine_lines
from steelyard.report.sentences.ranking import ranking_lines
from steelyard.report.sentences.saturation import saturation_lines
from steelyard.report.sentences.terminal.answer import answer, exploratory_lines, glance, sure
from steelyard.report.tables.claims import claims_table
from steelyard.report.tables.consolidation import consolidation_table
from steelyard.report.tables.costs import cost_table, placement_table
from steelyard.report.tables.influence import influence_tables
from steelyard.report.tables.interference import interference_tables
from steelyard.report.tables.latency import TITLE as PERCENTILES
from steelyard.report.tables.latency import percentile_table
from steelyard.report.tables.ranking import ranking_tables
from steelyard.report.tables.requests import TITLE as REQUEST_TIMES
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
from steelyard.report.tables.saturation import TITLE, saturation_table
from steelyard.report.view import Table, View, lines, tables, views
from steelyard.report.vocabulary import compared_all

_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_[]#|"} | {"<": "&lt;", ">": "&gt;"})


def markdown_text(run: RunFindings) -> str:
    """The whole report, one blank line between its parts."""
    return "\n\n".join(part for part in _parts(run) if part) + "\n"


def escaped(text: str) -> str:
    """Text that no Markdown reader takes for markup, on one line."""
    return " ".join(text.split()).translate(_SPECIAL)


def _parts(run: RunFindings) -> Iterator[str]:
    variant = f" (variant {run.variant})" if run.variant else ""
    yield f"# {escaped(run.question + variant)}"
    yield from _damage(run)
    yield bullets(glance(run))
    for view in views(run):
        yield from _answers(view)
    yield from _list("Machines", lines(run, machine_lines))
    yield from _list("Claims", lines(run, claim_lines))
    for table in tables(run, claims_table):
        yield grid(table)
    yield from _list("Failures", [*damage_lines(run), *lines(run, failed_lines)])
    yield from _list("Before relying on this", lines(run, warning_lines))
    yield from _list("How sure", sure(run))
    for view in views(run):
        yield from _of_one(view)
    for table in interference_tables(run):
        yield from _titled(escaped(table.caption), table)
    yield from _titled("Attempts that failed", failed_table(run))
    yield from _titled("Trials and attempts", attempt_table(run))
    yield from _titled(f"What differs between the {compared_all(run)}", difference_table(run))
    yield from _list("What was not tested", caveat_lines(run))
    yield from _list("Diagnostics", check_lines(run))
    yield "## How it was done"
    yield bullets(f"{term}: {text}" for term, text in done_rows(run))


def _damage(run: RunFindings) -> Iterator[str]:
    """What comes before every answer."""
    found = headline(run)
    if found.badge == DAMAGE:
        yield f"**{escaped(found.text)}.**"


def _list(title: str, found: Sequence[str]) -> Iterator[str]:
    if found:
        yield f"## {title}"
        yield bullets(found)


def _answers(view: View) -> Iterator[str]:
    yield "" if view.heading is None else f"## {escaped(view.heading)}"
    yield from _ranking(view)
    for main, parts in answer(view):
        yield f"**{escaped(main.head)}**{_tail(main.tail)}"
        yield bullets(parts)


def _of_one(view: View) -> Iterator[str]:
    """What one workload has of its own, between what all of them share."""
    yield from _influence(view)
    yield from _sections(view)
    yield from _responses(view)
    yield from _saturation(view)
    yield from _consolidation(view)
    yield from _request_times(view)
    for title, table in (
        ("Bottlenecks", bottleneck_table(view)),
        ("Generator capacity", calibration_table(view)),
        ("", cost_table(view)),
        ("", placement_table(view)),
        ("", steadiness_table(view)),
    ):
        yield from _titled(view.titled(title or table.caption), table)


def _ranking(view: View) -> Iterator[str]:
    found = ranking_tables(view)
    if found:
        yield bullets(ranking_lines(view))
    for table in found:
        yield f"## {escaped(table.caption)}"
        yield grid(table)
    if found:
        yield "## Comparisons"


def _sections(view: View) -> Iterator[str]:
    for each in sections(view):
        yield f"## {escaped(each.title)}"
        if each.note is not None:
            said = [f"{AUTHOR}:", *paragraphs(each.note)]
            yield "\n>\n".join(f"> {escaped(part)}" for part in said)
        yield grid(each.means)
        yield grid(each.single)


def _responses(view: View) -> Iterator[str]:
    for response in view.own.responses:
        mark = "" if response.primary else f" (exploratory; {words_of_direction(response)})"
        yield f"## {escaped(view.titled(response.label))}{mark}"
        yield grid(response_table(view, response))
    yield bullets(exploratory_lines(view))


def _saturation(view: View) -> Iterator[str]:
    found = saturation_lines(view)
    if found:
        yield f"## {escaped(view.titled(TITLE))}"
        yield bullets(found)
    table = saturation_table(view)
    if table.rows:
        yield grid(table)


def _influence(view: View) -> Iterator[str]:
    found = [table for table in influence_tables(view) if table.rows]
    yield "## Which parameters matter" if found else ""
    for table in found:
        yield f"### {escaped(table.caption)}"
        yield grid(table)


def _consolidation(view: View) -> Iterator[str]:
    found = consolidation_lines(view)
    if found:
        table = consolidation_table(view)
        yield f"## {escaped(view.titled(table.caption))}"
        yield bullets(found)
        yield grid(table)


def _request_times(view: View) -> Iterator[str]:
    yield from _titled(PERCENTILES, percentile_table(view))
    found = request_tables(view)
    if found:
        yield f"## {REQUEST_TIMES}"
    for table in found:
        yield f"### {escaped(table.caption)}"
        yield grid(table)


def _titled(title: str, table: Table) -> Iterator[str]:
    if table.rows:
        yield f"## {title}"
        yield grid(table)


def _tail(text: str) -> str:
    """The rest of a sentence; a space before it is part of it."""
    return (" " if text.startswith(" ") else "") + escaped(text)


def bullets(found: Iterable[str]) -> str:
    """One line each, escaped."""
    return "\n".join(f"- {escaped(each)}" for each in found)


def grid(table: Table) -> str:
    """A table with its notes below it; its caption is left to the heading."""
    rule = ["---:" if i in table.numeric else "---" for i in range(len(table.head))]
    rows = [table.head, *table.rows]
    cells = [[escaped(cell) for cell in row] for row in rows]
    rows_text = [f"| {' | '.join(row)} |" for row in [cells[0], rule, *cells[1:]]]
    notes = [escaped(note) for note in table.notes]
    return "\n".join(rows_text) + ("\n\n" + " ".join(notes) if notes else "")
