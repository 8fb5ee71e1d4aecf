"""Four factors with two levels, one with nineteen, ten replicates: 3,040 trials analysed.

Everything a report says: the boundary simulated afresh, every look, every effect, all shares. The
naive way is one regression on all dummy variables for each look, which gives the same effects.
"""

from __future__ import annotations

import numpy as np
from bench.judge.table import Row, in_turn

from steelyard.inference.noise.robust import Floats
from steelyard.judge.analyses.factors import boundary
from steelyard.judge.analyses.factors.design import Design, full_factorial
from steelyard.judge.analyses.factors.questions import questions
from steelyard.judge.analyses.factors.screening import Screening, screen
from steelyard.judge.analyses.factors.shares import shares

LEVELS, REPLICATES, GOAL_S, REPEATS = (2, 2, 2, 2, 19), 10, 5.0, 3
_MARGIN_LOG = float(np.log(1.02))


def rows() -> list[Row]:
    """One row; raises if the naive way finds other effects."""
    design = full_factorial(LEVELS)
    random = np.random.default_rng(1)
    trials = [random.normal(0, 0.02, design.cells) for _ in range(REPLICATES)]
    found: list[Screening] = []
    slopes: list[Floats] = []

    def analysed(_turn: int) -> None:
        boundary.forget()
        found.append(_analysed(design, trials))

    own, naive = in_turn(
        [analysed, lambda _turn: slopes.append(_regressions(design, trials))], REPEATS
    )
    if not np.allclose([each.estimate for each in found[0].answers], slopes[0]):
        raise AssertionError("the regression finds other effects")
    what = "2^4 factors x 19 levels x 10 replicates, 3,040 trials"
    return [Row(what, own, naive, GOAL_S)]


def _analysed(design: Design, trials: list[Floats]) -> Screening:
    found = screen(design, trials, REPLICATES, _MARGIN_LOG, 0.05)
    if found.fit is not None:
        shares(found.fit, seed=1)
    return found


def _regressions(design: Design, trials: list[Floats]) -> Floats:
    """Least squares on cells and blocks at each look; the effects of the last."""
    effects = np.empty(0)
    for look in range(2, len(trials) + 1):
        cells = np.tile(np.eye(design.cells), (look, 1))
        blocks = np.repeat(np.eye(look)[:, 1:], design.cells, axis=0)
        matrix = np.hstack([cells, blocks])
        fitted, *_ = np.linalg.lstsq(matrix, np.concatenate(trials[:look]), rcond=None)
        weights = np.asarray([each.weights[0] for each in questions(design)])
        effects = weights @ fitted[: design.cells]
    return effects
