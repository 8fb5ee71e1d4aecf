"""Equal systems that something else may hold at the same throughput."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

import numpy as np

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.comparisons.comparison import Judged
from steelyard.judge.kinds.verdict_notes import CapPossible
from steelyard.judge.visits.series import Visits

_IDLE = 0.5
_ALIKE_LOG = 0.01


def cap_possible(judged: Judged, readings: Visits) -> CapPossible | None:
    """A rate limit, the speed of a link or the pace of the generator: equal beside idle CPUs."""
    found, series = judged.estimate(), judged.series.defined()
    if judged.comparison.response.name != "throughput" or found is None:
        return None
    if VerdictWord.EQUIVALENT not in judged.words or abs(found.ratio_log) > _ALIKE_LOG:
        return None
    spread = max(float(np.std(series.values[arm])) for arm in (series.other, ~series.other))
    used = [readings.cpu_ratio(visit) for visit in series.visits]
    one, another = (_middle([u for u, m in zip(used, arm, strict=True) if m]) for arm in
                    (~series.other, series.other))  # fmt: skip
    if one is None or another is None or max(one, another) > _IDLE or spread > _ALIKE_LOG:
        return None
    return CapPossible(cpu_baseline=one, cpu_other=another, spread_log=spread)


def _middle(used: Sequence[float | None]) -> float | None:
    known = [each for each in used if each is not None]
    return median(known) if known and len(known) == len(used) else None
