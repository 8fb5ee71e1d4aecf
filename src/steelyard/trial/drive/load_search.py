"""The search for the largest load that keeps its limits: which load is tried next. Pure.

It doubles from the smallest load of the study until a limit breaks, or halves until all hold, and
then halves the gap until it is within ``precision_ratio``. What is found must hold once more over
a whole window; where it does not, the search goes on below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

PRECISION_RATIO = 0.05
BEYOND_THE_STUDY = 16
"""How far above the largest load of a study the search goes."""
MOST_FINALS = 3
MOST_STEPS = 40


@dataclass(frozen=True)
class Bounds:
    """``first`` is tried first; ``whole``: only whole numbers, as users are."""

    first: float
    least: float
    most: float
    whole: bool
    precision_ratio: float = PRECISION_RATIO


@dataclass(frozen=True)
class Step:
    """One load that was tried. ``final``: over a whole window. ``broken`` says which limit broke;
    ``untold``: that it cannot be known, as with too few answers for a percentile.
    """

    load: float
    held: bool
    final: bool = False
    broken: str | None = None
    untold: bool = False


@dataclass(frozen=True)
class Found:
    """The answer: a load, or the reason why there is none."""

    load: float | None
    missing: str | None


def next_step(steps: Sequence[Step], bounds: Bounds) -> Step | Found:
    """What to try next (``held`` means nothing yet), or what came of it all."""
    ended = _ended(steps)
    if ended is not None:
        return ended
    low, high = _bracket(steps)
    if low is None:
        return Step(bounds.first, held=False) if high is None else _below(high, bounds)
    return _above(low, bounds) if high is None else _between(low, high, bounds)


def _ended(steps: Sequence[Step]) -> Found | None:
    finals = [step for step in steps if step.final]
    held = [step for step in finals if step.held]
    if held:
        return Found(held[0].load, None)
    if steps and steps[-1].untold:
        return Found(None, f"at {steps[-1].load:g} it cannot be determined: {steps[-1].broken}")
    if len(finals) >= MOST_FINALS or len(steps) >= MOST_STEPS:
        return Found(None, f"no load held twice in {len(steps)} runs")
    return None


def _above(low: float, bounds: Bounds) -> Step | Found:
    if low >= bounds.most:
        return Found(None, f"the limits hold up to {bounds.most:g}, the largest that is tried")
    return Step(min(2 * low, bounds.most), held=False)


def _between(low: float, high: float, bounds: Bounds) -> Step:
    middle = (low + high) / 2
    middle = float(int(middle)) if bounds.whole else middle
    if high <= low * (1 + bounds.precision_ratio) or middle <= low:
        return Step(low, held=False, final=True)
    return Step(middle, held=False)


def _below(high: float, bounds: Bounds) -> Step | Found:
    if high <= bounds.least:
        return Found(None, f"the limits do not hold even at {bounds.least:g}")
    lower = high / 2
    return Step(max(float(int(lower)) if bounds.whole else lower, bounds.least), held=False)


def _bracket(steps: Sequence[Step]) -> tuple[float | None, float | None]:
    """The smallest load that broke, and the largest below it that held."""
    broke = min((step.load for step in steps if not step.held), default=None)
    held = [step.load for step in steps if step.held and (broke is None or step.load < broke)]
    return max(held, default=None), broke
