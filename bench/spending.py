"""What spending by information would gain for *equivalent*, in theory: normal visits, known noise.

``python -m bench.spending`` compares two functions by which each test at a margin spends its error
rate: that of the judge, which spends from the first look on, and one that spends nothing while the
noise forbids both margins to be rejected together. Single tests, so fewer visits than the judge
takes, which makes two. Exact up to simulation: boundaries are quantiles of the same paths.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

PATHS, FIRST, LAST = 200_000, 8, 96
ALPHA, AT_FIRST, BY_LAST = 0.05, 0.36, 0.9
OPENS_AT = 1.9
"""Standard errors that the margin must be before anything is spent."""
Floats = NDArray[np.float64]


def main() -> None:
    """One line for each noise, in margins, and each true effect."""
    rng = np.random.default_rng(17)
    steps = rng.normal(size=(PATHS, LAST))
    visits = np.arange(1, LAST + 1)
    drawn = (np.cumsum(steps, axis=1) / np.sqrt(visits))[:, FIRST - 1 :]
    for noise in (0.7, 1.0, 1.4, 2.0):
        drift = np.sqrt(visits[FIRST - 1 :]) / (2 * noise)
        for effect in (0.0, 0.5):
            told = [
                _summary(_stops(drawn, drift, effect, _boundary(drawn, spent)))
                for spent in (_shipped(), _informed(drift))
            ]
            print(f"noise {noise} margins, effect {effect} margins: {told[0]} -> {told[1]}")


def _shipped() -> Floats:
    looks = np.arange(FIRST, LAST + 1)
    return ALPHA * (
        AT_FIRST + (BY_LAST - AT_FIRST) * np.log(looks / FIRST) / math.log(LAST / FIRST)
    )


def _informed(drift: Floats) -> Floats:
    """The same function from the first look on at which the margin is so many standard errors."""
    looks = np.arange(FIRST, LAST + 1)
    opens = int(np.argmax(drift > OPENS_AT)) if (drift > OPENS_AT).any() else len(looks) - 1
    start = looks[opens]
    rest = math.log(LAST / start) or 1.0
    share = AT_FIRST + (BY_LAST - AT_FIRST) * np.log(np.maximum(looks, start) / start) / rest
    return np.where(looks < start, 0.0, ALPHA * share)


def _boundary(drawn: Floats, spent: Floats) -> Floats:
    """For each look the value that so large a share of the paths has passed by then."""
    alive = np.ones(len(drawn), dtype=bool)
    bounds = np.full(drawn.shape[1], np.inf)
    for look, share in enumerate(spent):
        more = round(share * len(drawn)) - int((~alive).sum())
        if more > 0:
            now = np.where(alive, drawn[:, look], -np.inf)
            bounds[look] = np.partition(now, len(now) - more)[len(now) - more]
            alive &= drawn[:, look] < bounds[look]
    return bounds


def _stops(drawn: Floats, drift: Floats, effect: float, bounds: Floats) -> NDArray[np.int_]:
    """The visit at which both margins are rejected; 0 where they never are."""
    below = np.logical_or.accumulate(drawn + (1 + effect) * drift >= bounds, axis=1)
    above = np.logical_or.accumulate(-drawn + (1 - effect) * drift >= bounds, axis=1)
    both = below & above
    return np.where(both.any(axis=1), np.argmax(both, axis=1) + FIRST, 0)


def _summary(stops: NDArray[np.int_]) -> str:
    mean = np.where(stops == 0, LAST, stops).mean()
    return f"{mean:.1f} visits, {np.mean(stops == 0):.1%} open at {LAST}"


if __name__ == "__main__":
    main()
