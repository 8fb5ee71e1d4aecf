"""What published comparisons used, and what of it was run: the rows of ``catalogue/support.yaml``.

Rows name tests; ``support-results.json`` beside them holds how these ended where they last ran,
and is written by ``python -m tests.support`` from what pytest reports. A state is computed from
both and written nowhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter

from steelyard.study.shipped import content_of, shipped, text_of

State = Literal["run for real", "against a stand-in", "failed", "not run", "open"]
Evidence = Literal["real", "stand_in"]


class Row(BaseModel):
    """One thing that a comparison used."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    here: dict[
        Literal[
            "platform", "service", "workload", "setting", "filesystem", "import", "command", "meter"
        ],
        str,
    ] = {}
    """By which name a study or a command asks for it."""
    real: tuple[str, ...] = ()
    """Tests that run the thing itself: a path below ``tests/``, then words of a test's name."""
    stand_in: tuple[str, ...] = ()
    """Tests against a stand-in of its tool, or with output that was not its own."""
    open: str = ""
    """Why there are no tests."""


class Outcome(BaseModel):
    """How the tests of one row ended where they last ran."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    passed: int
    failed: int
    on: str
    """The day."""
    version: str
    machine: str
    """Distribution, kernel, architecture, and what it ran in."""


@dataclass(frozen=True)
class Supported:
    """One row with its state; ``outcome`` is that of the tests that decided it."""

    group: str
    name: str
    row: Row
    state: State
    outcome: Outcome | None


Results = dict[str, dict[Evidence, Outcome]]
_ROWS = TypeAdapter(dict[str, dict[str, Row]])
_RESULTS = TypeAdapter(Results)


def rows() -> dict[str, dict[str, Row]]:
    """All rows by group and name."""
    return _ROWS.validate_python(content_of(shipped("support.yaml")))


def results() -> Results:
    """What was recorded last, by name of the row."""
    return _RESULTS.validate_python(json.loads(text_of(shipped("support-results.json"))))


def supported() -> Iterator[Supported]:
    """Every row with its state, in the order of the file."""
    recorded = results()
    for group, named in rows().items():
        for name, row in named.items():
            state, outcome = state_of(row, recorded.get(name, {}))
            yield Supported(group, name, row, state, outcome)


def state_of(row: Row, recorded: dict[Evidence, Outcome]) -> tuple[State, Outcome | None]:
    """The best that its tests show. A failure of either kind is not hidden by the other."""
    if not (row.real or row.stand_in):
        return "open", None
    failures = [outcome for outcome in recorded.values() if outcome.failed]
    if failures:
        return "failed", failures[0]
    if row.real and "real" in recorded:
        return "run for real", recorded["real"]
    if row.stand_in and "stand_in" in recorded:
        return "against a stand-in", recorded["stand_in"]
    return "not run", None


def matches(pattern: str, path: str, test: str) -> bool:
    """Whether a test, by its path below ``tests/`` and its name, is one of a row's."""
    file, _, words = pattern.partition(" ")
    if words.startswith("["):
        words, test = words.strip("[]"), test.partition("[")[2]
    return path == file and words in test


def as_json(each: Supported) -> dict[str, Any]:
    """One row of ``steelyard support --json``."""
    return {
        "group": each.group,
        "name": each.name,
        "here": each.row.here,
        "state": each.state,
        "open": each.row.open or None,
        "outcome": each.outcome and each.outcome.model_dump(),
    }
