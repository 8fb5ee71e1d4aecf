"""What is said of each effect, look by look: influential, negligible, or open.

An effect is *influential* once it is too large to be chance, given all effects and all looks;
*negligible* once both one-sided tests put it inside the margin. Both may hold: an effect that is
there and too small to matter, which is called negligible. A word that was said stays. One replicate
of two levels has no error of its own: Lenth's pseudo standard error then suggests, and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.inference.probability.distributions import normal_above, t_bound
from steelyard.judge.analyses.factors.boundary import boundary, looks
from steelyard.judge.analyses.factors.design import Design
from steelyard.judge.analyses.factors.findings import EffectWord
from steelyard.judge.analyses.factors.questions import Question, questions
from steelyard.judge.analyses.factors.strata import Fit, fit
from steelyard.study.screening import LEAST_DF

FEWEST_FOR_LENTH = 7
SHARE_SPENT = 0.7
"""How much of the error rate the boundary may spend. It is made for normal noise; where something
runs on every other trial, the largest of few contrasts goes beyond it in 6.2 % of studies instead
of 5 %, so that three tenths are kept back (docs/decisions/022)."""


@dataclass(frozen=True)
class Answer:
    """One effect as it stands. Ends are infinite where nothing is rejected yet."""

    question: Question
    estimate: float
    words: tuple[EffectWord, ...]
    decided_at: int | None
    low: float
    high: float
    equivalence_low: float
    equivalence_high: float

    @property
    def word(self) -> EffectWord:
        if EffectWord.NEGLIGIBLE in self.words:
            return EffectWord.NEGLIGIBLE
        return self.words[0] if self.words else EffectWord.OPEN


@dataclass(frozen=True)
class Screening:
    """All answers after some replicates, and the fit that they rest on."""

    answers: tuple[Answer, ...]
    fit: Fit | None

    @property
    def open(self) -> int:
        return sum(each.word in (EffectWord.OPEN, EffectWord.SUGGESTED) for each in self.answers)


def screen(
    design: Design,
    replicates: Sequence[Floats],
    planned: int,
    margin_log: float,
    alpha: float,
    *,
    places: Sequence[Floats] = (),
) -> Screening:
    """Every effect after these replicates of a plan of so many; fixed ``alpha`` for all together.

    ``places`` are those of the trials in time, as :func:`fit` takes them.

    A study that stopped is judged as it stood at its last look. After one replicate of a fraction
    the questions are those of that fraction alone.
    """
    if len(replicates) == 1:
        return _unreplicated(replace(design, layouts=design.layouts[:1]), replicates)
    when = looks(design, planned)
    book = _Book(design)
    if not replicates:
        return Screening(book.answers(np.full(len(book.questions), np.nan)), None)
    if when:
        two_sided = boundary(design, planned, SHARE_SPENT * alpha)
        one_sided = boundary(design, planned, min(0.5, 2 * SHARE_SPENT * alpha))
        for look, outer, inner in zip(when, two_sided, one_sided, strict=True):
            if look <= len(replicates):
                then = fit(design, replicates[:look], places[:look])
                book.look(then, look, outer, inner, margin_log)
    now = fit(design, replicates, places)
    return Screening(book.answers(now.estimates()), now)


def _unreplicated(design: Design, replicates: Sequence[Floats]) -> Screening:
    book, now = _Book(design), fit(design, replicates)
    if design.two_levels:
        book.suggest(now.estimates())
    return Screening(book.answers(now.estimates()), now)


class _Book:
    """What has been rejected of each effect so far."""

    def __init__(self, design: Design) -> None:
        self.questions = questions(design)
        count = len(self.questions)
        self.between = np.array([each.between for each in self.questions], dtype=np.bool_)
        self.low, self.high = np.full(count, -np.inf), np.full(count, np.inf)
        self.inner_low, self.inner_high = np.full(count, -np.inf), np.full(count, np.inf)
        self.words: list[tuple[EffectWord, ...]] = [()] * count
        self.at: list[int | None] = [None] * count

    def look(self, now: Fit, look: int, outer: float, inner: float, margin_log: float) -> None:
        """One look: narrows both intervals and gives words to what is decided by it."""
        estimates, errors, df = now.estimates(), _errors(now, self.between), _df(now, self.between)
        ready = df >= LEAST_DF
        wide = np.where(ready, _critical(outer, df) * errors, np.inf)
        narrow = np.where(ready, _critical(inner, df) * errors, np.inf)
        self.low, self.high = _narrowed(self.low, self.high, estimates, wide)
        self.inner_low, self.inner_high = _narrowed(
            self.inner_low, self.inner_high, estimates, narrow
        )
        there = (self.low > 0) | (self.high < 0)
        small = (self.inner_low > -margin_log) & (self.inner_high < margin_log)
        for i in np.flatnonzero(there | small):
            if not self.words[i]:
                self.at[i] = look
                named = ((EffectWord.INFLUENTIAL, there[i]), (EffectWord.NEGLIGIBLE, small[i]))
                self.words[i] = tuple(word for word, holds in named if holds)

    def suggest(self, estimates: Floats) -> None:
        """Lenth's method, for one replicate."""
        if len(estimates) >= FEWEST_FOR_LENTH:
            limit = lenth_margin(estimates)
            for i in np.flatnonzero(np.abs(estimates) > limit):
                self.words[i] = (EffectWord.SUGGESTED,)

    def answers(self, estimates: Floats) -> tuple[Answer, ...]:
        return tuple(
            Answer(
                question=question,
                estimate=float(estimates[i]),
                words=self.words[i],
                decided_at=self.at[i],
                low=float(self.low[i]),
                high=float(self.high[i]),
                equivalence_low=float(self.inner_low[i]),
                equivalence_high=float(self.inner_high[i]),
            )
            for i, question in enumerate(self.questions)
        )


def _narrowed(low: Floats, high: Floats, middle: Floats, half: Floats) -> tuple[Floats, Floats]:
    """The part of an interval that a further one leaves; the further one where none is left."""
    new_low, new_high = np.maximum(low, middle - half), np.minimum(high, middle + half)
    none = new_low > new_high
    return np.where(none, middle - half, new_low), np.where(none, middle + half, new_high)


def _errors(now: Fit, between: np.typing.NDArray[np.bool_]) -> Floats:
    squares = [now.stratum(between=each).mean_square or 0.0 for each in (False, True)]
    return np.asarray(np.sqrt(np.where(between, squares[1], squares[0]) * now.variance_factors()))


def _df(now: Fit, between: np.typing.NDArray[np.bool_]) -> Floats:
    return np.where(between, float(now.between.df), float(now.within.df))


def _critical(quantile: float, df: Floats) -> Floats:
    """The quantile of t with the tail of a normal quantile."""
    return t_bound(normal_above(quantile), np.maximum(df, 1.0))


def lenth_margin(effects: Floats) -> float:
    """Size above which an unreplicated effect stands out among all of them at 5 %.

    Source: Lenth, "Quick and easy analysis of unreplicated factorials", Technometrics 31 (1989).
    """
    sizes = np.abs(effects)
    rough = 1.5 * np.median(sizes)
    pseudo = 1.5 * np.median(sizes[sizes < 2.5 * rough]) if rough > 0 else 0.0
    count = len(sizes)
    return float(t_bound((1 - 0.95 ** (1 / count)) / 2, count / 3) * pseudo)
