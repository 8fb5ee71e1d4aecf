"""Selection of the best of many: which candidate is within the margin of the best, at the least.

Candidates are visited in blocks, in random order; values are natural logarithms, larger is better.
One regression on all visits gives every difference: a level for each candidate, low-frequency
trends, and first-order autocorrelation by restricted likelihood, so that all candidates share one
estimate of the noise. Of each ordered pair the test is the triangular one of Kim and Nelson: it
ends with *no better by the margin* once the lead of the other has crossed a line that closes.

Let q be the error rate over the number of candidates less one. The best is called no better by the
margin than another one, of which it is not true, with probability q at most; so the one
against which the tests of all others have ended is within the margin of the best but for the whole
rate. Sources, what is proved and what is simulated: ``docs/methods/selection.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.inference.noise.detrend import basis
from steelyard.inference.noise.robust import ROUNDING_LOG
from steelyard.inference.probability.distributions import normal_above, normal_bound, t_bound

Values = npt.NDArray[np.floating[Any]]
Truths = npt.NDArray[np.bool_]

FEWEST_BLOCKS = 2
_GROWTH = 1.02
_COEFFICIENTS = (-0.9, -0.7, -0.5, -0.3, 0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98)
_WEIGHT_OF_ALL = 8.0
"""How many degrees of freedom of a candidate's own variance that of all candidates counts for."""
_ONE_PERCENT = 2.326
_BEYOND_CHANCE = 2.0
"""How much likelier (natural logarithm) autocorrelation must be than none."""


@dataclass(frozen=True)
class Levels:
    """Estimated levels of all candidates, their covariance, and its degrees of freedom.

    Both are up to a constant that all levels share: differences alone have a meaning.
    ``noise_sd`` is that of a visit, without trends and what the visit before it says.
    """

    estimates: Values
    covariance: Values
    degrees_of_freedom: float
    noise_sd: float

    @property
    def leads(self) -> Values:
        """By how much each row leads each column."""
        return self.estimates[:, None] - self.estimates[None, :]

    @property
    def variances(self) -> Values:
        """Of these leads; on the diagonal infinite."""
        own = np.diag(self.covariance)
        found = own[:, None] + own[None, :] - 2 * self.covariance
        np.fill_diagonal(found, np.inf)
        return found


@dataclass(frozen=True)
class Noise:
    """What is known of the noise beforehand: by an oracle alone (``tests/calibration``)."""

    sd: float
    coefficient: float = 0.0


def levels(
    values: Values, candidates: npt.NDArray[np.intp], count: int, known: Noise | None = None
) -> Levels:
    """Levels of ``count`` candidates from all visits in their order, each there twice or more."""
    design = np.zeros((len(values), count))
    design[np.arange(len(values)), candidates] = 1.0
    if known is None:
        design = np.hstack([design, basis(len(values))[:, 1:]])
    products = _Products(np.hstack([design, values[:, None]]))
    degrees = len(values) - design.shape[1]
    if known is not None:
        fit = products.fit(known.coefficient)
        return Levels(fit.slopes, fit.inverse * known.sd**2, math.inf, known.sd)
    fits = [products.fit(each) for each in _COEFFICIENTS]
    none, best = fits[_COEFFICIENTS.index(0.0)], max(fits, key=lambda fit: fit.likelihood)
    fit = best if best.likelihood - none.likelihood > _BEYOND_CHANCE else none
    variance = fit.squares / degrees
    covariance = fit.inverse[:count, :count] * variance
    shares = _own_spreads(fit.innovations(design, values), candidates, count, degrees)
    covariance[np.diag_indices(count)] *= shares
    return Levels(fit.slopes[:count], covariance, float(degrees), math.sqrt(variance))


def _own_spreads(
    innovations: Values, candidates: npt.NDArray[np.intp], count: int, degrees: int
) -> Values:
    """By how much the variance of each candidate is enlarged: its own, shrunk to that of all.

    Only where its own is larger beyond chance (1 %, chi-square as Wilson and Hilferty have it): few
    visits say little of one candidate alone.
    """
    own = np.bincount(candidates, weights=innovations**2, minlength=count)
    whole = float(own.sum()) / degrees
    if whole <= ROUNDING_LOG**2:
        return np.ones(count)
    freedom = (np.bincount(candidates, minlength=count) - 1) * (degrees / (len(candidates) - count))
    step = 2 / (9 * np.maximum(freedom, 1.0))
    is_larger = own / whole > freedom * (1 - step + _ONE_PERCENT * np.sqrt(step)) ** 3
    shrunk = (_WEIGHT_OF_ALL + own / whole) / (_WEIGHT_OF_ALL + freedom)
    return np.where(is_larger, np.maximum(1.0, shrunk), 1.0)


@dataclass(frozen=True)
class _Fit:
    """Generalised least squares; ``inverse`` in units of the variance of innovations."""

    slopes: Values
    inverse: Values
    squares: float
    likelihood: float
    coefficient: float

    def innovations(self, design: Values, values: Values) -> Values:
        """What of each visit neither its level nor the visit before it says."""
        rest = values - design @ self.slopes
        rest[1:] -= self.coefficient * rest[:-1].copy()
        return np.asarray(rest)


