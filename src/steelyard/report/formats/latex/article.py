r"""The whole article: ``article.tex`` that plain ``pdflatex`` compiles, with what it takes in.

It asks for packages of LaTeX's base and recommended collections alone. What an author wrote in
LaTeX is taken in as it is; all other text is set as text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import cycle

from steelyard.judge.findings import RunFindings
from steelyard.records.own_files.author_notes import LATEX, OF_ARTICLES
from steelyard.report.charts.all import Charts, all_charts
from steelyard.report.charts.colours import SYSTEM_SHAPES
from steelyard.report.formats.latex import NUMBERS, SOURCE
from steelyard.report.formats.latex.figures import Figure, drawings_of, figure_of
from steelyard.report.formats.latex.numbers import Numbers
from steelyard.report.formats.latex.quantities import define_quantities
from steelyard.report.formats.latex.tables import grid
from steelyard.report.formats.latex.text import escaped
from steelyard.report.sections import AUTHOR, paragraphs, sections
from steelyard.report.sentences.assumptions import caveat_lines, check_lines, warning_lines
from steelyard.report.sentences.claims import claim_lines
from steelyard.report.sentences.consolidation import consolidation_lines
from steelyard.report.sentences.design import done_rows
from steelyard.report.sentences.failures import failed_lines
from steelyard.report.sentences.ranking import ranking_lines
from steelyard.report.sentences.saturation import saturation_lines
from steelyard.report.sentences.terminal.answer import answer, exploratory_lines, glance, sure
from steelyard.report.tables.claims import claims_table
from steelyard.report.tables.consolidation import consolidation_table
from steelyard.report.tables.costs import cost_table, placement_table
from steelyard.report.tables.influence import influence_tables
from steelyard.report.tables.interference import interference_tables
from steelyard.report.tables.latency import percentile_table
from steelyard.report.tables.ranking import ranking_tables
from steelyard.report.tables.requests import request_tables
from steelyard.report.tables.responses import (
    bottleneck_table,
    calibration_table,
    difference_table,
    failed_table,
    response_table,
    steadiness_table,
)
from steelyard.report.tables.saturation import saturation_table
from steelyard.report.view import View, lines, tables, views

FIGURES_AT_ONCE = 8
"""LaTeX gives up on many figures without a page between them."""

_COLOURS = ("blue", "orange", "green", "purple", "ochre", "grey")
"""Names of those that charts give to systems, in their order."""

_PREAMBLE = r"""\documentclass[11pt,a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage[margin=25mm]{geometry}
\usepackage{array,booktabs,graphicx,longtable,textcomp}
\IfFileExists{lmodern.sty}{\usepackage[T1]{fontenc}\usepackage{lmodern}}{}
\setlength{\emergencystretch}{3em}
\extrafloats{200}
\input{numbers}"""


def article(run: RunFindings) -> dict[str, str | bytes]:
    """Its files by their paths below its folder."""
    writer = _Article(run)
    source = "\n\n".join(part for part in writer.parts() if part) + "\n"
    figures = {figure.file: figure.pdf for figure in writer.figures}
    return {SOURCE: source, NUMBERS: writer.numbers.file(), **figures}


class _Article:
    """The parts in their order; numbers and figures are gathered while the parts are made."""

    def __init__(self, run: RunFindings) -> None:
        self.run = run
        self.numbers = Numbers(run.systems)
        self.figures: list[Figure] = []
        self._drawn_already: set[tuple[str, str, str]] = set()
        self._charts = [(view, all_charts(view)) for view in views(run)]

    def parts(self) -> Iterator[str]:
        for view, _ in self._charts:
            define_quantities(view, self.numbers)
        yield f"% Made by steelyard {escaped(self.run.tool_version)}; a new report replaces it."
        yield _PREAMBLE
        yield self._title()
        yield r"\begin{document}"
        yield r"\maketitle"
        yield r"\begin{abstract}"
        yield from self._abstract()
        yield r"\end{abstract}"
        yield from self._note(OF_ARTICLES[0])
        yield from self._result()
        for view, charts in self._charts:
            yield from self._of_one(view, charts)
        yield from self._whole()
        yield from self._method()
        yield from self._note(OF_ARTICLES[1])
        yield r"\end{document}"

    def _title(self) -> str:
        variant = f" (variant {self.run.variant})" if self.run.variant else ""
        made_by = f"steelyard {self.run.tool_version}"
        return "\n".join(
            [
                rf"\title{{{escaped(self.run.question + variant)}}}",
                rf"\author{{{escaped(made_by)}}}",
                rf"\date{{{escaped(f'{self.run.study}, run {self.run.run}')}}}",
            ]
        )

    def _abstract(self) -> Iterator[str]:
        for view, _ in self._charts:
            for main, _parts in answer(view):
                yield self._said(view.titled(f"{main.head}{main.tail}"), "Abstract")

    def _result(self) -> Iterator[str]:
        yield r"\section{Result}"
        yield self._items(glance(self.run), "Glance")
        for view, charts in self._charts:
            yield "" if view.heading is None else rf"\subsection{{{escaped(view.heading)}}}"
            yield self._items(ranking_lines(view), "Ranking")
            yield from (grid(table) for table in ranking_tables(view))
            for main, parts in answer(view):
                yield rf"\textbf{{{self._said(main.head, 'Answer')}}}{self._tail(main.tail)}"
                yield self._items(parts, "Conditions")
            yield from self._drawn(charts.effect, view)
        yield from self._listed("Claims", lines(self.run, claim_lines), "Claims")
        yield from (grid(table) for table in tables(self.run, claims_table))
        yield from self._listed("Failures", lines(self.run, failed_lines), "Failures")
        warnings = lines(self.run, warning_lines)
        yield from self._listed("Before relying on this", warnings, "Warnings")

    def _of_one(self, view: View, charts: Charts) -> Iterator[str]:
        """The sections of one workload: those that its author asked for, then all the others."""
        for each in sections(view):
            yield rf"\section{{{escaped(view.titled(each.title))}}}"
            yield from self._noted(each.title)
            yield grid(each.means)
            yield grid(each.single)
        yield rf"\section{{{escaped(view.titled('Responses'))}}}"
        for response in view.own.responses:
            yield grid(response_table(view, response))
        yield self._items(exploratory_lines(view), "Exploratory")
        yield from (grid(table) for table in influence_tables(view))
        yield self._items(saturation_lines(view), "Saturation")
        yield grid(saturation_table(view))
        yield self._items(consolidation_lines(view), "Consolidation")
        yield grid(consolidation_table(view)) if consolidation_lines(view) else ""
        yield grid(percentile_table(view))
        yield from (grid(table) for table in request_tables(view))
        for table in (cost_table(view), placement_table(view), bottleneck_table(view)):
            yield grid(table)
        if len(self.run.systems) > 1:
            yield self._legend()
        yield from self._drawn(charts, view)

    def _whole(self) -> Iterator[str]:
        """What the workloads have in common."""
        yield from (grid(table) for table in interference_tables(self.run))
        yield grid(failed_table(self.run))

    def _method(self) -> Iterator[str]:
        yield r"\section{Method}"
        yield self._items((f"{term}: {text}" for term, text in done_rows(self.run)), "Done")
        yield from self._listed("How sure", sure(self.run), "Sure")
        for view, _ in self._charts:
            yield grid(calibration_table(view))
            yield grid(steadiness_table(view))
        yield grid(difference_table(self.run))
        yield from self._listed("Diagnostics", check_lines(self.run), "Diagnostics")
        yield from self._listed("What was not tested", caveat_lines(self.run), "Caveats")

    def _note(self, name: str) -> Iterator[str]:
        found = list(self._noted(name))
        if found:
            yield rf"\section{{{name.capitalize()}}}"
            yield from found

    def _noted(self, name: str) -> Iterator[str]:
        """The author's own words: as LaTeX where they are LaTeX, else as paragraphs of text."""
        notes = self.run.author_notes
        if name + LATEX in notes:
            yield notes[name + LATEX]
        elif name in notes:
            yield rf"\paragraph{{{escaped(AUTHOR)}}}"
            yield from (escaped(part) for part in paragraphs(notes[name]))

    def _legend(self) -> str:
        """Which mark is which system: a chart of the page has that above it."""
        marks = zip(self.run.systems, cycle(_COLOURS), cycle(SYSTEM_SHAPES), strict=False)
        return escaped(f"Marks: {', '.join(' '.join(mark) for mark in marks)}.")

    def _drawn(self, charts: object, view: View) -> Iterator[str]:
        """The figures among these that no part before has shown, one of those that say the same."""
        for drawing in drawings_of(charts):
            said = (view.own.name, drawing.title, drawing.description)
            if said not in self._drawn_already:
                self._drawn_already.add(said)
                self.figures.append(figure_of(drawing, self.figures))
                yield _figure(self.figures[-1], view.titled(drawing.title))
                if len(self.figures) % FIGURES_AT_ONCE == 0:
                    yield r"\clearpage"
        yield r"\clearpage"

    def _listed(self, title: str, found: list[str], part: str) -> Iterator[str]:
        if found:
            yield rf"\subsection{{{escaped(title)}}}"
            yield self._items(found, part)

    def _items(self, found: Iterable[str], part: str) -> str:
        items = [rf"\item {self._said(each, part)}" for each in found]
        return "\n".join([r"\begin{itemize}", *items, r"\end{itemize}"]) if items else ""

    def _said(self, text: str, part: str) -> str:
        return self.numbers.in_text(text, part)

    def _tail(self, text: str) -> str:
        return (" " if text.startswith(" ") else "") + self._said(text, "Answer")


def _figure(figure: Figure, title: str) -> str:
    size = rf"width={figure.width:.2f}\linewidth,height=0.8\textheight,keepaspectratio"
    return "\n".join(
        [
            r"\begin{figure}[!htbp]\centering",
            rf"\includegraphics[{size}]{{{figure.file}}}",
            rf"\caption{{{escaped(title)}}}",
            r"\end{figure}",
        ]
    )
