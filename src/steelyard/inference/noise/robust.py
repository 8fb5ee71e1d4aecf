"""Medians and spreads that a few wild visits do not move."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

MAD_TO_SD = 1.4826
"""Standard deviation over median absolute deviation, of normal values."""

ROUNDING_LOG = 1e-12
"""Differences of logarithms up to this are rounding."""


def mad_sd(values: Floats, about: float | None = None) -> float:
    """Standard deviation by the median absolute deviation, from the median by default."""
    centre = np.median(values) if about is None else about
    return MAD_TO_SD * float(np.median(np.abs(values - centre)))


def row_sds(rows: Floats) -> Floats:
    """That about 0 of each row, shape (rows, 1), without calls that cost more than short rows do.

    Where more than half of a row is 0, half its largest value; infinite where all is 0.
    """
    sizes = np.abs(rows)
    half = rows.shape[1] // 2
    lower = half if rows.shape[1] % 2 else half - 1
    sizes.partition((lower, half, rows.shape[1] - 1), axis=1)
    spread = MAD_TO_SD * ((sizes[:, lower : lower + 1] + sizes[:, half : half + 1]) / 2)
    if spread.min() > ROUNDING_LOG:
        return np.asarray(spread)
    spread = np.where(spread > ROUNDING_LOG, spread, sizes[:, -1:] / 2)
    return np.where(spread > ROUNDING_LOG, spread, np.inf)
