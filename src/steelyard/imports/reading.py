"""From one file of another tool to its trials: all of it, or why nothing of it is used."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.imports.documents import Row, document_of, wrong
from steelyard.imports.kind import Kind
from steelyard.imports.metrics import refused_reason, taken
from steelyard.imports.numbers import Numbers, Values, together, trials_of
from steelyard.imports.output import NotThereError, Printed
from steelyard.imports.parts import parts_of, printed
from steelyard.records.missing import Missing
from steelyard.study.file.kinds import shown
from steelyard.study.model import Level
from steelyard.study.workload.entry import is_version, within
from steelyard.study.workload.metric import Look

MOST_BYTES = 256 * 2**20
_REFUSED = "nothing of such a file is used: find out what failed, and measure all of it again"


@dataclass(frozen=True)
class Result:
    """One row of a file, or all of it: the numbers of each trial, in the order of the file.

    ``system`` is that which the file itself names, if it does; ``missing`` says why a trial lacks
    a number.
    """

    name: str | None
    conditions: dict[str, Level]
    trials: tuple[Values, ...]
    system: str | None = None
    missing: dict[str, Missing] = field(default_factory=dict)


@dataclass(frozen=True)
class ResultFile:
    """All that one file says."""

    path: Path
    data: bytes
    version: str | None
    results: tuple[Result, ...]

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()


def read_file(path: Path, kind_name: str, kind: Kind) -> ResultFile:
    """A file of this kind.

    Raises:
        StudyError: it cannot be read, is of another tool or version, or was cut; with its place.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        why = f"cannot be read: {error.strerror or error}"
        raise wrong(path, 1, why, "name a file that is there") from error
    if len(data) > MOST_BYTES:
        raise wrong(path, 1, "is larger than 256 MiB", "import a summary of it")
    return parse_file(data, path, kind_name, kind)


def parse_file(data: bytes, path: Path, kind_name: str, kind: Kind) -> ResultFile:
    """What the ``data`` of a file say; ``path`` is named in complaints.

    Raises:
        StudyError: as ``read_file``.
    """
    text = _text(data, path)
    last = text.count("\n") + (not text.endswith("\n")) or 1
    _refuse_foreign(
        printed(kind, text), path, kind_name, kind, [h for h in kind.holds if h.pattern]
    )
    document = document_of(text, path, kind_name, kind)
    whole = printed(kind, text, document)
    _refuse_foreign(whole, path, kind_name, kind, kind.holds)
    version = _version(whole, path, kind_name, kind)
    if kind.ends is not None and re.search(kind.ends, text) is None:
        end = shown(text.rstrip().rpartition("\n")[2])
        message = f"ends with {end}, before the result of {kind_name} does"
        hint = "the tool failed, or the file was cut: give all that a run printed that ended"
        raise wrong(path, last, message, hint)
    try:
        results = tuple(_results(kind, text, document))
        _refuse_contradiction(whole, text, path, kind)
    except NotThereError as error:
        line = error.line if isinstance(error, _WrongRowError) else None
        if line is None:
            line = 1 if kind.format in ("json", "xml") else last
        message = f"cannot be read as {kind_name}: {error}"
        raise wrong(path, line, message, error.remedy or _cut(kind)) from error
    return ResultFile(path, data, version, results)


class _WrongRowError(NotThereError):
    """A result cannot be read; ``line`` is that of its row, as far as it is known."""

    def __init__(self, error: NotThereError, line: int | None) -> None:
        super().__init__(str(error), text=error.text, remedy=error.remedy)
        self.line = line


def _cut(kind: Kind) -> str:
    if not kind.seen:
        return f"it was cut, or holds something else: {kind.summary}"
    return f"it was cut, or is of a version that was not seen (seen: {', '.join(kind.seen)})"


def _text(data: bytes, path: Path) -> str:
    if not data.strip():
        raise wrong(path, 1, "is empty", "give the file that the tool wrote")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        cut = error.end == len(data) and error.reason == "unexpected end of data"
        message = "ends within a character" if cut else "is not UTF-8 text"
        hint = "it was cut: give the whole file" if cut else "give it as the tool wrote it"
        raise wrong(path, line, message, hint) from error
    return text.replace("\r\n", "\n")


