"""Errors by who can act on them.

::

    SteelyardError
    ├── StudyError      the author of the study file   exit 2
    ├── HostError       the operator of a machine      exit 3
    ├── EngineError     the installation               exit 3
    ├── RecordError     whoever keeps the results      exit 3
    └── AnalysisError   the data cannot answer         exit 3

Each has a message, a hint that says what to do, a slug that is a heading of
``docs/reference/messages.md``, and an exit code. They are printed in ``cli/`` only. A failed
attempt is not an error but a record (``records/schema.py``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import ClassVar

_QUOTE = re.compile(r"`([^`]*)`")
_LONG = 200
_SHOWN = 57


class ExitCode(IntEnum):
    """What the exit code says; the table of ``docs/reference/exit-codes.md``."""

    DONE = 0
    TRIALS_FAILED = 1
    STUDY_IS_WRONG = 2
    OPERATOR = 3
    DEFECT = 4
    VERDICT_NOT_MET = 5
    INCONSISTENT = 6
    NOT_FOUND = 7
    INTERRUPTED = 130


class SteelyardError(Exception):
    """Something a person can act on; ``hint`` says how, ``slug`` names the page that explains."""

    exit_code: ClassVar[ExitCode] = ExitCode.DEFECT

    def __init__(self, message: str, *, hint: str | None = None, slug: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.slug = slug

    def __reduce__(self) -> tuple[object, ...]:
        """From one process to another, as whatever it is initialised with."""
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(
    kind: type[SteelyardError], args: tuple[object, ...], state: dict[str, object]
) -> SteelyardError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


def shortened(text: str) -> str:
    """A message without the middle of what it quotes at length, as of a number of 1,000 digits."""
    return _QUOTE.sub(_short_quote, text)


def _short_quote(quote: re.Match[str]) -> str:
    return quote[0] if len(quote[1]) < _LONG else f"`{quote[1][:_SHOWN]}...`"


@dataclass(frozen=True, order=True)
class Complaint:
    """One mistake in a file; line and column count from 1."""

    path: Path
    line: int
    column: int
    message: str
    hint: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", shortened(self.message))
        object.__setattr__(self, "hint", self.hint and shortened(self.hint))

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.message}"


_NOUNS = {
    "study-file-is-wrong": ("mistake in the study file", "mistakes in the study file"),
    "platform-file-is-wrong": (
        "mistake in the platform's file",
        "mistakes in the platform's file",
    ),
    "image-recipe-is-wrong": ("mistake in the recipe", "mistakes in the recipe"),
    "service-file-is-wrong": ("mistake in the service's file", "mistakes in the service's file"),
    "meter-file-is-wrong": ("mistake in the meter's file", "mistakes in the meter's file"),
    "workload-file-is-wrong": (
        "mistake in the workload's file",
        "mistakes in the workload's file",
    ),
    "trials-file-is-wrong": ("mistake in the file of trials", "mistakes in the file of trials"),
    "stored-series-is-wrong": ("mistake in the stored series", "mistakes in the stored series"),
    "published-table-is-wrong": ("mistake in the table", "mistakes in the table"),
    "claims-file-is-wrong": ("mistake in the file of claims", "mistakes in the file of claims"),
    "imported-file-is-wrong": (
        "mistake in the imported files",
        "mistakes in the imported files",
    ),
    "not-in-this-version": (
        "thing in the study file that cannot be run",
        "things in the study file that cannot be run",
    ),
}


class StudyError(SteelyardError):
    """The study file is wrong, or asks for more than this version can run.

    ``complaints`` holds every place, in the order of the file.
    """

    exit_code = ExitCode.STUDY_IS_WRONG

    def __init__(self, complaints: list[Complaint], *, slug: str = "study-file-is-wrong") -> None:
        self.complaints = sorted(complaints)
        count = len(self.complaints)
        one, many = _NOUNS[slug]
        super().__init__(f"{count} {one if count == 1 else many}", slug=slug)


class HostError(SteelyardError):
    """A machine refused, is unreachable, or lacks something."""

    exit_code = ExitCode.OPERATOR


class EngineError(SteelyardError):
    """The engine binary is missing, of another version, or broke off the conversation."""

    exit_code = ExitCode.OPERATOR


class RecordError(SteelyardError):
    """What lies on disk is damaged, of a newer version, or does not fit what is asked."""

    exit_code = ExitCode.OPERATOR


class AnalysisError(SteelyardError):
    """The data cannot answer the question."""

    exit_code = ExitCode.OPERATOR
