"""The tests that have a floor: a tool and the minimal client take turns, several times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from bench.truth import criteria, floor, noise
from bench.truth.experiments import EXPERIMENTS, Attempt, Cell
from bench.truth.least import Least
from bench.truth.tools import Tool

Once = Callable[[Tool], Attempt]


def cell(tool: Tool, test: str) -> Cell:
    """Runs the pairs, or of the minimal client its runs, and judges them."""
    needed, once = EXPERIMENTS[test]
    if isinstance(tool, Least):
        return least_cell(tool, test, once)
    if not tool.installed():
        return Cell(tool.name, test, "not run", note=f"{tool.name} is not installed")
    if needed not in tool.can:
        return Cell(tool.name, test, "cannot", note=tool.cannot[needed])
    tools, floors = taken_in_turns(tool, Least(), once)
    found = floor.verdict(test, [run for run, _ in tools], [run for run, _ in floors])
    return shown(tool, test, found, [*tools, *floors])


def least_cell(tool: Tool, test: str, once: Once) -> Cell:
    """The floor itself; of one user also what is left of it when no one sleeps."""
    if test != "delay":
        runs = [once(tool) for _ in range(criteria.PAIRS)]
        return shown(tool, test, floor.own(test, [run for run, _ in runs]), runs)
    sleeping, polling = taken_in_turns(tool, Least(polls=True), once)
    found = floor.own(test, [run for run, _ in sleeping])
    found.figures["polling"] = floor.medians(test, [run for run, _ in polling])
    return shown(tool, test, found, [*sleeping, *polling])


def taken_in_turns(one: Tool, other: Tool, once: Once) -> tuple[list[Attempt], list[Attempt]]:
    """So many pairs; who begins changes from pair to pair. One that cannot be judged ends it."""
    runs: dict[bool, list[Attempt]] = {True: [], False: []}
    for number in range(criteria.PAIRS):
        for first in (number % 2 == 0, number % 2 == 1):
            runs[first].append(once(one if first else other))
        if runs[True][-1][0].miss is None:
            break
    return runs[True], runs[False]


def shown(tool: Tool, test: str, found: floor.Verdict, attempts: list[Attempt]) -> Cell:
    """The cell, with the noise of all its runs."""
    quiet = noise.typical([each for _, each in attempts])
    figures = {**found.figures, "noise": asdict(quiet)}
    return Cell(
        tool.name,
        test,
        found.state,
        figures,
        found.note,
        attempts=len(attempts),
        noise=tuple(quiet.reasons),
    )
