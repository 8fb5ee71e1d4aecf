"""The first screen of a report as text: what a terminal shows when a run has ended."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from steelyard.judge.findings import RunFindings
from steelyard.report.figures import counted
from steelyard.report.sentences.assumptions import failed_attempt_lines
from steelyard.report.sentences.caveats import caveats, on_top
from steelyard.report.sentences.claims import claim_lines
from steelyard.report.sentences.evidence import evidence
from steelyard.report.sentences.failures import lost_lines
from steelyard.report.sentences.headline import headline
from steelyard.report.sentences.machines import machine_lines
from steelyard.report.sentences.trust import State, trust_lines
from steelyard.report.tables.effect_rows import EffectRows
from steelyard.report.tables.effects import effect_rows
from steelyard.report.tables.shares import divided
from steelyard.report.view import lines, views

MOST_ROWS = 10
"""Of a table; the report has them all."""
MOST_FAILURES = 2

_SIGNS = {State.BAD: "!!", State.WARNING: "!", State.UNKNOWN: "?", State.GOOD: "ok"}


def screen_lines(run: RunFindings, columns: int | None = None) -> list[str]:
    """The answer in the words of the report; ``columns`` wraps it, ``None`` leaves long lines."""
    return [part for line in _lines(run) for part in _wrapped(line, columns)]


def _lines(run: RunFindings) -> Iterator[str]:
    variant = f" (variant {run.variant})" if run.variant else ""
    yield f"{run.question}{variant}"
    yield ""
    said, sure = headline(run), evidence(run)
    yield f"{said.badge.upper()}  {said.text}"
    yield f"  {' · '.join(filter(None, (sure.interval, *sure.rest)))}"
    for table in effect_rows(run):
        yield ""
        yield from _table(table)
    for view in views(run):
        for each in view.own.influence:
            parts = ", ".join(f"{part.name} {part.percent} %" for part in divided(each))
            yield from [f"  Shares of the variation: {parts}."] if parts else []
    yield from _titled("Machines", lines(run, machine_lines))
    yield from _titled("Claims", lines(run, claim_lines))
    failed = [*lines(run, failed_attempt_lines), *lines(run, lost_lines)]
    more = len(failed) - MOST_FAILURES
    rest = f" ({more} more in the report)" if more > 0 else ""
    yield from _titled(f"Failures{rest}", failed[:MOST_FAILURES])
    trust = trust_lines(run)
    wide = max(len(line.title) for line in trust)
    yield from _titled(
        "Can it be trusted?",
        [f"{_SIGNS[line.state]:<2}  {line.title:<{wide}}  {line.text}" for line in trust],
    )
    found = caveats(run)
    first = on_top(found)
    yield from _titled("Before relying on it", [f"-  {caveat.short}" for caveat in first])
    if more := len(found) - len(first):
        yield f"  {counted(more, 'more caveat' if first else 'caveat')} in the report"


def _titled(title: str, found: list[str]) -> Iterator[str]:
    if found:
        yield ""
        yield title
        yield from (f"  {line}" for line in found)


def _table(table: EffectRows) -> Iterator[str]:
    """Its columns in line; the first rows, under the groups that they stand in."""
    yield f"{table.caption[:1].upper()}{table.caption[1:]}"
    shown = table.rows[:MOST_ROWS] if len(table.rows) > MOST_ROWS + 1 else table.rows
    cells = [table.head, *(row.cells for row in shown)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    group = ""
    for row in ((table.head, ""), *((row.cells, row.group) for row in shown)):
        if row[1] != group:
            group = row[1]
            yield f" {group}:"
        aligned = (
            cell.rjust(width) if place in table.numeric else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row[0], widths, strict=True))
        )
        yield f"  {'  '.join(aligned).rstrip()}"
    if more := len(table.rows) - len(shown):
        yield f"  {counted(more, 'more row')} in the report"
    yield from (f"  {note}" for note in table.notes[:1])


def _wrapped(line: str, columns: int | None) -> list[str]:
    """Further lines stand under the text of the first, behind its sign and title."""
    if columns is None or len(line) <= columns:
        return [line]
    start = len(line) - len(line.lstrip())
    hanging = max(line.rfind("  ", 0, columns // 3) + 2, start)
    return wrap(line, columns, subsequent_indent=" " * hanging, break_on_hyphens=False)
