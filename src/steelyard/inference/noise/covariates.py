"""What was known of the machine before each visit, as columns that may be taken out of the visits.

How many columns are asked is a function of the number of visits alone, fixed before the first, so
that no one can try with and without and keep what looks better.
"""

from __future__ import annotations

import numpy as np

from steelyard.inference.noise.robust import ROUNDING_LOG, Floats

VISITS_PER_COLUMN = 12


def asked_columns(visits: int) -> int:
    """How many covariates count beside so many visits."""
    return max(1, visits // VISITS_PER_COLUMN)


def quick_parts(covariate: Floats, movements: Floats) -> Floats:
    """Covariates without low-frequency trends: orthonormal columns, shape (visits, columns).

    ``covariate`` has the shape (visits,) or (visits, covariates), ``movements`` orthonormal
    columns. The first covariate always counts, a further one for every 12 visits beyond the
    first 12. One that tells nothing new is left out.
    """
    visits = len(covariate)
    beside = covariate.reshape(visits, -1)[:, : asked_columns(visits)]
    kept: list[Floats] = []
    for column in beside.T:
        quick = column - movements @ (movements.T @ column)
        for other in kept:
            quick = quick - (other @ quick) * other
        size = float(np.linalg.norm(quick))
        if size > ROUNDING_LOG:
            kept.append(quick / size)
    return np.column_stack(kept) if kept else np.empty((visits, 0))
