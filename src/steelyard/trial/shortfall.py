"""What a study needs and a machine does not have, and the error that lists all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.errors import HostError
from steelyard.study.file.places import StudyPlaces


@dataclass(frozen=True)
class Shortfall:
    """What is missing: ``key`` is the dotted name of what asks for it, within the system."""

    machine: str
    system: str
    key: str
    cause: str
    remedy: str | None


class NeedsMissingError(HostError):
    """What a study needs is missing: ``found``, at ``places`` of the study file."""

    def __init__(
        self, message: str, hint: str | None, found: Sequence[Shortfall], places: StudyPlaces
    ) -> None:
        super().__init__(message, hint=hint, slug="system-cannot-be-prepared")
        self.found, self.places = tuple(found), places


def missing_before_start(found: Sequence[Shortfall], places: StudyPlaces) -> NeedsMissingError:
    """The error that lists all of it; a single one keeps its own remedy as the hint."""
    lines = [f"{places.line_of(one.system, one.key)}: {one.cause}" for one in found]
    if len(found) == 1:
        return NeedsMissingError(lines[0], found[0].remedy, found, places)
    told = [
        line if one.remedy is None else f"{line}; {one.remedy}"
        for line, one in zip(lines, found, strict=True)
    ]
    return NeedsMissingError(
        f"{len(found)} things that the study needs are missing:\n" + "\n".join(told),
        "nothing was started; `steelyard resume` goes on when they are there, and a study "
        "that was changed needs a new `steelyard run`",
        found,
        places,
    )
