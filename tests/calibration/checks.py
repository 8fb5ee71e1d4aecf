"""The slice of validation that runs in every test run: each check says what is wrong, or nothing.

Error rates are allowed the 99 % quantile of a judge that errs exactly as often as it may.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from unittest.mock import patch

import numpy as np
from tests.calibration.batched import MARGIN, Outcome, judged
from tests.calibration.cells import Batch, Cell, drawn
from tests.calibration.gate import ALPHA, most_allowed

from steelyard.inference.sequential import DECISIVE, VerdictWord
from steelyard.judge import judge_trials
from steelyard.judge.findings import VerdictFinding
from steelyard.judge.own_trials import verdicts as own_trials

Check = Callable[[], str | None]

PATHS = 2_000
HORIZON = 48
_BATCH = 50
_DIFFERENCES = {VerdictWord.FASTER, VerdictWord.SLOWER}


def equal(
    noise: str,
    studies: int,
    *,
    design: str = "two",
    spread: float = 1.0,
    horizon: int = HORIZON,
    paths: int = PATHS,
    budget: int | None = None,
) -> Check:
    """Equal systems must not be called different; by the exact test alone where spreads are equal.

    ``budget``: smaller than what is measured.
    """
    cell = Cell(noise, "four" if design == "four" else "two", 0.0, spread, horizon, paths)

    def check() -> str | None:
        wrong = 0
        for batch in _batches(cell, studies):
            outcomes = judged(
                batch,
                budget or horizon,
                alpha=_share(cell.comparisons),
                beyond_decision=True,
            )
            wrong += _studies_with(outcomes, cell)
        allowed = most_allowed(studies)
        return None if wrong <= allowed else f"{wrong} of {studies} equal ones called different"

    return check


def at_the_margin(noise: str, studies: int) -> Check:
    """A difference of the margin is not equivalence, and is never called the other way."""
    cell = Cell(noise, effect=MARGIN, horizon=HORIZON, paths=PATHS)

    def check() -> str | None:
        found = [
            outcome
            for batch in _batches(cell, studies)
            for outcome in judged(batch, HORIZON, at_the_bounds=frozenset(DECISIVE))
        ]
        equivalent = sum(VerdictWord.EQUIVALENT in each.words for each in found)
        opposite = sum(VerdictWord.SLOWER in each.words for each in found)
        if equivalent > most_allowed(studies):
            return f"{equivalent} of {studies} differences of the margin called equivalent"
        if opposite > most_allowed(studies, 0.005):
            return f"{opposite} of {studies} called the other way round"
        return None

    return check


def found(noise: str, effect: float, word: VerdictWord, median: int) -> Check:
    """The right word in nearly all of 50 studies, and within so many visits in half of them."""
    cell = Cell(noise, effect=effect, paths=PATHS)

    def check() -> str | None:
        outcomes = judged(drawn(cell, 0, _BATCH), cell.horizon, at_the_bounds=frozenset(DECISIVE))
        right = sum(word in each.words for each in outcomes)
        visits = sorted(each.at or cell.horizon for each in outcomes)[_BATCH // 2]
        if right < 0.8 * _BATCH or visits > median:
            return f"{word} in {right} of {_BATCH}, at the median after {visits} visits"
        return None

    return check


def said(
    noise: str, effect: float, never: set[VerdictWord], *, allowed: float, studies: int = 40
) -> Check:
    """Words that ``judge_trials`` may say in a share of the studies at most."""
    cell = Cell(noise, effect=effect, horizon=32, paths=400)

    def check() -> str | None:
        wrong = sum(bool(never & set(verdict.words)) for verdict in verdicts(cell, studies, MARGIN))
        limit = most_allowed(studies, allowed)
        return None if wrong <= limit else f"{wrong} of {studies} said {sorted(never)}"

    return check


def covered(noise: str, effect: float, studies: int = 150) -> Check:
    """The 95 % interval at the stop of the study holds the truth."""
    cell = Cell(noise, effect=effect, horizon=24, paths=400)

    def check() -> str | None:
        missed = 0
        for batch in _batches(cell, studies):
            for index, outcome in enumerate(
                judged(batch, cell.horizon, at_the_bounds=frozenset(DECISIVE))
            ):
                visits = outcome.at or cell.horizon
                verdict = verdict_of(batch, index, cell, visits=visits)
                low, high = verdict.low_log, verdict.high_log
                missed += not ((low is None or low <= effect) and (high is None or effect <= high))
        limit = most_allowed(studies)
        return None if missed <= limit else f"{missed} of {studies} intervals miss the truth"

    return check


def consistent(noise: str, effect: float, studies: int = 100) -> Check:
    """Word and interval never contradict each other, at the looks where it could happen."""
    cell = Cell(noise, effect=effect, horizon=16, paths=400)

    def check() -> str | None:
        for number, verdict in enumerate(verdicts(cell, studies, MARGIN)):
            shown = verdict.deciding_look or verdict
            low, high = shown.low_log, shown.high_log
            if VerdictWord.FASTER in verdict.words and (low is None or low < 0):
                return f"study {number} is faster, and its interval begins at {low}"
            if VerdictWord.SLOWER in verdict.words and (high is None or high > 0):
                return f"study {number} is slower, and its interval ends at {high}"
        return None

    return check


def words_of(cell: Cell, studies: int) -> Iterator[tuple[VerdictWord, ...]]:
    """The words of ``judge_trials`` on each study, without the intervals, which take longer."""
    for batch in _batches(cell, studies):
        for index in range(len(batch.values)):
            with patch.object(own_trials, "finding", lambda judged, *_: judged):
                yield verdict_of(batch, index, cell).words


def verdicts(cell: Cell, studies: int, margin_log: float) -> Iterator[VerdictFinding]:
    """The verdict of ``judge_trials`` on each study of a cell."""
    for batch in _batches(cell, studies):
        for index in range(len(batch.values)):
            yield verdict_of(batch, index, cell, margin_log=margin_log)


def verdict_of(
    batch: Batch,
    index: int,
    cell: Cell,
    *,
    margin_log: float = MARGIN,
    visits: int | None = None,
) -> VerdictFinding:
    """One study of a batch as somebody would bring it: names and figures, in their order."""
    values, signs = batch.values[index, :visits], batch.signs[:visits, index]
    found = judge_trials(
        np.where(signs > 0, "B", "A").tolist(),
        1_000 * np.exp(values),
        baseline="A",
        margin=math.expm1(margin_log),
        budget=cell.horizon,
        paths=cell.paths,
        seed=index,
    )
    return found.verdicts[0]


def _batches(cell: Cell, studies: int) -> Iterator[Batch]:
    return (
        drawn(cell, batch, min(_BATCH, studies - batch * _BATCH))
        for batch in range(math.ceil(studies / _BATCH))
    )


def _share(comparisons: int) -> float:
    """What each of several comparisons may spend, as the judge itself shares it out."""
    if comparisons == 1:
        return ALPHA
    names = [f"S{number}" for number in range(comparisons + 1)]
    figures = 1_000 + np.arange(8.0 * len(names))
    verdict = judge_trials(names * 8, figures, baseline="S0", design="none", paths=100)
    return 1 - verdict.verdicts[0].interval_level


def _studies_with(outcomes: list[Outcome], cell: Cell) -> int:
    different = [each.different if cell.spread != 1 else bool(each.crossed) for each in outcomes]
    step = cell.comparisons
    return sum(any(different[at : at + step]) for at in range(0, len(different), step))