class _Products:
    """Cross products of columns, the response last, of which those of any AR(1) are a sum."""

    def __init__(self, columns: Values) -> None:
        self._visits = len(columns)
        beside = columns[1:].T @ columns[:-1]
        self._all = columns.T @ columns
        self._beside = beside + beside.T
        self._inner = columns[1:-1].T @ columns[1:-1]

    def fit(self, phi: float) -> _Fit:
        """By restricted maximum likelihood the larger ``likelihood`` is the better ``phi``."""
        whitened = self._all - phi * self._beside + phi**2 * self._inner
        normal, response = whitened[:-1, :-1], whitened[:-1, -1]
        inverse = np.linalg.inv(normal)
        slopes = inverse @ response
        squares = max(float(whitened[-1, -1] - response @ slopes), 1e-300)
        degrees = self._visits - len(slopes)
        size = float(np.linalg.slogdet(normal)[1]) - math.log1p(-(phi**2))
        return _Fit(slopes, inverse, squares, -0.5 * (degrees * math.log(squares) + size), phi)


class Selection:
    """Which candidates remain, by their levels so far.

    ``settled[i, j]``: candidate i is no better than j by the margin. It stays so: the test of a
    pair has ended then. ``best`` is the one that is named.
    """

    def __init__(self, count: int, margin_log: float, alpha: float) -> None:
        self._margin_log = margin_log
        self._rate = alpha / max(1, count - 1)
        self._height = closing_height(self._rate)
        self.settled: Truths = np.eye(count, dtype=np.bool_)
        self.remaining = list(range(count))
        self.best: int | None = None

    def look(self, found: Levels) -> dict[int, int]:
        """After a block: who leaves, and against whom; ``remaining`` is for the next one.

        It is over when all others are settled against one. Until then who is settled against any
        that remains leaves, the last in the order first. When one is left it is visited on, with
        those open to it whose levels are known no better than its own.
        """
        needed = self._slack(found) - self._margin_log / 2
        self.settled |= needed <= found.leads.T
        complete = np.flatnonzero(self.settled.all(axis=0))
        if complete.size:
            self.best = int(max(complete, key=lambda j: float(found.estimates[j])))
            left = {each: self.best for each in self.remaining if each != self.best}
            self.remaining = [self.best]
            return left
        left = self._dropped(found)
        if len(self.remaining) == 1:
            own, last = np.diag(found.covariance), self.remaining[0]
            self.remaining = [i for i in self.open_to(last) if own[i] >= own[last]]
        return left

    def _dropped(self, found: Levels) -> dict[int, int]:
        left = {}
        for each in sorted(self.remaining, key=lambda i: float(found.estimates[i])):
            by = [j for j in self.remaining if j != each and self.settled[each, j]]
            if by:
                self.remaining.remove(each)
                left[each] = max(by, key=lambda j: float(found.estimates[j]))
        return left

    def open_to(self, best: int) -> list[int]:
        """The candidate itself, and all that may still be better by the margin."""
        return [best, *(int(i) for i in np.flatnonzero(~self.settled[:, best]) if i != best)]

    def withdraw(self, gone: int) -> None:
        """Without a candidate that cannot be measured; those after it have lower numbers then."""
        self.settled = np.delete(np.delete(self.settled, gone, axis=0), gone, axis=1)
        kept = [i - (i > gone) for i in self.remaining if i != gone]
        self.remaining = kept or list(range(len(self.settled)))

    def behind(self, found: Levels, best: int) -> Truths:
        """Who is shown to be worse than ``best`` at all, each at the rate of one pair."""
        return np.asarray(found.leads[best] > self._slack(found)[best] + self._margin_log / 2)

    def further_blocks(self, found: Levels, blocks: int) -> int:
        """At the noise so far: until the tests of all pairs that remain have ended."""
        pairs = self._slack(found)[np.ix_(self.remaining, self.remaining)]
        widest = max((float(x) for x in pairs.flat if math.isfinite(x)), default=0.0)
        return max(0, math.ceil(blocks * (2 * widest / self._margin_log - 1)))

    def _slack(self, found: Levels) -> Values:
        """Half the distance of the lines of each pair, which becomes half the margin at the end.

        For an estimated noise variances are as much larger as t is wider than the normal law.
        """
        widened = found.variances * self._height / self._margin_log
        if math.isinf(found.degrees_of_freedom):
            return widened
        wide = float(t_bound(self._rate, found.degrees_of_freedom))
        return np.asarray(widened * (wide / float(normal_bound(self._rate))) ** 2)


def look_is_due(blocks: int, visits: int, last_look: int) -> bool:
    """After two blocks, and then whenever the visits have grown by a fiftieth."""
    return blocks >= FEWEST_BLOCKS and visits >= _GROWTH * last_look


def closing_height(rate: float) -> float:
    """L for which a Brownian motion crosses ``L/m + m/2 I`` before I is ``2 L / m^2`` at a rate.

    The probability is ``exp(-L)/2 + P(Z > sqrt(2 L))``, whatever m. It is solved by iteration.
    """
    height = -math.log(2 * rate)
    for _ in range(30):
        height = -math.log(2 * (rate - float(normal_above(math.sqrt(2 * height)))))
    return height
