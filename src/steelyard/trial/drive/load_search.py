"""The search for the largest load that keeps its limits: which load is tried next. Pure.

It doubles from the smallest load of the study until a limit breaks, or halves until all hold, and
then halves the gap until it is within ``precision_ratio``. What is found must hold once more over
a whole window; where it does not, the search goes on below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.records.missing import LimitNotKnown, Missing, NoLoadFound

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
class Broken:
    """A limit that did not hold, or of which that is not known: ``missing`` then says why."""

    name: str
    limit: str
    value: float | None
    missing: Missing | None = None


@dataclass(frozen=True)
class Step:
    """One load that was tried. ``final``: over a whole window. ``broken``: the limit that did."""

    load: float
    held: bool
    final: bool = False
    broken: Broken | None = None


@dataclass(frozen=True)
class Found:
    """The answer: a load, or the reason why there is none."""

    load: float | None
    missing: Missing | None


def next_step(steps: Sequence[Step], bounds: Bounds) -> Step | Found:
    """What to try next (``held`` means nothing yet), or what came of it all."""
    ended = _ended(steps)
    if ended is not None:
        return ended
    low, high = _bracket(steps)
    if low is None:
        return Step(bounds.first, held=False) if high is None else _below(high, bounds, len(steps))
    return _above(low, bounds, len(steps)) if high is None else _between(low, high, bounds)


def _ended(steps: Sequence[Step]) -> Found | None:
    finals = [step for step in steps if step.final]
    held = [step for step in finals if step.held]
    if held:
        return Found(held[0].load, None)
    broken = steps[-1].broken if steps else None
    if broken is not None and broken.missing is not None:
        missing = LimitNotKnown(load=steps[-1].load, limit=broken.name, missing=broken.missing)
        return Found(None, missing)
    if len(finals) >= MOST_FINALS or len(steps) >= MOST_STEPS:
        last = steps[-1].load
        return Found(None, NoLoadFound(kind="no_load_held_twice", load=last, runs=len(steps)))
    return None


def _above(low: float, bounds: Bounds, runs: int) -> Step | Found:
    if low >= bounds.most:
        return Found(None, NoLoadFound(kind="limits_held_up_to", load=bounds.most, runs=runs))
    return Step(min(2 * low, bounds.most), held=False)


def _between(low: float, high: float, bounds: Bounds) -> Step:
    middle = (low + high) / 2
    middle = float(int(middle)) if bounds.whole else middle
    if high <= low * (1 + bounds.precision_ratio) or middle <= low:
        return Step(low, held=False, final=True)
    return Step(middle, held=False)


def _below(high: float, bounds: Bounds, runs: int) -> Step | Found:
    if high <= bounds.least:
        return Found(None, NoLoadFound(kind="limits_broken_down_to", load=bounds.least, runs=runs))
    lower = high / 2
    return Step(max(float(int(lower)) if bounds.whole else lower, bounds.least), held=False)


def _bracket(steps: Sequence[Step]) -> tuple[float | None, float | None]:
    """The smallest load that broke, and the largest below it that held."""
    broke = min((step.load for step in steps if not step.held), default=None)
    held = [step.load for step in steps if step.held and (broke is None or step.load < broke)]
    return max(held, default=None), broke
