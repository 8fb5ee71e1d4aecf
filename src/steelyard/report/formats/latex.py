r"""The tables of a report for a paper: a fragment to ``\input``, in need of ``longtable``,
``booktabs`` and ``array`` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from steelyard.judge.findings import RunFindings
from steelyard.report.sections import AUTHOR, paragraphs, sections
from steelyard.report.sentences.answer import answer
from steelyard.report.sentences.assumptions import sure_lines, warning_lines
from steelyard.report.sentences.claims import claim_lines
from steelyard.report.sentences.design import done_rows
from steelyard.report.summary import glance
from steelyard.report.tables.claims import claims_table
from steelyard.report.tables.costs import cost_table
from steelyard.report.tables.responses import failed_table, response_table
from steelyard.report.tables.table import Table
from steelyard.report.view import View, lines, views

_SPECIAL = str.maketrans(
    {c: f"\\{c}" for c in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "µ": r"\textmu{}",
        "–": "--",
        "·": r"\textperiodcentered{}",
        "±": r"\textpm{}",
    }
)
_BROKEN = r">{{\raggedright\arraybackslash}}p{{\dimexpr {share:.3f}\linewidth-2\tabcolsep\relax}}"
_LINE = 80
_NARROWEST, _WIDEST = 6, 22


def latex_text(run: RunFindings) -> str:
    """The whole fragment, one blank line between its parts."""
    return "\n\n".join(part for part in _parts(run) if part) + "\n"


def escaped(text: str) -> str:
    """Text that LaTeX sets as it is: no commands in it, true minus, dashes in ranges."""
    safe = " ".join(text.split()).translate(_SPECIAL)
    return re.sub(r"(?<![\w.-])-(?=\d)", "$-$", safe)


def _parts(run: RunFindings) -> Iterator[str]:
    variant = f" (variant {run.variant})" if run.variant else ""
    yield f"% Made by steelyard {run.tool_version} from run {run.run}; not by hand."
    yield r"% \usepackage{longtable,booktabs,array}"
    yield rf"\section{{{escaped(run.question + variant)}}}"
    yield _list(glance(run))
    for view in views(run):
        yield "" if view.heading is None else rf"\subsection{{{escaped(view.heading)}}}"
        for main, parts in answer(view):
            yield rf"\textbf{{{escaped(main.head)}}}{_tail(main.tail)}"
            yield _list(parts)
    yield _list(lines(run, warning_lines))
    for view in views(run):
        yield from _titled(view.titled("Claims"), claim_lines(view), claims_table(view))
        yield from _of_one(view)
    yield from _titled("Attempts that failed", [], failed_table(run))
    yield from _titled("How sure", lines(run, sure_lines), None)
    yield r"\subsection{How it was done}"
    yield _list(f"{term}: {text}" for term, text in done_rows(run))


def _of_one(view: View) -> Iterator[str]:
    """The tables of one workload."""
    for each in sections(view):
        yield rf"\subsection{{{escaped(view.titled(each.title))}}}"
        if each.note is not None:
            yield rf"\paragraph{{{escaped(AUTHOR)}}}"
            yield from (escaped(part) for part in paragraphs(each.note))
        yield grid(each.means)
        yield grid(each.single)
    for response in view.own.responses:
        yield rf"\subsection{{{escaped(view.titled(response.label))}}}"
        yield grid(response_table(view, response))
    costs = cost_table(view)
    yield from _titled(view.titled(costs.caption), [], costs)


def _titled(title: str, items: list[str], table: Table | None) -> Iterator[str]:
    if items or (table is not None and table.rows):
        yield rf"\subsection{{{escaped(title)}}}"
        yield _list(items)
        yield "" if table is None else grid(table)


def grid(table: Table) -> str:
    """One table that may run over pages; its notes below it. A wide one breaks its cells."""
    if not table.rows:
        return ""
    rows = [r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}"]
    rows += [rf"\begin{{longtable}}{{{_columns(table)}}}", r"\toprule", _row(table.head)]
    rows += [r"\midrule", r"\endhead", r"\bottomrule", r"\endlastfoot"]
    rows += [_row(each) for each in table.rows]
    rows += [r"\end{longtable}", r"\endgroup"]
    notes = [escaped(note) for note in table.notes]
    return "\n".join(rows) + ("\n\n" + " ".join(notes) if notes else "")


def _columns(table: Table) -> str:
    """Natural columns where a line holds them, else shares of it by the length of their cells."""
    longest = [
        max(len(row[i]) for row in (table.head, *table.rows)) for i in range(len(table.head))
    ]
    if sum(longest) <= _LINE:
        return "".join("r" if i in table.numeric else "l" for i in range(len(table.head)))
    wanted = [min(max(size, _NARROWEST), _WIDEST) for size in longest]
    return "".join(_BROKEN.format(share=each / sum(wanted)) for each in wanted)


def _row(cells: tuple[str, ...]) -> str:
    return " & ".join(escaped(cell) for cell in cells) + r" \\"


def _list(of: Iterator[str] | list[str]) -> str:
    items = [rf"\item {escaped(line)}" for line in of]
    return "\n".join([r"\begin{itemize}", *items, r"\end{itemize}"]) if items else ""


def _tail(text: str) -> str:
    return (" " if text.startswith(" ") else "") + escaped(text)
