"""Calibrates for the first trial of a session, and anew between visits what a trial disproved.

A trial that exceeds the capacity of its calibration shows that it was measured too low, by other
work on the machine. Until then later trials would be held against a figure that means nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from steelyard.plan.model import Cell
from steelyard.records.events import CellCalibration, GeneratorCalibrated
from steelyard.records.schema import Calibration, TrialRecord
from steelyard.trial.session_state.calibrate import calibrate, cell_key
from steelyard.trial.session_state.context import SessionContext
from steelyard.trial.session_state.watcher import Watcher

MOST = 2
"""How often in a run: a machine that is busy throughout disproves every calibration."""


def calibrate_cells(
    session: SessionContext, cells: Sequence[Cell], after_visit: int | None = None
) -> None:
    """Measures what the generator can do with the loads of these cells, and records it."""
    measured = calibrate(session, cells)
    found = {key: _larger(session.calibrations.get(key), new) for key, new in measured.items()}
    session.calibrations |= found
    known = tuple(CellCalibration(cell=cell, **dict(found[cell_key(cell)])) for cell in cells)
    session.ledger.append(GeneratorCalibrated(after_visit=after_visit, cells=known))


def calibrate_anew(
    session: SessionContext, records: Sequence[TrialRecord], watcher: Watcher
) -> None:
    """Repeats the calibrations in use that a trial of the last visit has disproved.

    Raises:
        KeyboardInterrupt: the user asks to stop.
    """
    last = records[-1].visit if records else 0
    disproved = [
        record.calibration.model_copy(update={"ratio": None, "ratios": ()})
        for record in takewhile(lambda each: each.visit == last, reversed(records))
        if record.calibration and record.calibration.is_exceeded
    ]
    cells = [
        cell
        for cell in session.plan.every_cell
        if session.calibrations.get(cell_key(cell)) in disproved
    ]
    if cells and _repeated(session) < MOST:
        watcher.calibrating()
        calibrate_cells(session, cells, last)


def _larger(before: Calibration | None, new: Calibration) -> Calibration:
    """The new one with the larger capacity: what was reached once is possible."""
    capacity = max(
        (each.capacity_per_s for each in (before, new) if each and each.capacity_per_s),
        default=None,
    )
    missing = new.not_calibrated if capacity is None else None
    return new.model_copy(update={"capacity_per_s": capacity, "not_calibrated": missing})


def _repeated(session: SessionContext) -> int:
    return sum(
        isinstance(event, GeneratorCalibrated) and event.after_visit is not None
        for event in session.ledger.events()
    )
