"""Verdicts that would be about the machine or the generator, and not about the systems."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from steelyard.inference.diagnostics import counts_differ
from steelyard.inference.distributions import t_bound
from steelyard.inference.verdict_word import VerdictWord
from steelyard.inference.welch import contrast
from steelyard.judge.series import Pair, Readings, Series

Mask = npt.NDArray[np.bool_]

FROM_OUTSIDE = {
    "steal": "stolen processor time",
    "foreign_cpu": "other programs",
    "raid_rebuilding": "an array that was rebuilt",
    "throttled": "a processor that was throttled",
    "clock_step": "a clock that was stepped",
    "clock_drift": "a clock that drifted",
}
"""Doubts that speak of the machine. Swapping and the like may be what a system is slow by."""

_LEVEL = 0.01
_LEVEL_OF_A_LOOK = 0.002
"""Of what is asked again after every visit until it holds: about 1 % of a study."""
_MOST_SATURATED = 0.5
_SATURATED = "generator_near_ceiling"


def disturbed(pair: Pair, series: Series, readings: Readings) -> str | None:
    """What disturbed the visits of one system much more often than those of the other.

    Fisher's exact test at 1 % for each kind, as it is asked again after every visit.
    """
    visits = _visits(pair, series)
    for kind, words in FROM_OUTSIDE.items():
        hit = {name: _having(kind, of, readings) for name, of in visits.items()}
        one, another = ((hit[name], len(visits[name])) for name in (pair.baseline, pair.other))
        if counts_differ(one, another, level=_LEVEL):
            return (
                f"disturbed unequally: {words} in {one[0]} of {one[1]} visits of {pair.baseline} "
                f"and {another[0]} of {another[1]} of {pair.other}, so it may be the machine "
                "that differs"
            )
    return None


def saturated(
    pair: Pair, series: Series, readings: Readings, words: tuple[VerdictWord, ...]
) -> str | None:
    """Two systems called equivalent that were not the limit: the generator was."""
    if VerdictWord.EQUIVALENT not in words:
        return None
    for name, visits in _visits(pair, series).items():
        count = _having(_SATURATED, visits, readings)
        if count > _MOST_SATURATED * len(visits):
            return (
                f"the generator was near its ceiling in {count} of {len(visits)} visits of {name}: "
                "that systems keep it equally busy does not make them equivalent"
            )
    return None


def owed_to(
    pair: Pair, series: Series, readings: Readings, words: tuple[VerdictWord, ...]
) -> str | None:
    """A difference that is not clear when disturbed visits are compared with their like alone.

    Of few visits, the disturbed ones decide before Fisher's test can tell that they are unequal.
    Asked of what disturbed the system that is behind more often than the one ahead; one-sided at
    0.2 %, as a study asks until it holds, with the same contrast as the second test, beside the
    disturbance.
    """
    wins = {VerdictWord.FASTER: True, VerdictWord.SLOWER: False}
    ahead = next((wins[word] for word in words if word in wins), None)
    if ahead is None:
        return None
    known = series.defined()
    for kind, cause in FROM_OUTSIDE.items():
        hit = np.array([kind in readings.doubts(visit) for visit in known.visits])
        behind = known.other != ahead
        if not hit[behind].any() or hit[behind].mean() <= hit[~behind].mean():
            continue
        if not _clear_beside(hit, known, ahead=ahead):
            return (
                f"without what goes with {cause}, in {int(hit[behind].sum())} of "
                f"{int(behind.sum())} visits of {pair.baseline if ahead else pair.other}, the "
                "difference is not clear: it may be the machine that differs"
            )
    return None


def _clear_beside(hit: Mask, series: Series, *, ahead: bool) -> bool:
    """Whether the system ahead is ahead among visits that are alike, as far as they can tell."""
    alike = [(mask & series.other).sum() > 1 < (mask & ~series.other).sum() for mask in (hit, ~hit)]
    if not any(alike):
        return False
    found = contrast(series.values, series.other, covariate=hit.astype(np.float64))
    if found is None:
        return False
    reach = float(t_bound(_LEVEL_OF_A_LOOK, found.freedom)) * found.standard_error_log
    return (found.difference_log if ahead else -found.difference_log) > reach


def _visits(pair: Pair, series: Series) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {pair.baseline: [], pair.other: []}
    for visit, other in zip(series.visits, series.other, strict=True):
        found[pair.other if other else pair.baseline].append(visit)
    return found


def _having(kind: str, visits: list[int], readings: Readings) -> int:
    """How many of the visits have a good trial with such a doubt."""
    return sum(kind in readings.doubts(visit) for visit in visits)
