"""Welch's test on the same visits, for arms of unequal spread.

The re-randomisation test assumes arms that differ by a ratio only; with spreads of 4 to 1 it errs
in a tenth of the studies. This one estimates the spread of each arm by itself. A ratio is rejected
only when both tests reject it, so that neither the noise nor the spreads can break the error rate
(``docs/decisions/``). It has its own boundary and depends on a ratio by a shift alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.inference.noise.autocorrelation import removed_from_residuals
from steelyard.inference.noise.covariates import quick_parts
from steelyard.inference.noise.detrend import basis
from steelyard.inference.noise.robust import Floats, Mask, mad_sd
from steelyard.inference.normal_boundary import levels
from steelyard.inference.probability.distributions import t_bound
from steelyard.inference.spending import looks_until
from steelyard.inference.stream import Stream
from steelyard.inference.weights import last_in_rank

_CLIP_FROM = 12
_CLIP_SDS = 2.5
_FITS = 5


class Contrast(NamedTuple):
    """Difference of the arms, its standard error, and the degrees of freedom of that."""

    difference_log: float
    standard_error_log: float
    freedom: float


def low(visits: Stream, place: int, sign: int, alpha: float) -> float:
    """The ratio below which all are rejected at one look; -inf if none.

    ``place`` is that of the look among all. What an earlier one has rejected is not kept. Beyond
    twice the horizon nothing is left to spend. Where visits are judged ``once``, the only look may
    spend all. ``sign`` -1: of the mirrored visits.
    """
    look = visits.looks[place]
    level = level_at(visits, alpha, look)
    found = mean_of(by_machine(visits, look, sign))
    if found is None or level <= 0:
        return -math.inf
    return found.difference_log - float(t_bound(level, found.freedom)) * found.standard_error_log


def level_at(visits: Stream, alpha: float, look: int | None = None) -> float:
    """What is asked at one look, the last by default, of ``alpha`` for all."""
    if visits.once:
        return alpha
    return _level(visits.last_look if look is None else look, visits.horizon, alpha)


def by_machine(visits: Stream, look: int, sign: int = 1) -> list[Contrast | None]:
    """The contrast of each machine after so many visits on each; of the only one as well."""
    return [
        contrast(
            sign * visits.values[own],
            visits.other[own],
            slow=not visits.once,
            covariate=None if visits.covariate is None else visits.covariate[own],
        )
        for machine in range(visits.machines)
        for own in [slice(machine, look * visits.machines, visits.machines)]
    ]


def mean_of(contrasts: Sequence[Contrast | None], shares: Floats | None = None) -> Contrast | None:
    """The mean of contrasts of machines of their own, or the sum of these ``shares`` of them.

    Satterthwaite's degrees of freedom; ``None`` where one is not known.
    """
    known = [each for each in contrasts if each is not None]
    if len(known) < len(contrasts) or len(known) == 1:
        return known[0] if len(known) == len(contrasts) else None
    weights = np.full(len(known), 1 / len(known)) if shares is None else shares
    parts = [(w * each.standard_error_log) ** 2 for w, each in zip(weights, known, strict=True)]
    variance = sum(parts)
    spread = sum(part**2 / each.freedom for part, each in zip(parts, known, strict=True))
    return Contrast(
        float(sum(w * each.difference_log for w, each in zip(weights, known, strict=True))),
        math.sqrt(variance),
        variance**2 / spread if spread > 0 else min(each.freedom for each in known),
    )


def _level(look: int, horizon: int, alpha: float) -> float:
    """What is asked at a look; 0 beyond those that may spend, and before the first."""
    asked = levels(horizon, alpha, extended=look > horizon)
    place = len(looks_until(look, horizon)) - 1
    return float(asked[place]) if 0 <= place < len(asked) else 0.0


def contrast(
    values: Floats, other: Mask, *, slow: bool = True, covariate: Floats | None = None
) -> Contrast | None:
    """The difference of the arms besides trends; ``None`` with an arm of one visit.

    That of mirrored values is the same with the other sign, and is kept as one.
    """
    sign = -1.0 if len(values) and values[0] < 0 else 1.0
    upright = sign * values
    beside = np.empty((len(values), 0)) if covariate is None else covariate
    key = _key(upright, other, beside, np.array([slow]))
    if key not in _known:
        if len(_known) >= _MOST_KNOWN:
            del _known[next(iter(_known))]
        _known[key] = _contrast(upright, other, beside, slow=slow)
    found = _known[key]
    return None if found is None else found._replace(difference_log=sign * found.difference_log)


_MOST_KNOWN = 4096
_known: dict[bytes, Contrast | None] = {}
"""By what the visits were, not by the visits themselves, which would take more the more they are;
the oldest goes first."""


def _key(*parts: npt.NDArray[Any]) -> bytes:
    whole = blake2b(digest_size=16)
    for part in parts:
        whole.update(f"{part.shape}".encode())
        whole.update(part.tobytes())
    return whole.digest()


def _contrast(values: Floats, other: Mask, beside: Floats, *, slow: bool) -> Contrast | None:
    values = last_in_rank(values[None, :])[0]
    if min(other.sum(), (~other).sum()) < 2:
        return None
    count = len(values)
    common = np.asarray(basis(count) if slow else np.full((count, 1), count**-0.5))
    quick = quick_parts(beside.reshape(count, -1), common)
    columns, label = np.column_stack([common, quick]), np.where(other, 0.5, -0.5)
    fit = _Fit(other, columns, label)
    if count < _CLIP_FROM:
        return fit.contrast(values, np.zeros_like(other))
    kept, clipped = _without_stalls(values, fit, _alike(other, beside))
    phi = removed_from_residuals(fit.residuals(kept)) if slow else 0.0
    if phi == 0:
        return fit.contrast(kept, clipped)
    orthonormal, _ = np.linalg.qr(_whitened(columns, phi))
    return _Fit(other, orthonormal, _whitened(label, phi)).contrast(_whitened(kept, phi), clipped)


class _Fit:
    """Least squares of visits on the label of the other system and what is ``beside`` it.

    ``beside`` are orthonormal columns, shape (visits, columns).
    """

    def __init__(self, other: Mask, beside: Floats, label: Floats) -> None:
        self.other = other
        self.beside = beside
        own = label - beside @ (beside.T @ label)
        self.influence = own / (own @ own)
        self.own = own / np.linalg.norm(own)

    def residuals(self, values: Floats) -> Floats:
        fitted = self.beside @ (self.beside.T @ values) + self.own * (self.own @ values)
        return np.asarray(values - fitted)

    def contrast(self, values: Floats, clipped: Mask) -> Contrast:
        """With the variance of each arm by itself, and Satterthwaite's degrees of freedom.

        Residuals are enlarged by their leverage (HC2; without movements this is Welch's test),
        and for the clipped visits of an arm, which no longer show its spread.
        """
        leverage = np.sum(self.beside**2, axis=1) + self.own**2
        shares = self.residuals(values) ** 2 / np.maximum(1 - leverage, 1e-9)
        shares *= self.influence**2
        movements_a_visit = (self.beside.shape[1] - 1) / len(values)
        variances, freedoms = [], []
        for arm in (self.other, ~self.other):
            count = int(arm.sum())
            free = max(int((arm & ~clipped).sum()), 1)
            variances.append(float(shares[arm].sum()) * (count / free) ** 2)
            freedoms.append(max(free - 1 - movements_a_visit * count, 1.0))
        variance = sum(variances)
        spread = sum(v**2 / f for v, f in zip(variances, freedoms, strict=True))
        freedom = variance**2 / spread if spread > 0 else min(freedoms)
        return Contrast(float(self.influence @ values), math.sqrt(variance), freedom)


def _whitened(rows: Floats, phi: float) -> Floats:
    """Each visit less ``phi`` times the one before; the first is scaled to the same noise."""
    found = rows.copy()
    found[1:] -= phi * rows[:-1]
    found[0] *= math.sqrt(1 - phi**2)
    return found


def _alike(other: Mask, beside: Floats) -> list[Mask]:
    """Groups of visits that have one level: the arms, each by itself with and without an event.

    A covariate of two values is an event. Where few visits of an arm are without it, these are no
    stalls, and what it costs is what they show.
    """
    arms = [other, ~other]
    if beside.size != len(other) or len(np.unique(beside)) != 2:
        return arms
    event = beside.ravel() == beside.max()
    groups = [arm & part for arm in arms for part in (event, ~event)]
    return [group for group in groups if group.any()]


def _without_stalls(values: Floats, fit: _Fit, alike: list[Mask]) -> tuple[Floats, Mask]:
    """Values with residuals clipped at 2.5 robust standard deviations of their arm; and which.

    The first fit is about the medians of the groups that are ``alike``.
    """
    centre = np.empty_like(values)
    for group in alike:
        centre[group] = np.median(values[group])
    reach = _reach(values - centre, fit.other)
    kept = centre + np.clip(values - centre, -reach, reach)
    fitted = kept - fit.residuals(kept)
    reach = _reach(values - fitted, fit.other)
    for _ in range(_FITS):
        kept = fitted + np.clip(values - fitted, -reach, reach)
        fitted = kept - fit.residuals(kept)
    rest = values - fitted
    return fitted + np.clip(rest, -reach, reach), np.abs(rest) >= reach


def _reach(rest: Floats, other: Mask) -> Floats:
    """How far a visit may lie from the fit: by the spread of its arm; no limit without any."""
    reach = np.empty_like(rest)
    for arm in (other, ~other):
        spread = _CLIP_SDS * mad_sd(rest[arm], about=0.0)
        reach[arm] = spread if spread > 0 else np.inf
    return reach
