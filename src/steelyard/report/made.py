"""The report of one of many runs, made wherever there is a processor, and written elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from steelyard.errors import SteelyardError
from steelyard.records.archive import Run
from steelyard.report.formats.registry import Files, report_files
from steelyard.report.from_run import stored
from steelyard.report.kept import Found, found

Source: TypeAlias = Run | Path
"""A run, or the file of its findings."""


@dataclass(frozen=True)
class Made:
    """The files of a report by their paths, and the words of its primary verdicts, each once.

    ``before``: it is drawn from findings of an earlier report.
    """

    files: Files
    words: tuple[str, ...]
    before: bool = False


def made(source: Source, formats: tuple[str, ...]) -> Made | SteelyardError:
    """The report of a run, or of its findings, in these formats, or why there is none. Pure."""
    alone = isinstance(source, Path)
    try:
        seen = Found(stored(source), None) if isinstance(source, Path) else found(source)
    except SteelyardError as error:
        return error
    verdicts = [each for own in seen.findings.workloads for each in own.verdicts]
    words = dict.fromkeys(each.word.value for each in verdicts if not each.exploratory)
    files = report_files(seen.findings, formats, beside_records=not alone, made_of=seen.made_of)
    return Made(files, tuple(words), seen.before)
