"""The author's own words for sections of a report: text files that lie beside the study.

They belong to no hash and no finding: an author writes them when the tables are there. A run keeps
copies in ``notes``, where they may be edited before the report is made again.
"""

from __future__ import annotations

import re
from pathlib import Path

from steelyard.errors import RecordError

FOLDER = "notes"
MOST_BYTES = 65_536
LATEX = ".tex"
"""Ends the name of a note that is LaTeX, for an article; every other one is plain text."""
OF_ARTICLES = ("introduction", "discussion")
"""Names of notes that belong to no section of a report, but to an article made of it."""
_ENDINGS = (".md", ".txt")


def read_notes(folder: Path) -> dict[str, str]:
    """Texts by the name of their file without its ending, but for ``LATEX``; none without a folder.

    Raises:
        RecordError: a file cannot be read, is no text, or is larger than ``MOST_BYTES``.
    """
    if not folder.is_dir():
        return {}
    paths = sorted(path for path in folder.iterdir() if path.suffix in {*_ENDINGS, LATEX})
    return {_key(path): text for path in paths if (text := _text(path).strip())}


def kept_notes(folder: Path) -> dict[str, str]:
    """The same by the path below a run's folder."""
    return {
        f"{FOLDER}/{name if name.endswith(LATEX) else f'{name}.md'}": f"{text}\n"
        for name, text in read_notes(folder).items()
    }


def name_of_note(level: object) -> str:
    """The file name of the note on a level, without its ending: ``./lean/a b`` is ``lean-a-b``."""
    return re.sub(r"[^\w.+-]+", "-", str(level)).strip("-.")


def _key(path: Path) -> str:
    return path.name if path.suffix == LATEX else path.stem


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            reason = f"it is larger than {MOST_BYTES // 1024} KiB"
        else:
            return path.read_text(encoding="utf-8")
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
    except UnicodeDecodeError:
        reason = "it is not UTF-8 text"
    raise RecordError(
        f"the note {path} cannot be read: {reason}",
        hint="a note is a short text file; fix it, or take it out of the folder of notes",
        slug="note-cannot-be-read",
    )
