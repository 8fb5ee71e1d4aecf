"""The forms of a report, one literal table, and their way to disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from steelyard.errors import HostError
from steelyard.judge.findings import RunFindings
from steelyard.report.formats.bugs import MARKDOWN, bugs_files
from steelyard.report.formats.csv import csv_text
from steelyard.report.formats.junit import junit_text
from steelyard.report.formats.latex.pdf import compiled, missing_program
from steelyard.report.formats.markdown import markdown_text
from steelyard.report.formats.openmetrics import openmetrics_text
from steelyard.report.formats.other_tools import BETTER, action_text, benchfmt_text, bmf_text
from steelyard.report.formats.tmt import RESULTS, tmt_files
from steelyard.report.notes import json_text
from steelyard.report.view import views
from steelyard.report.vocabulary import machines_in

ORIGIN = "findings.origin"
"""By what findings are known again, beside them (``report/origin.py``)."""
ARTICLE = "article"
"""The folder of an article, below that of the report."""

Files: TypeAlias = dict[str, str | bytes]
"""Contents by their paths below the folder of the report."""


@dataclass(frozen=True)
class Place:
    """Where a report goes: the folder of the run as seen from there, ``None`` where that is not;
    ``beside`` maps the forms that lie in the same folder to their files.
    """

    records: str | None = ".."
    beside: Mapping[str, str] = field(default_factory=dict)


HERE = Place()
"""Alone in the folder of its run."""


@dataclass(frozen=True)
class Format:
    """One form of a report: its name on the command line, its first file, what it is for.

    ``missing`` says what this machine lacks for it; ``further`` are files of equal rank.
    """

    name: str
    file: str
    purpose: str
    made: Callable[[RunFindings, Place], str | bytes | Files]
    missing: Callable[[], HostError | None] = lambda: None
    further: tuple[str, ...] = ()

    def files(self, run: RunFindings, place: Place = HERE) -> Files:
        """All that is written."""
        made = self.made(run, place)
        return made if isinstance(made, dict) else {self.file: made}

    def text(self, run: RunFindings) -> str:
        """Its first file, of a form that is text."""
        content = self.files(run)[self.file]
        return content if isinstance(content, str) else content.decode()


def _page(run: RunFindings, place: Place) -> str:
    from steelyard.report.formats.html import render  # noqa: PLC0415 - what draws charts is slow to load

    beside = {name: file for name, file in place.beside.items() if name != "html"}
    together = any(machines_in(view) for view in views(run))
    return render(run, records=None if together else place.records, beside=beside)


def _article(run: RunFindings) -> Files:
    from steelyard.report.formats.latex.article import article  # noqa: PLC0415 - the same

    return article(run)


WITH_THE_PAGE = ("csv", "json")
"""What the page links to: it holds every value, and the page not all of them."""

FORMATS: dict[str, Format] = {
    "html": Format("html", "report.html", "one page to read, with charts, works offline", _page),
    "md": Format("md", "report.md", "words and tables for a text or a pull request",
                 lambda run, _: markdown_text(run)),
    "tex": Format("tex", f"{ARTICLE}/article.tex", "an article in LaTeX, with figures and numbers",
                  lambda run, _: {f"{ARTICLE}/{path}": content
                                  for path, content in _article(run).items()}),
    "pdf": Format("pdf", "report.pdf", "the same article as pdflatex sets it",
                  lambda run, _: compiled(_article(run)), missing=missing_program),
    "csv": Format("csv", "report.csv", "every value, summary, verdict and attempt, flat",
                  lambda run, _: csv_text(run)),
    "junit": Format("junit", "junit.xml", "claims and verdicts as tests, for servers of pipelines",
                    lambda run, _: junit_text(run)),
    "tmt": Format("tmt", RESULTS, "the same as custom results of tmt, and as rows for a shell",
                  lambda run, place: tmt_files(run, place.beside)),
    "bugs": Format("bugs", MARKDOWN, "what is slower, failed or left, each ready to be filed",
                   lambda run, _: bugs_files(run)),
    "openmetrics": Format("openmetrics", "metrics.txt", "medians, effects, verdicts for monitoring",
                          lambda run, _: openmetrics_text(run)),
    "bmf": Format("bmf", "bmf.json", "medians for Bencher, in its Metric Format",
                  lambda run, _: bmf_text(run)),
    "benchfmt": Format("benchfmt", "benchfmt.txt", "every value for benchstat",
                       lambda run, _: benchfmt_text(run)),
    "action": Format("action", "smaller-is-better.json", "medians for github-action-benchmark",
                     lambda run, _: {f"{size}-is-better.json": action_text(run, better)
                                     for size, better in BETTER.items()},
                     further=("bigger-is-better.json",)),
    "json": Format("json", "findings.json", "the findings as computed, for programs",
                   lambda run, _: json_text(run, run.labels) + "\n"),
}  # fmt: skip


def write_report(
    run: RunFindings,
    folder: Path,
    formats: Iterable[str],
    *,
    beside_records: bool = True,
    made_of: str | None = None,
) -> list[Path]:
    """Write each form into ``folder``, whole or not at all; the paths in the order asked.

    ``beside_records``: the folder lies in that of the run. What the page links to is written
    with it. ``made_of``: the digest by which the findings are known again (``origin.py``).

    Raises ``KeyError`` for a form that is not in ``FORMATS``, before anything is written.
    """
    asked = tuple(formats)
    files = report_files(run, asked, beside_records=beside_records, made_of=made_of)
    write_files(folder, files, beside_records=beside_records)
    return [folder / file for file in named_files(asked)]


def named_files(formats: Iterable[str]) -> list[str]:
    """Those by which reports in these forms are named to a reader, in the order asked."""
    forms = [FORMATS[name] for name in formats]
    return [file for form in forms for file in (form.file, *form.further)]


def report_files(
    run: RunFindings,
    formats: Iterable[str],
    *,
    beside_records: bool = True,
    made_of: str | None = None,
) -> Files:
    """What :func:`write_report` writes, by paths below its folder. Pure; the same errors."""
    asked = [FORMATS[name] for name in formats]
    linked = [FORMATS[name] for name in WITH_THE_PAGE if FORMATS["html"] in asked]
    written = list(dict.fromkeys([*asked, *linked]))
    beside = {form.name: form.file for form in written}
    place = Place(".." if beside_records else None, beside)
    files = {path: content for form in written for path, content in form.files(run, place).items()}
    findings = files.get(FORMATS["json"].file)
    if made_of is not None and isinstance(findings, str):
        files[ORIGIN] = origin_of(made_of, findings.encode())
    return files


def origin_of(made_of: str, findings: bytes) -> str:
    """What ``findings.origin`` holds beside these findings."""
    return hashlib.sha256(made_of.encode() + findings).hexdigest() + "\n"


def write_files(folder: Path, files: Files, *, beside_records: bool = True) -> None:
    """Writes each into ``folder``, whole or not at all.

    Raises:
        HostError: the folder is to be that of a run, and is a link.
        OSError: it cannot be written.
    """
    if beside_records and folder.is_symlink():
        raise HostError(
            f"{folder} is a link: the report of a run is kept in its own folder",
            hint="remove the link, or name another folder with --to",
            slug="cannot-write",
        )
    folder.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        _replace(folder / path, content)


def _replace(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    draft = path.with_name(f".{path.name}.draft")
    draft.write_bytes(content if isinstance(content, bytes) else content.encode())
    draft.replace(path)
