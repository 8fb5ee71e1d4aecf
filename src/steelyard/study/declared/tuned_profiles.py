"""Profiles of tuned that are the user's own: files that a study names by a path with a slash in it.

A path is relative to the study. The folder of a run keeps copies in ``profiles``, where they are
found again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeGuard

from steelyard.study.file.source import file_bytes

FOLDER = "profiles"
SETTING = "tuned"


class ProfileError(Exception):
    """A profile's file cannot be read; the message says why, in the words of the system."""


def is_own(level: object) -> TypeGuard[str]:
    """Whether a level of the setting ``tuned`` names a file, and not a profile that tuned has."""
    return isinstance(level, str) and "/" in level


def read_profile(name: str, study: Path) -> str:
    """The text of a profile that a study names; of a run's copy, where there is one.

    ``study`` is the study's file or folder.

    Raises:
        ProfileError: it cannot be read.
    """
    folder = study if study.is_dir() else study.parent
    kept = folder / FOLDER / kept_name(name)
    try:
        return file_bytes(kept if kept.is_file() else folder / name).decode("utf-8")
    except OSError as error:
        raise ProfileError((error.strerror or str(error)).lower()) from error
    except UnicodeDecodeError as error:
        raise ProfileError("it is not UTF-8 text") from error


def kept_name(name: str) -> str:
    """The file name of a run's copy; profiles of one file name in different folders differ."""
    return f"{hashlib.sha256(name.encode()).hexdigest()[:8]}-{Path(name).name}"


def own_texts(profiles: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Texts by the path below a run's folder, from texts by the name that the study gives."""
    return {f"{FOLDER}/{kept_name(n)}": text for each in profiles for n, text in each.items()}
