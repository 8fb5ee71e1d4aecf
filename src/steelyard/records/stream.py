"""What ``run --json`` prints besides the events of the ledger, for whoever watches a run."""

from __future__ import annotations

import functools
from typing import Annotated, Literal

from pydantic import Field, JsonValue, TypeAdapter

from steelyard.plan.model import Cell
from steelyard.records.events import Event, Recorded
from steelyard.records.schema import Outcome
from steelyard.records.warnings import WarningKind


class RunPlanned(Recorded):
    """A session begins on ``run``, the folder of its records, of whose trials some are done.

    ``commitment`` is the digest of that to study, plan and seed; ``None`` of a run without.
    """

    event: Literal["run_planned"] = "run_planned"
    tool_version: str
    run: str
    study: str
    study_sha256: str
    seed: int
    commitment: str | None = None
    systems: tuple[str, ...]
    visits: int
    trials: int
    trials_done: int


class MachineTurn(Recorded):
    """What follows is of this machine of several, which take turns."""

    event: Literal["machine_turn"] = "machine_turn"
    machine: str


class AttemptMeasured(Recorded):
    """What an attempt said of its primary response; all of it is in its record.

    ``value`` is ``None`` where it was not measured. ``at_most_s_more`` is how long the rest of the
    plan takes by the trials so far; it may end before.
    """

    event: Literal["attempt_measured"] = "attempt_measured"
    trial: int
    attempt: int
    visit: int
    cell: Cell
    outcome: Outcome
    response: str
    value: float | None
    unit: str
    warnings: tuple[WarningKind, ...]
    at_most_s_more: float | None


class RunJudged(Recorded):
    """The run has ended by itself. ``findings`` are those of ``findings.json``, ``reports`` the
    files that were written, ``exit_code`` that of the command.
    """

    event: Literal["run_judged"] = "run_judged"
    exit_code: int
    reports: tuple[str, ...]
    findings: dict[str, JsonValue]


StreamEvent = Event | RunPlanned | MachineTurn | AttemptMeasured | RunJudged
"""A line of ``run --json``: an event of the ledger, or one for whoever watches alone."""


@functools.cache
def stream_adapter() -> TypeAdapter[StreamEvent]:
    """Reads a line of ``run --json`` by the name of its event."""
    return TypeAdapter(Annotated[StreamEvent, Field(discriminator="event")])
