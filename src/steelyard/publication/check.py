"""What a verification found: one check after the other, each with a kind and its figures."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class State(StrEnum):
    """``not_checked`` always comes with the reason as its kind."""

    OK = "ok"
    FAILED = "failed"
    NOT_CHECKED = "not_checked"


class Part(StrEnum):
    """What is checked, in this order."""

    FILES = "files"
    STATEMENT = "statement"
    COMMITMENT = "commitment"
    ORDER = "order"
    RECORDS = "records"
    FINDINGS = "findings"
    REPORT = "report"


@dataclass(frozen=True)
class Check:
    """One part."""

    part: Part
    state: State
    kind: str
    figures: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Verification:
    """All parts of a folder."""

    study: str
    run: str
    checks: tuple[Check, ...]

    @property
    def failed(self) -> bool:
        """Whether anything contradicts what is published."""
        return any(check.state is State.FAILED for check in self.checks)

    @property
    def replayed(self) -> bool:
        """Whether the judge gave the same findings from the same records."""
        return any(check.part is Part.FINDINGS and check.state is State.OK for check in self.checks)

    def document(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return {**asdict(self), "failed": self.failed, "replayed": self.replayed}


def ok(part: Part, kind: str, **figures: object) -> Check:
    """It was checked and fits."""
    return Check(part, State.OK, kind, figures)


def failed(part: Part, kind: str, **figures: object) -> Check:
    """It was checked and does not fit."""
    return Check(part, State.FAILED, kind, figures)


def not_checked(part: Part, kind: str, **figures: object) -> Check:
    """It cannot be checked here."""
    return Check(part, State.NOT_CHECKED, kind, figures)
