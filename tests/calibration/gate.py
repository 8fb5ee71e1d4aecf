"""How many errors a sample may show of a judge that errs exactly as often as it may."""

from __future__ import annotations

from scipy.stats import binom

ALPHA = 0.05
GATE_LEVEL = 0.99


def most_allowed(count: int, rate: float = ALPHA) -> int:
    """The 99 % quantile of errors in ``count`` studies of a judge that errs in ``rate``."""
    return int(binom.ppf(GATE_LEVEL, count, rate))
