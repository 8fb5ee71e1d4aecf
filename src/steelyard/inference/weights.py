"""Residuals of a comparison to integer weights: drift removed, whitened, robust against stalls.

The statistic of a sequence of signs is the sum of signs times weights. Weights depend on the
residuals alone, never on the order of systems, so any rule here keeps the test exact; these
rules make it powerful under drift, autocorrelation and heavy tails.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from steelyard.inference.noise.autocorrelation import removed_from_rows
from steelyard.inference.noise.covariates import quick_parts
from steelyard.inference.noise.detrend import basis, movements, slow_part
from steelyard.inference.noise.robust import Floats, row_sds

SCALE = 2**14
"""Weights are whole multiples of 1/SCALE, so that sums and ties are exact."""

_LEAST_REACH = 1.0
_CLIP_SDS = 2.0
_FITS = 3
_COVARIATE_CLIP_SDS = 4.0


class Scored(NamedTuple):
    """Scores of each visit, shape (rows, visits), before they are rounded to weights.

    ``effect_log``: the effect that moves the sum of the scores by as much in every row of so many
    visits, shape (rows, 1); infinite in a row without any spread.
    """

    scores: Floats
    effect_log: Floats


def weights(residuals: Floats, *, whiten: bool = True) -> Floats:
    """Integer-valued weights of each visit, shape (rows, visits) like ``residuals``.

    Low-frequency trends are removed, then what a visit shares with the one before; Huber scores of
    the rest, clipped at two robust standard deviations. A row without any spread has weights 0:
    no order of systems is then more extreme than another. Without ``whiten`` nothing is taken
    out but the centre: for orders that were not drawn, where an effect would look like a drift.
    """
    return np.asarray(np.rint(SCALE * scored(residuals, whiten=whiten).scores))


def weights_by_machine(
    rows: Floats, machines: int, covariate: Floats | None = None, *, whiten: bool = True
) -> Floats:
    """The same of several machines in turn, each by its own noise, shape like ``rows``.

    An effect moves the sum by as much on every machine, so that the statistic asks for the mean of
    their effects. The noisiest machine has the largest weights. Rows depend on no system.
    """
    found = np.zeros(rows.shape)
    places = [slice(machine, None, machines) for machine in range(machines)]
    parts = []
    for own in places:
        known = rows[:, own]
        if covariate is not None:
            known = adjusted(known, covariate[own])
        parts.append(scored(known, whiten=whiten))
    sizes = np.concatenate([part.effect_log for part in parts], axis=1)
    sizes = np.where(np.isfinite(sizes), sizes, 0.0)
    largest = np.max(sizes, axis=1, keepdims=True)
    shares = np.divide(sizes, largest, out=np.zeros_like(sizes), where=largest > 0)
    for machine, own in enumerate(places):
        found[:, own] = np.rint(SCALE * parts[machine].scores * shares[:, machine : machine + 1])
    return found


def scored(residuals: Floats, *, whiten: bool) -> Scored:
    """The weights before they are rounded, and what a score is worth."""
    residuals = last_in_rank(residuals)
    fresh = residuals - _mid_mean(residuals)
    if not whiten:
        sds = row_sds(fresh)
        return Scored(_huber(fresh, sds), sds)
    fresh = _without_movements(fresh)
    phi = removed_from_rows(fresh)
    fresh[:, 1:] -= phi * fresh[:, :-1]
    fresh -= _mid_mean(fresh)
    sds = row_sds(fresh)
    scores = _huber(fresh, sds)
    scores[:, :-1] -= phi * scores[:, 1:]
    return Scored(scores, sds / (1 + phi**2))


def scores(residuals: Floats) -> Floats:
    """Centred residuals, clipped to -1..1; shape (rows, visits). Low-frequency trends stay."""
    rows = last_in_rank(residuals)
    fresh = rows - _mid_mean(rows)
    return _huber(fresh, row_sds(fresh))


def adjusted(rows: Floats, covariate: Floats) -> Floats:
    """Rows less what follows the covariates, shape (rows, visits); low-frequency trends stay.

    The slopes of each row are fitted to the row alone, without knowing any system, so that the
    test stays exact if covariates were measured before the system of a visit could change them.
    """
    columns = quick_parts(covariate, np.asarray(basis(rows.shape[1]), dtype=np.float64))
    if not columns.shape[1]:
        return rows
    fresh = _without_movements(rows - _mid_mean(rows))
    reach = _COVARIATE_CLIP_SDS * row_sds(fresh)
    slopes = _between(-reach, fresh, reach) @ columns
    return np.asarray(rows - slopes @ columns.T)


def _huber(rows: Floats, sds: Floats) -> Floats:
    return _between(-1.0, rows / (_CLIP_SDS * sds), 1.0)


def _between(low: Floats | float, rows: Floats, high: Floats | float) -> Floats:
    """What ``np.clip`` does, without its preparations: rows are short and asked for often."""
    return np.asarray(np.minimum(np.maximum(rows, low), high))


def trends(residuals: Floats) -> Floats:
    """The low-frequency trends that ``weights`` removes, shape (rows, visits); of few visits 0."""
    rows = last_in_rank(residuals)
    return _movements_of(rows - _mid_mean(rows))


def _without_movements(rows: Floats) -> Floats:
    """Centred rows less their slow part."""
    if not movements(rows.shape[1]):
        return rows.copy()
    fresh = rows - _movements_of(rows)
    return np.asarray(fresh - _mid_mean(fresh))


def _movements_of(rows: Floats) -> Floats:
    """The slow part of centred rows, fitted to them without their stalls."""
    slow = np.zeros_like(rows)
    if not movements(rows.shape[1]):
        return slow
    for _ in range(_FITS):
        rest = rows - slow
        rest -= _mid_mean(rest)
        reach = _CLIP_SDS * row_sds(rest)
        slow += slow_part(_between(-reach, rest, reach))
    return slow


def last_in_rank(rows: Floats) -> Floats:
    """Infinite values one range beyond the others, so that scores clip them like any outlier."""
    finite = np.isfinite(rows)
    if finite.all():
        return rows
    lowest = np.min(rows, axis=1, keepdims=True, where=finite, initial=np.inf)
    highest = np.max(rows, axis=1, keepdims=True, where=finite, initial=-np.inf)
    none = ~finite.any(axis=1, keepdims=True)
    lowest, highest = np.where(none, 0.0, lowest), np.where(none, 0.0, highest)
    reach = np.maximum(highest - lowest, _LEAST_REACH)
    beyond = np.where(rows < 0, lowest - reach, highest + reach)
    return np.where(finite, rows, beyond)


def _mid_mean(rows: Floats) -> Floats:
    """Mean of the middle half of each row, shape (rows, 1).

    The median instead leaves interval ends unbounded in 5 to 26 % of stops at a 5 % effect.
    """
    count = rows.shape[1]
    middle = np.sort(rows, axis=1)[:, count // 4 : count - count // 4]
    return np.asarray(np.add.reduce(middle, axis=1, keepdims=True) / middle.shape[1])
