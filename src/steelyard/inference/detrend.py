"""Low-frequency trends of a machine, which are removed from all visits before these are weighed.

A constant, from the 12th visit a straight line, from the 48th on one more cosine for every 24
visits. They are functions of the place alone and their number is one of n alone, so taking them
out knows nothing of the systems.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.floating[Any]]

_LINE_FROM = 12
_VISITS_PER_COSINE = 24


def movements(visits: int) -> int:
    """How many trends besides the constant are removed."""
    if visits < _LINE_FROM:
        return 0
    return 1 + max(0, visits // _VISITS_PER_COSINE - 1)


@lru_cache(maxsize=512)
def basis(visits: int) -> Rows:
    """The movements as orthonormal columns, the constant first; shape (visits, 1 + movements)."""
    place = np.arange(visits)
    columns = [np.ones(visits)]
    if movements(visits):
        columns.append(place - place.mean())
    waves = range(1, movements(visits))
    columns += [np.cos(math.pi * wave * (place + 0.5) / visits) for wave in waves]
    orthonormal, _ = np.linalg.qr(np.column_stack(columns))
    orthonormal.setflags(write=False)
    return np.asarray(orthonormal)


def slow_part(rows: Rows) -> Rows:
    """What of each row, shape (rows, visits), is a low-frequency trend: least squares."""
    columns = basis(rows.shape[-1])
    return np.asarray((rows @ columns) @ columns.T)