def _refuse_foreign(
    whole: Printed, path: Path, kind_name: str, kind: Kind, holds: Sequence[Look]
) -> None:
    for look in holds:
        try:
            whole.found(look)
        except NotThereError as error:
            message = f"is no file of {kind_name}: {error}"
            raise wrong(path, 1, message, f"such a file is made by `{kind.made}`") from error


def _refuse_contradiction(whole: Printed, text: str, path: Path, kind: Kind) -> None:
    for share in kind.shares:
        part, most = (taken(whole.found(look), look, 1.0) for look in (share.part, share.whole))
        if part > most:
            place = re.search(share.part.pattern or "", text, re.MULTILINE)
            line = 1 if place is None else 1 + text.count("\n", 0, place.start())
            message = f"contradicts itself: {part:,.0f} {share.label} of {most:,.0f}"
            raise wrong(path, line, message, share.hint)


def _version(whole: Printed, path: Path, kind_name: str, kind: Kind) -> str | None:
    if kind.version is None:
        return None
    known = kind.version
    try:
        said = whole.found(known)[0].text
    except NotThereError as error:
        raise wrong(path, 1, f"does not say its version: {error}", None) from error
    found = re.search(r"[0-9]+(?:\.[0-9]+)*", said)
    if found is None or not is_version(found[0]):
        raise wrong(path, 1, f"has the version `{said}`, which is none", None)
    if not within(found[0], known.least, known.before):
        until = "" if known.before is None else f" and before {known.before}"
        raise wrong(
            path,
            1,
            f"is of version {said} of {kind_name}, and those from {known.least}{until} are read",
            "make it with such a version",
        )
    return said


def _results(kind: Kind, text: str, document: object) -> Iterator[Result]:
    whole = printed(kind, text, document)
    reason = refused_reason(kind.refuses, whole) if kind.rows is None else None
    if reason is not None:
        raise NotThereError(reason, remedy=_REFUSED)
    conditions = {name: _level(whole.found(look)[0].text) for name, look in kind.conditions.items()}
    if kind.rows is None:
        trials, missing = trials_of(kind, whole, whole)
        yield Result(None, conditions, tuple(trials), missing=missing)
        return
    found: dict[tuple[str | None, str | None], Numbers] = {}
    for name, system, part, rows in parts_of(kind, kind.rows, text, document):
        if (reason := refused_reason(kind.refuses, part)) is not None:
            whose = "" if name is None else f"`{name}`: "
            raise NotThereError(f"{whose}{reason}", remedy=_REFUSED)
        try:
            more = trials_of(kind, part, whole)
        except NotThereError as error:
            line = _line_of(error, rows, kind, text)
            named = error if name is None else error.at(f"`{name}`")
            raise _WrongRowError(named, line) from error
        trials, missing = found.setdefault((name, system), Numbers([], {}))
        trials += more.trials
        missing |= more.missing
    if not found:
        raise NotThereError("it holds no result")
    for (name, system), (trials, missing) in found.items():
        kept = tuple(trials if kind.each else [together(trials)])
        yield Result(name, conditions, kept, system, missing)


def _line_of(error: NotThereError, rows: Sequence[object], kind: Kind, text: str) -> int | None:
    """The line of the row that is wrong: the only one, or the first that fails alike by itself."""
    if len(rows) == 1:
        (row,) = rows
        if isinstance(row, str):
            return 1 + text.count("\n", 0, text.index(row))
        return row.line if isinstance(row, Row) else None
    for row in rows:
        alone = printed(kind, "", [row])
        try:
            trials_of(kind, alone, alone)
        except NotThereError as own:
            if str(own) == str(error) and isinstance(row, Row):
                return row.line
    return None


def _level(text: str) -> Level:
    return int(text) if text.isdecimal() and len(text) < 16 else text
