"""From the folder of a run to a report and the last screen; needs nothing but the records."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from shutil import get_terminal_size

import typer

from steelyard.cli.console import say, tell
from steelyard.errors import HostError
from steelyard.judge.findings import RunFindings
from steelyard.records.archive import Run
from steelyard.report.formats.registry import FORMATS, named_files, write_report
from steelyard.report.formats.terminal import screen_lines


def chosen_formats(text: str) -> tuple[str, ...]:
    """The forms that were asked for, each once.

    Raises:
        HostError: one of them needs a program that is not on this machine.
        typer.BadParameter: one of them there is not.
    """
    chosen = dict.fromkeys(word.strip() for word in text.split(","))
    unknown = [word for word in chosen if word not in FORMATS]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]!r} is none of {', '.join(FORMATS)}")
    for lacking in filter(None, (FORMATS[word].missing() for word in chosen)):
        raise lacking
    return tuple(chosen)


WIDEST = 120
"""Columns; longer lines are hard to read."""

BESIDE_A_PAGE = ("csv", "json")
"""A page links to its figures."""


def write(
    run: Run,
    findings: RunFindings,
    formats: tuple[str, ...],
    folder: Path | None = None,
    made_of: str | None = None,
) -> list[Path]:
    """Writes the report in these formats, and what a page links to, into ``folder`` or the run's.

    The paths are those of the formats. ``made_of``: as ``write_report``.

    Raises:
        HostError: the disk is full, or the folder cannot be written to.
    """
    own = folder is None
    written = dict.fromkeys((*formats, *(BESIDE_A_PAGE if "html" in formats else ())))
    to = folder or run.report_path
    write_into(to, findings, tuple(written), own=own, made_of=made_of)
    return [to / file for file in named_files(formats)]


def write_into(
    folder: Path,
    findings: RunFindings,
    formats: tuple[str, ...],
    *,
    own: bool,
    made_of: str | None = None,
) -> list[Path]:
    """Writes the report into a folder, which is the run's ``own`` beside its records or another.

    Raises:
        HostError: the disk is full, or the folder cannot be written to.
    """
    with writing(folder):
        return write_report(findings, folder, formats, beside_records=own, made_of=made_of)


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Raises:
    HostError: the disk is full, or the folder of the report cannot be written to.
    """
    try:
        yield
    except OSError as error:
        raise HostError(
            f"cannot write the report into {folder}: {error.strerror}",
            hint="what was measured is kept: make room and run `steelyard report`, or name a "
            "folder that you may write to with --to",
            slug="cannot-write",
        ) from error


def print_answer(
    findings: RunFindings, reports: Sequence[str], further: Sequence[str] = ()
) -> None:
    """The first screen of the report.

    With where the reports are, and what may be done next. Lines are wrapped for a terminal only.
    """
    columns = min(get_terminal_size().columns, WIDEST) if sys.stdout.isatty() else None
    for line in screen_lines(findings, columns):
        say(line)
    say()
    for path in reports:
        say(f"report: {path}")
    for line in further:
        tell(line)
