"""The folder of a publication.

::

    FOLDER/
      statement.json        an in-toto Statement v1: what this is, and digests of the files below
      SHA256SUMS            digests of all other files; `sha256sum -c SHA256SUMS` checks them
      report/               findings.json, and report.html, report.md, report.csv made from it
      results/STUDY/RUN/    the run as it was recorded, without its own report and scratch files;
                            that of one of several machines in RUN/machines/NAME/

``statement.json.sig`` or another file that begins with ``statement.json.`` may lie beside it: a
signature, made later by another program.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import RecordError
from steelyard.records.files.checksums import SUMS

STATEMENT = "statement.json"
REPORT = "report"
RESULTS = "results"
FINDINGS = f"{REPORT}/findings.json"
FORMS = ("html", "md", "csv", "json")
"""Forms of the report that are the same bytes whenever they are made from the same findings."""


@dataclass(frozen=True)
class Listed:
    """What lies in a folder: paths of plain files, and of what is neither file nor folder."""

    files: tuple[str, ...]
    others: tuple[str, ...]


def listed(folder: Path) -> Listed:
    """All below ``folder``, in order; links are named and never followed."""
    files: list[str] = []
    others: list[str] = []
    for path, is_file in _walk(folder):
        (files if is_file else others).append(path.relative_to(folder).as_posix())
    return Listed(tuple(sorted(files)), tuple(sorted(others)))


def _walk(folder: Path) -> Iterator[tuple[Path, bool]]:
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path))
        else:
            yield Path(entry.path), entry.is_file(follow_symlinks=False)


def digest_of(path: Path) -> str:
    """SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sums_bytes(digests: Mapping[str, str]) -> bytes:
    """``SHA256SUMS`` of files by their paths.

    Raises:
        RecordError: a name cannot stand in such a file.
    """
    for name in digests:
        if any(character in name for character in "\\\n\r"):
            raise RecordError(
                f"the name {name!r} cannot stand in {SUMS}",
                hint="a run that steelyard recorded has no such file: move it elsewhere",
                slug="cannot-be-published",
            )
    return "".join(f"{digests[name]}  {name}\n" for name in sorted(digests)).encode()


def records_sha256(digests: Mapping[str, str]) -> str:
    """One digest of all records of a publication: that of their part of ``SHA256SUMS``."""
    own = {name: value for name, value in digests.items() if name.startswith(f"{RESULTS}/")}
    return hashlib.sha256(sums_bytes(own)).hexdigest()


def is_own(name: str) -> bool:
    """Whether a file is not in ``SHA256SUMS`` because it came later than that."""
    return name in {SUMS, STATEMENT} or name.startswith(f"{STATEMENT}.")
