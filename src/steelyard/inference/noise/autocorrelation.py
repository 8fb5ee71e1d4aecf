"""The lag-1 autocorrelation that is removed from residuals before they are tested.

Estimated with the bias of short series added back (1.5 over the number of visits), from 16 visits
on, and cut to 0.95 in size. Removing what is only chance costs power and, in Welch's test, makes
arms of unequal spread look more certain than they are; so there are two rules for what is beyond
chance.
"""

from __future__ import annotations

import math

import numpy as np

from steelyard.inference.noise.robust import Floats

_FROM_VISITS = 16
_AT_LEAST = 0.25
_ERRORS = 2.0
_AT_MOST = 0.95
_BIAS = 1.5


def removed_from_rows(rows: Floats) -> Floats:
    """For the re-randomisation test, of each row, shape (rows, 1).

    Positive from 0.25 on; negative from 0.25 or two standard errors on, whichever is larger,
    because random assignment with balance makes an effect itself alternate.
    """
    count = rows.shape[1]
    if count < _FROM_VISITS:
        return np.zeros((len(rows), 1))
    deviations = rows - np.add.reduce(rows, axis=1, keepdims=True) / count
    total = np.add.reduce(deviations**2, axis=1, keepdims=True)
    lagged = np.add.reduce(deviations[:, 1:] * deviations[:, :-1], axis=1, keepdims=True)
    phi = np.divide(lagged, total, out=np.zeros_like(total), where=total > 0) + _BIAS / count
    beyond = (phi >= _AT_LEAST) | (phi <= -_beyond_chance(count))
    return np.where(beyond, np.minimum(np.maximum(phi, -_AT_MOST), _AT_MOST), 0.0)


def removed_from_residuals(rest: Floats) -> float:
    """For Welch's test, of residuals of a fit: of either sign from the larger of both bounds on."""
    count, total = len(rest), float(rest @ rest)
    if count < _FROM_VISITS or total == 0:
        return 0.0
    phi = float(rest[1:] @ rest[:-1]) / total + _BIAS / count
    return max(-_AT_MOST, min(phi, _AT_MOST)) if abs(phi) >= _beyond_chance(count) else 0.0


def _beyond_chance(visits: int) -> float:
    return max(_AT_LEAST, _ERRORS / math.sqrt(visits))
