"""Whether this version can run a study that reads without complaint."""

from __future__ import annotations

from pathlib import Path

from steelyard.errors import Complaint
from steelyard.study.read import read_with_lacking


def not_available(path: Path, *, variant: str | None = None) -> list[Complaint]:
    """What the study asks for that this version cannot run yet; empty when all of it can.

    Raises ``StudyError`` when the study itself is wrong.
    """
    return read_with_lacking(path, variant=variant)[1]
