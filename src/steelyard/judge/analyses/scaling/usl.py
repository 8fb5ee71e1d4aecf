"""The universal scalability law, fitted to logarithms; its peak by profile, no delta method.

``X(N) = g N / (1 + a (N - 1) + b N (N - 1))`` with contention ``0 <= a <= 1`` and coherence
``b >= 0``; the peak lies at ``N* = sqrt((1 - a) / b)``, at infinity for ``b = 0``. Source:
Gunther, Guerrilla Capacity Planning (2007), chapter 6. Profile intervals: Bates and
Watts, Nonlinear Regression Analysis and Its Applications (1988), section 6.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.inference.probability.distributions import f_above, f_quantile
from steelyard.judge.analyses.scaling.table import Form, Table

LEVEL = 0.95
_CONTENTIONS = np.concatenate(([0.0], np.geomspace(1e-4, 1.0, 40)))
_HIGHEST, _PLACES, _FINER = 64.0, 120, 65
_SECTIONS, _GOLDEN = 16, (5**0.5 - 1) / 2


@dataclass(frozen=True)
class Fit:
    """The best curve. ``log_gain`` is ``ln g`` of a typical visit; ``peak_at`` may be infinite."""

    contention: float
    peak_at: float
    log_gain: float
    squares: float
    df: int

    @property
    def coherence(self) -> float:
        return float(_coherence(self.contention, self.peak_at))

    def log_curve(self, levels: Floats) -> Floats:
        """Logarithm of throughput in a typical visit."""
        return self.log_gain + shapes(levels, self.contention, self.peak_at)


@dataclass(frozen=True)
class Interval:
    """A profile interval; an end at infinity is ``inf``."""

    low: float
    high: float


def shapes(levels: Floats, contention: Floats | float, peak_at: Floats | float) -> Floats:
    """``ln X - ln g`` at the levels, which become the last axis."""
    a, peak = np.broadcast_arrays(np.asarray(contention, float), np.asarray(peak_at, float))
    a, b = a[..., None], _coherence(a, peak)[..., None]
    return np.asarray(np.log(levels) - np.log1p(a * (levels - 1) + b * levels * (levels - 1)))


def _coherence(contention: Floats | float, peak_at: Floats | float) -> Floats:
    return np.asarray((1 - np.asarray(contention)) / np.square(peak_at))


def fit(table: Table) -> Fit:
    """Least squares within the bounds: over a grid of peaks, then a finer one about the best."""
    form, places = table.form, _places(table)
    squares, contentions = _profiles(table, places)
    best = int(np.argmin(squares))
    if 0 < best < len(places) - 2:
        places = np.geomspace(places[best - 1], places[best + 1], _FINER)
        squares, contentions = _profiles(table, places)
        best = int(np.argmin(squares))
    place, contention = float(places[best]), float(contentions[best])
    gain = float(form.means.mean() - shapes(table.levels, contention, place).mean())
    return Fit(
        contention=contention,
        peak_at=place,
        log_gain=gain,
        squares=float(squares[best]),
        df=form.count - table.visits - 2,
    )


def peak_interval(table: Table, best: Fit, level: float = LEVEL) -> Interval:
    """Every place of the peak that the data do not contradict; no peak at all counts as infinity.

    ``SSE(N*) <= SSEmin (1 + F(1, df) / df)``, the hull of it; each end is moved out to the next
    place of a grid in steps of a thousandth.
    """
    bound = best.squares * (1 + f_quantile(level, 1, best.df) / best.df)
    places = np.unique(np.append(_places(table), best.peak_at))
    allowed = _profiles(table, places)[0] <= bound
    allowed[places == best.peak_at] = True
    inside = np.flatnonzero(allowed)
    first, last = int(inside[0]), int(inside[-1])
    low, high = float(places[first]), float(places[last])
    if first > 0:
        low = _end(table, bound, low, float(places[first - 1]))
    if last < len(places) - 2:
        high = _end(table, bound, high, float(places[last + 1]))
    return Interval(low, high if last < len(places) - 2 else np.inf)


def height_interval(table: Table, best: Fit, level: float = LEVEL) -> Interval:
    """``ln X(N*)`` of a typical visit, by profile over all curves and offsets.

    The spread between visits enters with its own variance, and the degrees of freedom are those of
    the visits: few visits give a wide interval.
    """
    form = table.form
    noise = best.squares / best.df
    grid = shapes(table.levels, _CONTENTIONS[:, None], _places(table)[None, :])
    squares = form.squares(grid)
    shift = form.means.mean() - grid.mean(axis=-1)
    tops = shift + _tops(table)
    own = form.offset_variance
    reach = f_quantile(level, 1, table.visits - 1)
    left = reach - (squares - best.squares) / noise if noise > 0 else np.where(squares > 0, -1, 0)
    near = left >= 0
    width = np.sqrt(np.maximum(left, 0.0) * own)
    top = best.log_curve(np.array([best.peak_at]))[0] if np.isfinite(best.peak_at) else np.inf
    lows = np.append((tops - width)[near], top)
    highs = np.append((tops + width)[near], top)
    return Interval(float(lows.min()), float(highs.max()))


def _tops(table: Table) -> Floats:
    """``ln X(N*) - ln g`` over the grid of contention and peak; the limit 1/a without a peak."""
    places = _places(table)
    found = np.empty((len(_CONTENTIONS), len(places)))
    for column, place in enumerate(places):
        if np.isinf(place):
            with np.errstate(divide="ignore"):
                found[:, column] = -np.log(_CONTENTIONS)
        else:
            at = np.array([place])
            found[:, column] = shapes(at, _CONTENTIONS, np.full(len(_CONTENTIONS), place))[:, 0]
    return found


def lack_of_fit(form: Form, best: Fit) -> float | None:
    """Probability of so bad a fit by noise alone, noise being what repeats of a level differ by.

    ``None`` without repeats, or with no level to spare.
    """
    spare = best.df - form.df
    if form.df <= 0 or spare <= 0:
        return None
    excess = max(0.0, best.squares - form.residual)
    if form.residual == 0:
        return 0.0 if excess > 1e-12 * max(form.total, 1.0) else 1.0
    return f_above(excess / spare / (form.residual / form.df), spare, form.df)


def _places(table: Table) -> Floats:
    low, high = table.levels[0], _HIGHEST * table.levels[-1]
    return np.append(np.geomspace(low, high, _PLACES), np.inf)


def _profiles(table: Table, places: Floats) -> tuple[Floats, Floats]:
    """For each place of the peak: least squares over contention, and where it is reached.

    The best of a grid, then a golden section between its neighbours, all places at once.
    """
    form, levels = table.form, table.levels
    squares = form.squares(shapes(levels, _CONTENTIONS[:, None], places[None, :]))
    best = np.argmin(squares, axis=0)
    low = _CONTENTIONS[np.maximum(best - 1, 0)]
    high = _CONTENTIONS[np.minimum(best + 1, len(_CONTENTIONS) - 1)]
    for _ in range(_SECTIONS):
        first, second = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        lower = form.squares(shapes(levels, first, places)) <= form.squares(
            shapes(levels, second, places)
        )
        low, high = np.where(lower, low, first), np.where(lower, second, high)
    middle = (low + high) / 2
    found = form.squares(shapes(levels, middle, places))
    coarse = squares[best, np.arange(len(places))]
    return np.minimum(found, coarse), np.where(found <= coarse, middle, _CONTENTIONS[best])


def _end(table: Table, bound: float, inside: float, outside: float) -> float:
    places = np.geomspace(inside, outside, _FINER)
    beyond = np.flatnonzero(_profiles(table, places)[0] > bound)
    return float(places[beyond[0]]) if len(beyond) else outside
