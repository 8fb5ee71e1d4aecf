r"""The tables of a report for a paper: a fragment to ``\input``, in need of ``longtable``,
``booktabs`` and ``array`` alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from steelyard.judge.findings import Findings
from steelyard.report.assumptions import sure_lines, warning_lines
from steelyard.report.each_workload import each_of, titled, told
from steelyard.report.sections import AUTHOR, paragraphs, sections
from steelyard.report.summary import glance
from steelyard.report.tables.claims import claim_lines, claims_table
from steelyard.report.tables.costs import cost_table
from steelyard.report.tables.responses import Table, done_rows, failed_table, response_table
from steelyard.report.words import answer

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


def latex_text(findings: Findings) -> str:
    """The whole fragment, one blank line between its parts."""
    return "\n\n".join(part for part in _parts(findings) if part) + "\n"


def escaped(text: str) -> str:
    """Text that LaTeX sets as it is: no commands in it, true minus, dashes in ranges."""
    safe = " ".join(text.split()).translate(_SPECIAL)
    safe = re.sub(r"(?<![\w.-])-(?=\d)", "$-$", safe)
    return re.sub(r"(?<=[\d%])\.\.(?=[\d+$])", "--", safe)


def _parts(findings: Findings) -> Iterator[str]:
    variant = f" (variant {findings.variant})" if findings.variant else ""
    yield f"% Made by steelyard {findings.tool_version} from run {findings.run}; not by hand."
    yield r"% \usepackage{longtable,booktabs,array}"
    yield rf"\section{{{escaped(findings.question + variant)}}}"
    yield _list(glance(findings))
    for each in each_of(findings):
        yield "" if each.workload is None else rf"\subsection{{{escaped(each.workload)}}}"
        for main, parts in answer(each):
            yield rf"\textbf{{{escaped(main.head)}}}{_tail(main.tail)}"
            yield _list(parts)
    yield _list(told(findings, warning_lines))
    for each in each_of(findings):
        title = titled("Claims", each)
        yield from _titled(title, claim_lines(each), claims_table(each))
        yield from _of_one(each)
    yield from _titled("Attempts that did not end well", [], failed_table(findings))
    yield from _titled("How sure", told(findings, sure_lines), None)
    yield r"\subsection{How it was done}"
    yield _list(f"{term}: {text}" for term, text in done_rows(findings))


def _of_one(findings: Findings) -> Iterator[str]:
    """The tables of one workload."""
    for each in sections(findings):
        yield rf"\subsection{{{escaped(titled(each.title, findings))}}}"
        if each.note is not None:
            yield rf"\paragraph{{{escaped(AUTHOR)}}}"
            yield from (escaped(part) for part in paragraphs(each.note))
        yield grid(each.means)
        yield grid(each.single)
    for response in findings.responses:
        yield rf"\subsection{{{escaped(titled(response.label, findings))}}}"
        yield grid(response_table(findings, response))
    costs = cost_table(findings)
    yield from _titled(titled(costs.caption, findings), [], costs)


def _titled(title: str, lines: list[str], table: Table | None) -> Iterator[str]:
    if lines or (table is not None and table.rows):
        yield rf"\subsection{{{escaped(title)}}}"
        yield _list(lines)
        yield "" if table is None else grid(table)


def grid(table: Table) -> str:
    """One table that may run over pages; its notes below it. A wide one breaks its cells."""
    if not table.rows:
        return ""
    lines = [r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}"]
    lines += [rf"\begin{{longtable}}{{{_columns(table)}}}", r"\toprule", _row(table.head)]
    lines += [r"\midrule", r"\endhead", r"\bottomrule", r"\endlastfoot"]
    lines += [_row(row) for row in table.rows]
    lines += [r"\end{longtable}", r"\endgroup"]
    notes = [escaped(note) for note in table.notes]
    return "\n".join(lines) + ("\n\n" + " ".join(notes) if notes else "")


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


def _list(lines: Iterator[str] | list[str]) -> str:
    items = [rf"\item {escaped(line)}" for line in lines]
    return "\n".join([r"\begin{itemize}", *items, r"\end{itemize}"]) if items else ""


def _tail(text: str) -> str:
    return (" " if text.startswith(" ") else "") + escaped(text)
