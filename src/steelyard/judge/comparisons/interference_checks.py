"""Verdicts that would be about the machine or the generator, and not about the systems."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np

from steelyard.inference.assumptions.diagnostics import counts_differ
from steelyard.inference.noise.robust import Mask
from steelyard.inference.probability.distributions import t_bound
from steelyard.inference.sequential import VerdictWord
from steelyard.inference.welch import Contrast, contrast, mean_of
from steelyard.judge.comparisons.families import Comparison
from steelyard.judge.kinds.verdict_notes import (
    CAUSES,
    GeneratorSaturated,
    Interference,
    InterferenceExplains,
    InterferenceUnequal,
)
from steelyard.judge.visits.pairs import Pair
from steelyard.judge.visits.series import Series, Visits
from steelyard.records.warnings import WarningKind

_LEVEL = 0.01
_LEVEL_OF_A_LOOK = 0.002
"""Of what is asked again after every visit until it holds: about 1 % of a study."""
_MOST_SATURATED = 0.5
_SHARES: dict[Interference, str] = {
    WarningKind.STEAL: "steal_ratio",
    WarningKind.FOREIGN_CPU: "cpu_ratio",
}
"""Of which warnings say how much was taken of all processors."""
_GENERATOR = frozenset({WarningKind.GENERATOR_NEAR_CAPACITY, WarningKind.GENERATOR_BOUND})
_LEAST_GAP = 0.05
"""Between the middles of both systems: on a busy machine shares differ a little by chance."""
_TAKEN = "taken_cores"
_MOST_BOUNDED_CORES = 0.5
_TIMES_AS_MUCH = 4
"""What is taken of a processor also costs caches, clock rate and turns: allowed for so often."""


def interference_unequal(
    pair: Pair, series: Series, readings: Visits
) -> InterferenceUnequal | None:
    """Interference with the visits of one system, much more often than with the other's.

    Fisher's exact test at 1 % for each kind, as it is asked again after every visit; where all
    visits have it, Mood's of how much.
    """
    visits = _visits(pair, series)
    for cause in CAUSES:
        affected = _affected(cause, visits, readings)
        hit = {name: len(affected.visits & set(of)) for name, of in visits.items()}
        one, another = ((hit[name], len(visits[name])) for name in (pair.baseline, pair.other))
        if counts_differ(one, another, level=_LEVEL) and not _exceeds(cause, series, readings):
            return InterferenceUnequal(
                cause=cause,
                baseline=pair.baseline,
                other=pair.other,
                affected_baseline=one[0],
                visits_baseline=one[1],
                affected_other=another[0],
                visits_other=another[1],
                above_ratio=affected.above_ratio,
            )
    return None


def _exceeds(cause: Interference, series: Series, readings: Visits) -> bool:
    """Whether the difference is clear, and larger than all that was taken can have made.

    Of work on one processor a share is lost, of other work less. Known where every warning says
    how many processors were taken, less than half of one at most, and of numbers that are of
    whole windows: a percentile may grow many times by what takes a hundredth of the time.
    """
    taken = [readings.figure(visit, cause, _TAKEN) for visit in series.visits]
    known = [cores for cores in taken if cores is not None]
    if not series.whole or len(known) < len(taken):
        return False
    most, defined = max(known, default=0.0), series.defined()
    found = contrast(defined.values, defined.other)
    if found is None or not 0 < most < _MOST_BOUNDED_CORES:
        return False
    return _least_log(found) > -_TIMES_AS_MUCH * math.log1p(-most)


def _least_log(found: Contrast) -> float:
    """The end of the interval of a difference that is nearer to none; below 0 where that is in."""
    reach = float(t_bound(_LEVEL_OF_A_LOOK, found.freedom)) * found.standard_error_log
    return abs(found.difference_log) - reach


class _Affected(NamedTuple):
    """Visits that have a warning, or that have more of it than ``above_ratio``."""

    visits: frozenset[int]
    above_ratio: float | None = None


def _affected(cause: Interference, visits: dict[str, list[int]], readings: Visits) -> _Affected:
    """On a machine where every visit has it, those with more of it than the middle of all."""
    of_all = [visit for of in visits.values() for visit in of]
    if not _more_of_one(cause, visits, readings):
        return _Affected(frozenset(v for v in of_all if cause in readings.warnings(v)))
    shares = {visit: readings.figure(visit, cause, _SHARES[cause]) or 0.0 for visit in of_all}
    cut = median(shares.values())
    return _Affected(frozenset(v for v, share in shares.items() if share > cut), cut)


def _more_of_one(cause: Interference, visits: dict[str, list[int]], readings: Visits) -> bool:
    """Whether in the middle more of it was in the visits of one system than of the other.

    A system that leaves processors idle leaves them to others as well. So others must have taken
    more while ours waited longer for a processor, which such a system does not.
    """
    shares = _middles(_SHARES.get(cause), cause, visits, readings)
    if shares is None:
        return False
    less, more = sorted(shares, key=shares.__getitem__)
    if shares[more] - shares[less] < _LEAST_GAP:
        return False
    if cause is not WarningKind.FOREIGN_CPU:
        return True
    waited = _middles("waited_cores", cause, visits, readings)
    return waited is not None and waited[more] > waited[less]


def _middles(
    name: str | None, cause: Interference, visits: dict[str, list[int]], readings: Visits
) -> dict[str, float] | None:
    """The median of a figure over the visits of each system; ``None`` unless all have it."""
    if name is None:
        return None
    middles = {}
    for system, of in visits.items():
        figures = [readings.figure(visit, cause, name) for visit in of]
        known = [figure for figure in figures if figure is not None]
        if not known or len(known) < len(figures):
            return None
        middles[system] = median(known)
    return middles


def generator_saturated(
    comparison: Comparison, series: Series, readings: Visits, words: tuple[VerdictWord, ...]
) -> GeneratorSaturated | None:
    """Two systems called equivalent that were not the bottleneck: the generator was.

    By its capacity, and where that is not known by a worker that used up its processor; at one
    level of load by the trials of that level.
    """
    if VerdictWord.EQUIVALENT not in words:
        return None
    for name, visits in _visits(comparison.pair, series).items():
        warned = (readings.warnings(visit, comparison.conditions) for visit in visits)
        count = sum(not _GENERATOR.isdisjoint(kinds) for kinds in warned)
        if count > _MOST_SATURATED * len(visits):
            return GeneratorSaturated(system=name, affected=count, visits=len(visits))
    return None


def interference_explains(
    pair: Pair, series: Series, readings: Visits, words: tuple[VerdictWord, ...]
) -> InterferenceExplains | None:
    """A difference that is not clear among visits with equal interference.

    With few visits, the affected ones decide before Fisher's test can show that they are unequal.
    Tested where interference affects the system behind more often than the one ahead: one-sided at
    0.2 %, as it is tested again after every visit, by the contrast of the Welch test with the
    interference as covariate.
    """
    found = interference_explains_mean(pair, {"": (series, readings)}, words)
    return None if found is None else found[1]


def interference_explains_mean(
    pair: Pair, on: Mapping[str, tuple[Series, Visits]], words: tuple[VerdictWord, ...]
) -> tuple[str, InterferenceExplains] | None:
    """The same of the mean difference on several machines, with the one that has most of it.

    Interference is the covariate on the machines that it affects so; an effect that only all of
    them together show need not be clear on one.
    """
    wins = {VerdictWord.FASTER: True, VerdictWord.SLOWER: False}
    ahead = next((wins[word] for word in words if word in wins), None)
    if ahead is None:
        return None
    known = {name: (series.defined(), readings) for name, (series, readings) in on.items()}
    for cause in CAUSES:
        if all(_exceeds(cause, *each) for each in known.values()):
            continue
        hits = {name: _hit(cause, pair, *each) for name, each in known.items()}
        more = {name: _more_behind(hits[name], each, ahead) for name, (each, _) in known.items()}
        most = max(more, key=more.__getitem__)
        if more[most] <= 0:
            continue
        parts = [
            _Part(each, hits[name] if more[name] > 0 else None) for name, (each, _) in known.items()
        ]
        if not _clear_beside(parts, ahead=ahead):
            behind = known[most][0].other != ahead
            return most, InterferenceExplains(
                cause=cause,
                system=pair.baseline if ahead else pair.other,
                affected=int(hits[most][behind].sum()),
                visits=int(behind.sum()),
            )
    return None


def _hit(cause: Interference, pair: Pair, series: Series, readings: Visits) -> Mask:
    affected = _affected(cause, _visits(pair, series), readings).visits
    return np.array([visit in affected for visit in series.visits], dtype=bool)


def _more_behind(hit: Mask, series: Series, ahead: bool) -> float:
    """By what share of its visits the system behind is affected more often than the one ahead."""
    behind = series.other != ahead
    return float(hit[behind].mean() - hit[~behind].mean()) if hit[behind].any() else 0.0


class _Part(NamedTuple):
    """The visits on one machine, and which of them interference affects, where that matters."""

    series: Series
    hit: Mask | None

    @property
    def contrast(self) -> Contrast | None:
        """As far as visits that are alike show it."""
        values, other = self.series.values, self.series.other
        if self.hit is None:
            return contrast(values, other)
        alike = [(mask & other).sum() > 1 < (mask & ~other).sum() for mask in (self.hit, ~self.hit)]
        if not any(alike):
            return None
        return contrast(values, other, covariate=self.hit.astype(np.float64))


def _clear_beside(parts: Sequence[_Part], *, ahead: bool) -> bool:
    """Whether the system ahead is ahead among visits that are alike, as far as they show it."""
    found = mean_of([each.contrast for each in parts])
    return found is not None and (found.difference_log > 0) == ahead and _least_log(found) > 0


def _visits(pair: Pair, series: Series) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {pair.baseline: [], pair.other: []}
    for visit, other in zip(series.visits, series.other, strict=True):
        found[pair.other if other else pair.baseline].append(visit)
    return found
