"""What an import keeps: ``import.json`` beside the files that it was read from."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from steelyard.plan.model import Frozen
from steelyard.records.missing import Missing
from steelyard.study.model import Direction, Level


class ImportedFile(Frozen):
    """One file as it was given, and as it is kept; ``version`` as it says itself."""

    name: str
    kept_as: str
    sha256: str
    version: str | None


class ImportedResponse(Frozen):
    """What was measured; numbers are stored in ``unit``, whatever the tool printed."""

    name: str
    label: str
    unit: str
    direction: Direction
    may_be_zero: bool


class ImportedTrial(Frozen):
    """One trial; ``file`` counts the files from 1. ``missing`` says why it lacks a number."""

    trial: int
    visit: int
    system: str
    conditions: dict[str, Level]
    file: int
    values: dict[str, float]
    missing: dict[str, Missing] = Field(default={})


class ImportRecord(Frozen):
    """All that was read. Nothing is known of the order, and the number of trials is as given.

    ``left_out`` counts the trials that the files hold of each system that was not named.
    """

    schema_version: Literal[1] = 1
    tool_version: str
    kind: str
    question: str
    systems: tuple[str, ...]
    baseline: str
    margin_ratio: float
    primary: str
    responses: tuple[ImportedResponse, ...]
    files: tuple[ImportedFile, ...]
    trials: tuple[ImportedTrial, ...]
    left_out: dict[str, int] = Field(default={})

    def response(self, name: str) -> ImportedResponse:
        """The response of this name, which is one of them."""
        return next(each for each in self.responses if each.name == name)

    @property
    def conditions(self) -> tuple[dict[str, Level], ...]:
        """Every combination that was measured, in the order of the files."""
        found = {tuple(trial.conditions.items()): trial.conditions for trial in self.trials}
        return tuple(found.values())
