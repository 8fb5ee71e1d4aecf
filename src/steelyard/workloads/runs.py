"""Workloads that are commands run on the system itself: the user's own, and the engine's kernels.

What they print becomes responses. Their time is taken by the controller's clock: a guest's own may
run as its processors are scheduled.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.engine.messages import Ran
from steelyard.records.schema import Measured
from steelyard.workloads.kernel import kernel_command, kernel_responses

Words = list[str]


@dataclass(frozen=True)
class Timed:
    """One command that was run, and when by the controller's monotonic clock."""

    ran: Ran
    started_ns: int
    ended_ns: int


@dataclass(frozen=True)
class Runs:
    """How a workload becomes commands, one after the other, and their output becomes responses.

    ``commands`` takes the settings of the workload, ``responses`` what the first of them left.
    """

    commands: Callable[[Mapping[str, Any]], list[Words]]
    responses: Callable[[Sequence[Timed]], dict[str, Measured]]


def placed(words: Sequence[str], places: Mapping[str, str]) -> Words:
    """``words`` with each ``{mount}`` replaced; other braces stay as they are."""
    filled = []
    for word in words:
        for name, value in places.items():
            word = word.replace(f"{{{name}}}", value)  # noqa: PLW2901 - all places, in turn
        filled.append(word)
    return filled


def _commands(settings: Mapping[str, Any]) -> list[Words]:
    further = list(settings.get("then") or ())
    return [list(settings["command"]), *([further] if further else [])]


def _run_time(timed: Sequence[Timed]) -> dict[str, Measured]:
    span_ns = timed[-1].ended_ns - timed[0].started_ns
    return {"run_time": Measured(value=span_ns / 1e9, unit="s")}


def _kernel(use: str) -> Runs:
    def responses(timed: Sequence[Timed]) -> dict[str, Measured]:
        return kernel_responses(json.loads(timed[0].ran.stdout))

    return Runs(lambda settings: [kernel_command(use, settings)], responses)


RUNS: dict[str, Runs] = {
    "command": Runs(_commands, _run_time),
    "linpack": _kernel("linpack"),
    "ram": _kernel("ram"),
}
"""Every workload that is a command; all others are driven by the load engine."""
