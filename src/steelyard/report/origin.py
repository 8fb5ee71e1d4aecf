"""A digest of all that the findings of a run are made of: the bytes of the run, and the program.

``report/findings.origin`` holds it together with ``findings.json``: where it fits, judging again
would give the same findings.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path

import numpy as np

import steelyard
from steelyard.errors import SteelyardError
from steelyard.records.archive import Run
from steelyard.records.files.parquet import parquet_is_read
from steelyard.study.read import read_study


def made_of(run: Run) -> str | None:
    """The digest; ``None`` where a part is damaged, is a link, or goes away.

    Of an import there is none, because it is judged in no time.
    """
    if run.is_import or _LOADED is None:
        return None
    try:
        parts = (run, *run.machines().values())
        reports = {part.report_path for part in parts}
        digest = hashlib.sha256(_LOADED.encode())
        for line in chain(map(_read_by, parts), _lines(run.path, run.path, reports)):
            digest.update(f"{line}\n".encode(errors="surrogateescape"))
    except (OSError, SteelyardError):
        return None
    return digest.hexdigest()


def still(run: Run, before: str | None) -> str | None:
    """The digest from ``before`` something was read, if that is what is there now as well, and the
    program is still the one that was loaded.
    """
    fits = before is not None and before == made_of(run)
    return before if fits and _program() == _LOADED else None


def _read_by(part: Run) -> str:
    """The name of the run, and its study with the files that it names, which may lie elsewhere."""
    facts = part.facts()
    study = read_study(part.study_path, variant=facts.variant, machine=facts.machine)
    return f"{part.key} {study.sha256}"


def _program() -> str | None:
    """What lies there now: several checkouts have the same version. ``None`` where it has links."""
    folder = Path(steelyard.__file__).parent
    try:
        held = "\n".join(_lines(folder, folder))
    except OSError:
        return None
    known = (steelyard.__version__, sys.version, np.__version__, parquet_is_read())
    return f"{known}\n{held}"


def _lines(top: Path, folder: Path, without: Collection[Path] = ()) -> Iterator[str]:
    """The digest and the path of each file, and the path of each folder.

    Raises:
        OSError: one is a link, or cannot be read.
    """
    for path in sorted(Path(each) for each in os.scandir(folder)):
        if path.is_symlink():
            raise OSError(f"{path} is a link")
        if path in without or path.name == "__pycache__":
            continue
        name = path.relative_to(top)
        if path.is_file():
            with path.open("rb") as file:
                yield f"{hashlib.file_digest(file, 'sha256').hexdigest()} {name}"
        else:
            yield f"{name}/"
            yield from _lines(top, path, without)


_LOADED = _program()
"""The one that judges: an upgrade while a process lives does not change what it has loaded."""
