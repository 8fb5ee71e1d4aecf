"""How a check of the contract ends: it holds, it does not, or there is nothing to hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Grade = Literal["good", "note", "bad"]


class Broken(Exception):  # noqa: N818 - an answer of a check, printed as a line
    """The platform does not do what it promises."""


class NotApplicable(Exception):  # noqa: N818 - the same
    """The platform does not promise this, and says so with a type."""


@dataclass(frozen=True)
class Finding:
    """One line: which check, how it ended, what was seen."""

    check: str
    grade: Grade
    seen: str


def expect(holds: bool, otherwise: str) -> None:
    """Raises ``Broken`` with the words unless it holds."""
    if not holds:
        raise Broken(otherwise)
