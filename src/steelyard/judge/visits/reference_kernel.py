"""What the reference kernel measured before each visit: the covariate of a study.

It counts only if it was measured before the system of the visit could change the machine: that of
the first attempt of a visit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.records.schema import TrialRecord

PARTS = ("reference_kernel.cpu", "reference_kernel.memory", "reference_kernel.disk")
"""In the order in which they are taken for columns, as visits come."""

KernelParts = dict[str, float]


def measured_before(records: Sequence[TrialRecord]) -> dict[int, KernelParts]:
    """For each visit what was measured before it: natural logarithms of the known parts."""
    measured: dict[int, KernelParts] = {}
    for record in sorted(records, key=lambda each: (each.visit, each.trial, each.attempt)):
        if record.visit in measured:
            continue
        parts = {part: value for part in PARTS if (value := _log(record, part)) is not None}
        if parts:
            measured[record.visit] = parts
    return measured


def _log(record: TrialRecord, part: str) -> float | None:
    value = record.value(part)
    return math.log(value) if value is not None and value > 0 else None


def parts_of(visits: Sequence[int], measured: Mapping[int, KernelParts]) -> tuple[str, ...]:
    """The parts that were known before the first of these visits: they are the covariates."""
    return tuple(part for part in PARTS if visits and part in measured.get(visits[0], {}))


def covariate_of(visits: Sequence[int], measured: Mapping[int, KernelParts]) -> Floats | None:
    """Columns for these visits, shape (visits, parts); ``None`` where nothing was measured.

    Where a part is missing later, nothing has changed as far as anybody knows: the value before
    stays. So no later visit changes a column.
    """
    parts = parts_of(visits, measured)
    if not parts:
        return None
    columns = np.empty((len(visits), len(parts)))
    known = dict(measured[visits[0]])
    for row, visit in enumerate(visits):
        known |= measured.get(visit, {})
        columns[row] = [known[part] for part in parts]
    return columns
