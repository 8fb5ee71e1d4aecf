"""Something wrong at a place of a file."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.study.file.source import Where


@dataclass(frozen=True)
class Mistake:
    """Something wrong at a place of the file, and what to do about it."""

    where: Where
    message: str
    hint: str
