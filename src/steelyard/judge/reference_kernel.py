"""What the canary of each visit said: the covariate that a study fixed before its first trial.

It counts only if it was heard before the system of the visit could change the machine: that of
the first attempt of a visit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from steelyard.inference.robust import Floats
from steelyard.records.schema import TrialRecord

PARTS = ("reference_kernel.cpu", "reference_kernel.memory", "reference_kernel.disk")
"""In the order in which they are taken for columns, as visits come."""

Heard = dict[str, float]


def heard_before(records: Sequence[TrialRecord]) -> dict[int, Heard]:
    """For each visit what was heard before it: natural logarithms of the parts that were known."""
    heard: dict[int, Heard] = {}
    for record in sorted(records, key=lambda each: (each.visit, each.trial, each.attempt)):
        if record.visit in heard:
            continue
        parts = {part: value for part in PARTS if (value := _log(record, part)) is not None}
        if parts:
            heard[record.visit] = parts
    return heard


def _log(record: TrialRecord, part: str) -> float | None:
    value = record.value(part)
    return math.log(value) if value is not None and value > 0 else None


def parts_of(visits: Sequence[int], heard: Mapping[int, Heard]) -> tuple[str, ...]:
    """The parts that were known before the first of these visits: they are the covariates."""
    return tuple(part for part in PARTS if visits and part in heard.get(visits[0], {}))


def covariate_of(visits: Sequence[int], heard: Mapping[int, Heard]) -> Floats | None:
    """Columns for these visits, shape (visits, parts); ``None`` where nothing was heard.

    Where a part is missing later, nothing has changed as far as anybody knows: the value before
    stays. So no later visit changes a column.
    """
    parts = parts_of(visits, heard)
    if not parts:
        return None
    columns = np.empty((len(visits), len(parts)))
    known = dict(heard[visits[0]])
    for row, visit in enumerate(visits):
        known |= heard.get(visit, {})
        columns[row] = [known[part] for part in parts]
    return columns
