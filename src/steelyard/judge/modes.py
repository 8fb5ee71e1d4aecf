"""Visits of a system that fall into two groups: a machine or a system with two states.

A median between two groups is a value that was never measured, so the groups are named. They are
told where the best cut leaves groups whose means lie five of their own standard deviations apart;
cut in the same way, one normal group shows about 2.7 (how often this errs: docs/methods/judge.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from steelyard.inference.weights import Floats
from steelyard.judge.comparison import Judged

FEWEST_VISITS = 16
_LEAST_SHARE = 0.15
_LEAST_IN_GROUP = 3
_APART_SDS = 5.0


class Modes(NamedTuple):
    """Two groups of one arm, the worse one first: how many visits, and the ratio between them."""

    worse: int
    better: int
    ratio_log: float


def modes_of(arm: Floats) -> Modes | None:
    """The two groups into which the visits of one system fall; ``None`` where they do not."""
    count = len(arm)
    fewest = max(_LEAST_IN_GROUP, math.ceil(_LEAST_SHARE * count))
    if count < FEWEST_VISITS:
        return None
    values = np.sort(arm)
    cuts = range(fewest, count - fewest + 1)
    best = min(cuts, key=lambda cut: _within(values[:cut]) + _within(values[cut:]))
    low, high = values[:best], values[best:]
    apart = float(high.mean() - low.mean())
    spread = math.sqrt((_within(low) + _within(high)) / (count - 2))
    return Modes(best, count - best, apart) if apart > _APART_SDS * spread > 0 else None


def _within(group: Floats) -> float:
    return float(np.sum((group - group.mean()) ** 2))


def mode_words(judged: Iterable[Judged]) -> Iterator[str]:
    """One sentence for each system of a comparison over all conditions that has two groups."""
    arms: dict[tuple[str, str], Floats] = {}
    for each in judged:
        series, pair = each.series.defined(), each.comparison.pair
        label = each.comparison.response.label
        if not series.problems:
            arms.setdefault((pair.baseline, label), series.values[~series.other])
            arms[pair.other, label] = series.values[series.other]
    for (system, label), arm in arms.items():
        found = modes_of(arm)
        if found is not None:
            yield (
                f"The visits of {system} fall into two groups: {label} of {found.better} of them "
                f"is {_times(found.ratio_log)} better than of the other {found.worse}. A typical "
                "value between the two was hardly measured; what tells the groups apart?"
            )


def _times(ratio_log: float) -> str:
    return f"{math.expm1(ratio_log):.1%}".replace("%", " %")
