"""What an author would see, as text, and the cases kept beside it.

``STEELYARD_ACCEPT=1`` writes the text as it is now; read the difference before committing it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from steelyard.errors import Complaint, StudyError
from steelyard.study.read import read_study

CASES = Path(__file__).parents[2] / "cases" / "study"
HEAD = """\
study: a-study
question: Which is faster?
systems:
  one: {platform: native, service: {use: sink-http}}
  two: {platform: native, service: {use: sink-http, body: 2 KiB}}
"""
BODY = HEAD + "workload: {use: http}\n"
TRIALS = "trials: {margin: 2 %, window: 1 s, budget: {time: 10 min}}\n"


def written(folder: Path, text: str) -> Path:
    """A study file with this text."""
    path = folder / "study.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def as_text(complaints: Iterable[Complaint]) -> str:
    """Complaints with their hints, two lines each, without the folder."""
    return "".join(
        f"{c.path.name}:{c.line}:{c.column}: {c.message}\n    {c.hint}\n" for c in complaints
    )


def complaints_of(path: Path, variant: str | None = None) -> list[Complaint]:
    """What reading complains of; none when it does not."""
    try:
        read_study(path, variant=variant)
    except StudyError as error:
        return error.complaints
    return []


def messages_of(path: Path, variant: str | None = None) -> list[str]:
    """The messages alone."""
    return [complaint.message for complaint in complaints_of(path, variant)]


def agrees(expected: Path, text: str) -> bool:
    """Whether the kept text is this one; with ``STEELYARD_ACCEPT`` it becomes it."""
    if os.environ.get("STEELYARD_ACCEPT"):
        expected.write_text(text, encoding="utf-8")
    return expected.read_text(encoding="utf-8") == text
