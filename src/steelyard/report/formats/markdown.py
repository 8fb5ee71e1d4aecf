"""The report as Markdown: the same words and tables, without pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steelyard.judge.findings import Findings
from steelyard.report.assumptions import caveat_lines, check_lines, sure_lines, warning_lines
from steelyard.report.each_workload import NO_GRAND_MEAN, each_of, tables, titled, told
from steelyard.report.sections import AUTHOR, paragraphs, sections
from steelyard.report.summary import glance
from steelyard.report.tables.claims import claim_lines, claims_table
from steelyard.report.tables.consolidation import consolidation_lines, consolidation_table
from steelyard.report.tables.costs import cost_table, placement_table
from steelyard.report.tables.failures import failed_lines
from steelyard.report.tables.influence import influence_tables
from steelyard.report.tables.interference import interference_tables
from steelyard.report.tables.ranking import ranking_lines, ranking_tables
from steelyard.report.tables.requests import TITLE as REQUEST_TIMES
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
from steelyard.report.tables.saturation import TITLE, saturation_lines, saturation_table
from steelyard.report.vocabulary import compared_all
from steelyard.report.words import answer, exploratory_lines

_SPECIAL = str.maketrans({c: f"\\{c}" for c in "\\`*_[]#|"} | {"<": "&lt;", ">": "&gt;"})


def markdown_text(findings: Findings) -> str:
    """The whole report, one blank line between its parts."""
    return "\n\n".join(part for part in _parts(findings) if part) + "\n"


def escaped(text: str) -> str:
    """Text that no Markdown reader takes for markup, on one line."""
    return " ".join(text.split()).translate(_SPECIAL)


def _parts(findings: Findings) -> Iterator[str]:
    variant = f" (variant {findings.variant})" if findings.variant else ""
    yield f"# {escaped(findings.question + variant)}"
    yield _bullets(glance(findings))
    for each in each_of(findings):
        yield from _answers(each)
    claims = told(findings, claim_lines)
    yield "## Claims" if claims else ""
    yield _bullets(claims)
    for table in tables(findings, claims_table):
        yield _grid(table)
    failed = told(findings, failed_lines)
    yield "## Failures" if failed else ""
    yield _bullets(failed)
    warnings = told(findings, warning_lines)
    yield "## Before relying on this" if warnings else ""
    yield _bullets(warnings)
    yield "## How sure"
    yield _bullets([*told(findings, sure_lines), *_apart(findings)])
    for each in each_of(findings):
        yield from _of_one(each)
    for table in interference_tables(findings):
        yield from _titled(escaped(table.caption), table)
    yield from _titled("Attempts that did not end well", failed_table(findings))
    yield from _titled("Trials and attempts", attempt_table(findings))
    yield from _titled(
        f"What differs between the {compared_all(findings)}", difference_table(findings)
    )
    caveats = told(findings, caveat_lines)
    yield "## What was not tested" if caveats else ""
    yield _bullets(caveats)
    diagnostics = told(findings, check_lines)
    yield "## Diagnostics" if diagnostics else ""
    yield _bullets(diagnostics)
    yield "## How it was done"
    yield _bullets(f"{term}: {text}" for term, text in done_rows(findings))


def _answers(findings: Findings) -> Iterator[str]:
    yield "" if findings.workload is None else f"## {escaped(findings.workload)}"
    yield from _ranking(findings)
    for main, parts in answer(findings):
        yield f"**{escaped(main.head)}**{_tail(main.tail)}"
        yield _bullets(parts)


def _apart(findings: Findings) -> list[str]:
    return [NO_GRAND_MEAN] if findings.workloads else []


def _of_one(findings: Findings) -> Iterator[str]:
    """What one workload has of its own, between what all of them share."""
    yield from _influence(findings)
    yield from _sections(findings)
    yield from _responses(findings)
    yield from _saturation(findings)
    yield from _consolidation(findings)
    yield from _request_times(findings)
    for title, table in (
        ("What limited the trials", limits_table(findings)),
        ("The generator's own limits", calibration_table(findings)),
        ("", cost_table(findings)),
        ("", placement_table(findings)),
        ("", steadiness_table(findings)),
    ):
        yield from _titled(titled(title or table.caption, findings), table)


def _ranking(findings: Findings) -> Iterator[str]:
    found = ranking_tables(findings)
    if found:
        yield _bullets(ranking_lines(findings))
    for table in found:
        yield f"## {escaped(table.caption)}"
        yield _grid(table)
    if found:
        yield "## Comparisons"


def _sections(findings: Findings) -> Iterator[str]:
    for each in sections(findings):
        yield f"## {escaped(each.title)}"
        if each.note is not None:
            said = [f"{AUTHOR}:", *paragraphs(each.note)]
            yield "\n>\n".join(f"> {escaped(part)}" for part in said)
        yield _grid(each.means)
        yield _grid(each.single)


def _responses(findings: Findings) -> Iterator[str]:
    for response in findings.responses:
        mark = "" if response.primary else f" (exploratory; {words_of_direction(response)})"
        yield f"## {escaped(titled(response.label, findings))}{mark}"
        yield _grid(response_table(findings, response))
    yield _bullets(exploratory_lines(findings))


def _saturation(findings: Findings) -> Iterator[str]:
    lines = saturation_lines(findings)
    if lines:
        yield f"## {escaped(titled(TITLE, findings))}"
        yield _bullets(lines)
    table = saturation_table(findings)
    if table.rows:
        yield _grid(table)


def _influence(findings: Findings) -> Iterator[str]:
    found = [table for table in influence_tables(findings) if table.rows]
    yield "## Which parameters matter" if found else ""
    for table in found:
        yield f"### {escaped(table.caption)}"
        yield _grid(table)


def _consolidation(findings: Findings) -> Iterator[str]:
    lines = consolidation_lines(findings)
    if lines:
        table = consolidation_table(findings)
        yield f"## {escaped(titled(table.caption, findings))}"
        yield _bullets(lines)
        yield _grid(table)


def _request_times(findings: Findings) -> Iterator[str]:
    tables = request_tables(findings)
    if tables:
        yield f"## {REQUEST_TIMES}"
        yield _bullets(request_lines(findings))
    for table in tables:
        yield f"### {escaped(table.caption)}"
        yield _grid(table)


def _titled(title: str, table: Table) -> Iterator[str]:
    if table.rows:
        yield f"## {title}"
        yield _grid(table)


def _tail(text: str) -> str:
    """The rest of a sentence; a space before it is part of it."""
    return (" " if text.startswith(" ") else "") + escaped(text)


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {escaped(line)}" for line in lines)


def _grid(table: Table) -> str:
    rule = ["---:" if i in table.numeric else "---" for i in range(len(table.head))]
    rows = [table.head, *table.rows]
    cells = [[escaped(cell) for cell in row] for row in rows]
    lines = [f"| {' | '.join(row)} |" for row in [cells[0], rule, *cells[1:]]]
    notes = [escaped(note) for note in table.notes]
    return "\n".join(lines) + ("\n\n" + " ".join(notes) if notes else "")
