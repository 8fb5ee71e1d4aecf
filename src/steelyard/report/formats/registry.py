"""The forms of a report, one literal table, and their way to disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.judge.findings import RunFindings
from steelyard.report.formats.csv import csv_text
from steelyard.report.formats.junit import junit_text
from steelyard.report.formats.latex import latex_text
from steelyard.report.formats.markdown import markdown_text
from steelyard.report.notes import json_text

if TYPE_CHECKING:
    from steelyard.report.charts.time import Series


@dataclass(frozen=True)
class Format:
    """One form of a report: its name on the command line, its file, what it is for."""

    name: str
    file: str
    purpose: str
    text: Callable[[RunFindings, Series], str]
    apart: Callable[[RunFindings, Series], str] | None = None
    """The text where the records do not lie beside it, if that is another."""


def _page(run: RunFindings, series: Series, *, records: str | None = "..") -> str:
    from steelyard.report.formats.html import render  # noqa: PLC0415 - what draws charts is slow to load

    return render(run, series, records=records)


FORMATS: dict[str, Format] = {
    "html": Format("html", "report.html", "one page to read, with charts, works offline", _page,
                   lambda run, series: _page(run, series, records=None)),
    "md": Format("md", "report.md", "words and tables for a text or a pull request",
                 lambda run, _: markdown_text(run)),
    "tex": Format("tex", "report.tex", "the same tables for a paper in LaTeX, to be \\input",
                  lambda run, _: latex_text(run)),
    "csv": Format("csv", "report.csv", "every value, summary, verdict and attempt, flat",
                  lambda run, _: csv_text(run)),
    "junit": Format("junit", "junit.xml", "claims and verdicts as tests, for servers of pipelines",
                    lambda run, _: junit_text(run)),
    "json": Format("json", "findings.json", "the findings as computed, for programs",
                   lambda run, _: json_text(run, run.labels) + "\n"),
}  # fmt: skip


def write_report(
    run: RunFindings,
    series: Series,
    folder: Path,
    formats: Iterable[str],
    *,
    beside_records: bool = True,
) -> list[Path]:
    """Write each form into ``folder``, whole or not at all; the paths in the order asked.

    ``beside_records``: the folder lies in that of the run.

    Raises ``KeyError`` for a form that is not in ``FORMATS``, before anything is written.
    """
    chosen = [FORMATS[name] for name in formats]
    folder.mkdir(parents=True, exist_ok=True)
    texts = [(form, form.text if beside_records else form.apart or form.text) for form in chosen]
    return [_replace(folder / form.file, text(run, series)) for form, text in texts]


def _replace(path: Path, text: str) -> Path:
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(text, encoding="utf-8")
    return draft.replace(path)
