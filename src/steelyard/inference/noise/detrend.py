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
_KEPT_UP_TO = 256
_LOOKS_BEYOND = 80
"""Of each comparison of a study, up to 1,200 visits: looks at the same visits have one basis."""


def movements(visits: int) -> int:
    """How many trends besides the constant are removed."""
    if visits < _LINE_FROM:
        return 0
    return 1 + max(0, visits // _VISITS_PER_COSINE - 1)


def basis(visits: int) -> Rows:
    """The movements as orthonormal columns, the constant first; shape (visits, 1 + movements)."""
    return (_kept if visits <= _KEPT_UP_TO else _latest)(visits)


def _basis(visits: int) -> Rows:
    """Constant and cosines are orthogonal as they are; the line is made so."""
    columns = np.full((1 + movements(visits), visits), 1 / math.sqrt(visits)).T
    place = np.arange(visits) + 0.5
    if movements(visits):
        cosines = columns[:, 2:]
        turn = turns = np.exp(1j * math.pi * place / visits)
        for wave in range(movements(visits) - 1):
            cosines[:, wave] = math.sqrt(2 / visits) * turns.real
            turns = turns * turn
        line = place - place.mean()
        for _ in range(2):
            line -= cosines @ (cosines.T @ line)
        columns[:, 1] = line / np.linalg.norm(line)
    columns.setflags(write=False)
    return columns


_kept = lru_cache(maxsize=_KEPT_UP_TO)(_basis)
_latest = lru_cache(maxsize=_LOOKS_BEYOND)(_basis)


def slow_part(rows: Rows) -> Rows:
    """What of each row, shape (rows, visits), is a low-frequency trend: least squares."""
    columns = basis(rows.shape[-1])
    return np.asarray((rows @ columns) @ columns.T)
