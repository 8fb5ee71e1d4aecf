"""Which share of the variation each effect makes, with an interval from simulated truths.

The share of a term is the variance it makes between cells, over all variance: of the terms, of
visits where factors change between them, of trials. Blocks are removed. Point: sums of squares
less what noise adds to them, over the total. Interval: the variances and the effects are drawn
from what the data leave possible (fiducial: a variance is its sum of squares over a chi-squared
variable, an effect its estimate plus noise), and the share computed of each draw.

What all other terms make together is drawn as one sum, less the noise in it: adding up their
squared estimates as they are would count noise once for each and make every share too small.
Source: Hannig, "On generalized fiducial inference", Statistica Sinica 19 (2009); noncentral
chi-squared: Sankaran, "Approximations to the non-central chi-square distribution", Biometrika 50
(1963).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.inference.probability.distributions import f_above, normal_bound
from steelyard.judge.analyses.factors.questions import Term, terms
from steelyard.judge.analyses.factors.strata import Fit, Stratum
from steelyard.plan.order import generator

DRAWS = 2_000
LEVEL = 0.95
FEWEST_REPLICATES = 3
_STEPS = 26


@dataclass(frozen=True)
class Share:
    """A share of the variation with the ends of its interval, as ratios."""

    term: Term | None
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class _Draws:
    """Variances drawn: of trials, and the mean squares that effects of each stratum have."""

    trial: Floats
    visit: Floats
    within: Floats
    between: Floats
    normal: np.random.Generator


def shares(fitted: Fit, seed: int) -> tuple[Share, ...]:
    """Every term's share, then that of noise (``term`` is ``None``); empty below three replicates,
    and until every layout has been repeated.

    The same data and seed give the same figures.
    """
    replicates = sum(fitted.counts)
    if replicates < FEWEST_REPLICATES or not fitted.design.repeated(replicates):
        return ()
    found = terms(fitted.design)
    sizes = np.array([float(np.square(fitted.project(each.rows)).sum()) for each in found])
    unit = fitted.unit_variance()
    squares = np.array([_mean_square(fitted, each) for each in found])
    errors = fitted.within.sum_of_squares + fitted.between.sum_of_squares
    total = float(sizes.sum()) / unit + errors
    if total <= 0:
        return ()
    points = np.maximum(0.0, sizes / unit - squares * [each.df for each in found]) / total
    draws = _draw(fitted, seed)
    made = [_interval(fitted, found, sizes / unit, i, draws) for i in range(len(found))]
    told = tuple(
        Share(term, float(point), low, high)
        for term, point, (low, high) in zip(found, points, made, strict=True)
    )
    return (*told, _noise(fitted, found, sizes / unit, float(1 - points.sum()), draws))


def _mean_square(fitted: Fit, term: Term) -> float:
    return fitted.stratum(between=term.between).mean_square or 0.0


def _draw(fitted: Fit, seed: int) -> _Draws:
    random = generator(seed, "shares of variation")
    within = _variance(fitted.within, random)
    between, visit = within, np.zeros(DRAWS)
    if fitted.between.df:
        between = _variance(fitted.between, random)
        size = fitted.design.cells // fitted.design.whole_plots
        visit = np.maximum(0.0, between - within) / size
    return _Draws(within, visit, within, between, random)


def _variance(stratum: Stratum, random: np.random.Generator) -> Floats:
    return np.asarray(stratum.sum_of_squares / random.chisquare(stratum.df, DRAWS))


def _interval(
    fitted: Fit, found: tuple[Term, ...], squares: Floats, own: int, draws: _Draws
) -> tuple[float, float]:
    """Quantiles of the share of one term over the draws; 0 below when it may be none."""
    term, unit = found[own], fitted.unit_variance()
    noise = draws.between if term.between else draws.within
    made = unit * noise * _own(squares[own] / noise, term.df, draws.normal)
    rest = sum(
        unit * scale * noncentrality(squares[members].sum() / scale, df, draws.normal)
        for members, df, scale in _others(found, own, draws)
    )
    share = made / np.maximum(made + rest + draws.trial + draws.visit, 1e-300)
    low, high = np.quantile(share, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return (0.0 if _may_be_none(fitted, term, squares[own]) else float(low)), float(high)


def _own(ratio: Floats, df: int, random: np.random.Generator) -> Floats:
    """What a term makes, in units of its noise: of one degree of freedom the square itself."""
    if df == 1:
        return np.asarray(np.square(np.sqrt(ratio) + random.standard_normal(len(ratio))))
    return noncentrality(ratio, df, random)


def _others(
    found: tuple[Term, ...], own: int, draws: _Draws
) -> list[tuple[list[int], int, Floats]]:
    """The other terms by stratum: their places, degrees of freedom, and noise."""
    groups = []
    for between, scale in ((False, draws.within), (True, draws.between)):
        members = [i for i, t in enumerate(found) if i != own and t.between == between]
        if members:
            groups.append((members, sum(found[i].df for i in members), scale))
    return groups


def _may_be_none(fitted: Fit, term: Term, square: float) -> bool:
    stratum = fitted.stratum(between=term.between)
    if stratum.mean_square is None or stratum.mean_square <= 0:
        return stratum.mean_square is None
    return bool(f_above(square / term.df / stratum.mean_square, term.df, stratum.df) > 1 - LEVEL)


def _noise(
    fitted: Fit, found: tuple[Term, ...], squares: Floats, point: float, draws: _Draws
) -> Share:
    unit = fitted.unit_variance()
    made = sum(
        unit * scale * noncentrality(squares[members].sum() / scale, df, draws.normal)
        for members, df, scale in _others(found, -1, draws)
    )
    noise = draws.trial + draws.visit
    share = noise / np.maximum(made + noise, 1e-300)
    low, high = np.quantile(share, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Share(None, point, float(low), float(high))


def noncentrality(ratio: Floats, df: int, random: np.random.Generator) -> Floats:
    """Draws of the noncentrality that a noncentral chi-squared variable of this size leaves open.

    The distribution function is set to a uniform draw and solved by bisection; 0 where the
    variable is smaller than that quantile of the central law.
    """
    normal = -normal_bound(random.random(len(ratio)))
    low, high = np.zeros(len(ratio)), 2 * ratio + 40.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        too_small = _sankaran(ratio, df, middle) > normal
        low, high = np.where(too_small, middle, low), np.where(too_small, high, middle)
    return np.where(_sankaran(ratio, df, np.zeros(len(ratio))) > normal, (low + high) / 2, 0.0)


def _sankaran(x: Floats, df: int, nc: Floats) -> Floats:
    """The normal quantile of P(X <= x) of the noncentral chi-squared law."""
    mean = df + nc
    h = 1 - 2 * mean * (df + 3 * nc) / (3 * np.square(df + 2 * nc))
    p = (df + 2 * nc) / np.square(mean)
    m = (h - 1) * (1 - 3 * h)
    centre = 1 + h * p * (h - 1 - (2 - h) * m * p / 2)
    return np.asarray((np.power(x / mean, h) - centre) / (h * np.sqrt(2 * p) * (1 + m * p / 2)))
