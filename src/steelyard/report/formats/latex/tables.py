"""One table of the article, over as many pages as it needs: ``longtable`` with ``booktabs``."""

from __future__ import annotations

from steelyard.report.formats.latex.text import escaped
from steelyard.report.view import Table

_BROKEN = r">{{\raggedright\arraybackslash}}p{{\dimexpr {share:.3f}\linewidth-2\tabcolsep\relax}}"
_LINE = 80
_NARROWEST, _WIDEST = 6, 22


def grid(table: Table) -> str:
    """The table under its caption, its notes below it; nothing where it has no rows."""
    if not table.rows:
        return ""
    rows = [r"\begingroup\footnotesize\setlength{\tabcolsep}{3pt}"]
    rows += [rf"\begin{{longtable}}{{{_columns(table)}}}"]
    caption = table.caption[:1].upper() + table.caption[1:]
    rows += [rf"\caption{{{escaped(caption)}}}\\"] if caption else []
    rows += [r"\toprule", _row(table.head), r"\midrule", r"\endfirsthead"]
    rows += [r"\toprule", _row(table.head), r"\midrule", r"\endhead"]
    rows += [r"\bottomrule", r"\endfoot", r"\bottomrule", r"\endlastfoot"]
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
    r"""A cell that begins with ``[`` or ``*`` is no option of the ``\\`` before it."""
    return " & ".join(_cell(cell) for cell in cells) + r" \\"


def _cell(cell: str) -> str:
    return ("{}" if cell[:1] in {"[", "*"} else "") + escaped(cell)
