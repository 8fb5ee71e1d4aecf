"""Whether throughput was steady within the windows."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.judge.analyses.steadiness.findings import (
    Drifts,
    LevelChanges,
    NoOperations,
    NothingCompleted,
    TooFewIntervals,
    TooNoisy,
)
from steelyard.judge.kinds.caveats import NeverSteady, SteadinessUnknown, SteadyLater
from steelyard.plan.model import Cell
from steelyard.report.effects import signed_effect
from steelyard.report.figures import counted
from steelyard.report.notes.caveats import extent_text
from steelyard.report.notes.registry import text, writes, writes_levels
from steelyard.study.ending import Extent
from steelyard.study.labels import Labels


@writes(TooFewIntervals)
def _too_few_intervals(note: TooFewIntervals) -> str:
    return f"{counted(note.intervals, 'interval')}, at least {note.needed} are needed"


@writes(NothingCompleted)
def _nothing_completed(_: NothingCompleted) -> str:
    return "no operation was completed"


@writes(NoOperations)
def _no_operations(_: NoOperations) -> str:
    return "streams have no operations, and their bytes are not counted by interval"


@writes(LevelChanges)
def _level_changes(_: LevelChanges) -> str:
    return "its level changes within the window"


@writes(Drifts)
def _drifts(_: Drifts) -> str:
    return "it drifts to the end of the window"


@writes(TooNoisy)
def _too_noisy(_: TooNoisy) -> str:
    return "noise hides whether it drifts"


@writes_levels(NeverSteady)
def _never_steady(note: NeverSteady, labels: Labels) -> str:
    return (
        f"Throughput is not steady within the window in {_cells(note.cells, labels)}: results hold "
        f"for {_declared(note.extent)}, and not for longer runs"
    )


@writes_levels(SteadyLater)
def _steady_later(note: SteadyLater, labels: Labels) -> str:
    where = _cells(note.cells, labels)
    return (
        f"Throughput becomes steady only within the window in {where}, which moves its mean by up "
        f"to {signed_effect(note.bias_log)}: results hold for {_declared(note.extent)}. "
        f"Declare `warmup: {note.warmup_s:g} s`, the same for all systems, to leave out the "
        "transient"
    )


@writes_levels(SteadinessUnknown)
def _steadiness_unknown(note: SteadinessUnknown, labels: Labels) -> str:
    why = "" if note.reason is None else f": {text(note.reason, labels)}"
    return f"Whether throughput was steady is not known in {_cells(note.cells, labels)}{why}"


def _declared(extent: Extent) -> str:
    """Trials that end by their work have no window that is declared."""
    what = "the declared window" if extent.window_s is not None else "trials that end by their work"
    return f"{what}, {extent_text(extent)}"


def _cells(cells: Sequence[Cell], labels: Labels) -> str:
    """The first by name, the rest by number."""
    first = labels.place(cells[0].system, cells[0].conditions)
    return first if len(cells) == 1 else f"{first} and {counted(len(cells) - 1, 'more cell')}"
