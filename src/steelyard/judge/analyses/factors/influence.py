"""Which factors matter: the findings, and the short form that a session asks for."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from steelyard.judge.analyses.factors.asked import Asked, asked
from steelyard.judge.analyses.factors.findings import (
    EffectFinding,
    EffectWord,
    FewDegreesOfFreedom,
    FewReplicates,
    InfluenceFinding,
    InfluenceNote,
    PairFinding,
    ReplicatesLeftOut,
    ShareFinding,
    Unreplicated,
)
from steelyard.judge.analyses.factors.questions import Subset
from steelyard.judge.analyses.factors.screening import Answer, Screening, screen
from steelyard.judge.analyses.factors.shares import FEWEST_REPLICATES, Share, shares
from steelyard.judge.visits.readings import Readings
from steelyard.plan.model import Plan
from steelyard.study.screening import LEAST_DF
from steelyard.study.workload_study import WorkloadStudy


@dataclass(frozen=True)
class SoFar:
    """How one question about factors stands: replicates, effects by word, and its visits.

    ``settled``: every effect has a word and shares can be given, so no further visit is needed.
    """

    replicates: int
    planned: int
    influential: tuple[str, ...]
    negligible: int
    open: int
    settled: bool
    visits: frozenset[int]


def so_far(study: WorkloadStudy, plan: Plan, readings: Readings) -> list[SoFar]:
    """Cheap enough to ask after each visit."""
    found = []
    for each in asked(study, plan, readings):
        screening = _screened(study, each)
        words = [answer.word for answer in screening.answers]
        found.append(
            SoFar(
                replicates=len(each.replicates),
                planned=each.planned,
                influential=tuple(
                    " × ".join(_names(each, answer.question.factors))
                    for answer in screening.answers
                    if answer.word is EffectWord.INFLUENTIAL
                ),
                negligible=words.count(EffectWord.NEGLIGIBLE),
                open=screening.open,
                settled=_settled(each, screening),
                visits=each.visits,
            )
        )
    return found


def influence_findings(
    study: WorkloadStudy, plan: Plan, readings: Readings
) -> Iterator[InfluenceFinding]:
    """Everything that is said of factors; nothing for a study that does not ask."""
    for each in asked(study, plan, readings):
        yield _finding(study, plan, each)


def _screened(study: WorkloadStudy, each: Asked) -> Screening:
    margin, alpha = study.trials.margin_log, study.trials.alpha
    replicates = () if each.problems else each.replicates
    return screen(each.design, replicates, each.planned, margin, alpha, places=each.places)


def _settled(each: Asked, screening: Screening) -> bool:
    count = len(each.replicates)
    enough = count >= FEWEST_REPLICATES and each.design.repeated(count)
    return enough and screening.open == 0


def _finding(study: WorkloadStudy, plan: Plan, each: Asked) -> InfluenceFinding:
    screening = _screened(study, each)
    fitted = screening.fit
    square = None if fitted is None else fitted.within.mean_square
    return InfluenceFinding(
        system=each.system,
        response=study.primary.name,
        factors=dict(each.factors),
        hard_to_change=each.hard_to_change,
        resolution=each.resolution,
        relations=each.relations,
        cells=each.design.cells,
        replicates=len(each.replicates),
        replicates_planned=each.planned,
        replicates_left_out=each.left_out,
        margin_log=study.trials.margin_log,
        alpha=study.trials.alpha,
        interval_level=1 - study.trials.alpha,
        settled=_settled(each, screening),
        effects=tuple(_effect(each, answer) for answer in screening.answers),
        shares=tuple(
            _share(each, share) for share in (() if fitted is None else shares(fitted, plan.seed))
        ),
        pairs=tuple(_pairs(each)),
        noise_log=None if square is None else math.sqrt(square),
        visit_noise_log=_visit_noise(each, screening),
        notes=tuple(_notes(each, screening)),
    )


def _effect(each: Asked, answer: Answer) -> EffectFinding:
    question, levels = answer.question, list(each.factors.values())
    word = EffectWord.NOT_JUDGED if each.problems else answer.word
    return EffectFinding(
        factors=_names(each, question.factors),
        levels=tuple(
            levels[i][at] for i, at in zip(question.factors, question.levels, strict=True)
        ),
        against=tuple(levels[i][0] for i in question.factors),
        aliases=tuple(_names(each, alias) for alias in question.aliases),
        word=word,
        words=(word,) if each.problems else answer.words or (word,),
        effect_log=_known(answer.estimate),
        low_log=_known(answer.low),
        high_log=_known(answer.high),
        equivalence_low_log=_known(answer.equivalence_low),
        equivalence_high_log=_known(answer.equivalence_high),
        decided_at_replicate=answer.decided_at,
        unit="visit" if question.between else "trial",
    )


def _share(each: Asked, share: Share) -> ShareFinding:
    term = share.term
    return ShareFinding(
        kind="noise" if term is None else "effect" if term.factors else "higher",
        factors=() if term is None else _names(each, term.factors),
        aliases=() if term is None else tuple(_names(each, alias) for alias in term.aliases),
        share=share.share,
        low=share.low,
        high=share.high,
    )


def _pairs(each: Asked) -> Iterator[PairFinding]:
    """Means of the logarithms by pairs of levels, over replicates and all other factors."""
    if each.problems or not each.replicates:
        return
    turns = len(each.design.layouts)
    cells = np.concatenate(
        [np.asarray(each.design.layouts[i % turns].cells) for i in range(len(each.replicates))]
    )
    values = np.concatenate(each.replicates)
    names = list(each.factors)
    for i, first in enumerate(names):
        for j in range(i + 1, len(names)):
            yield PairFinding(
                factors=(first, names[j]),
                first_levels=each.factors[first],
                second_levels=each.factors[names[j]],
                means=tuple(
                    tuple(
                        _mean(values[(cells[:, i] == a) & (cells[:, j] == b)])
                        for b in range(each.design.levels[j])
                    )
                    for a in range(each.design.levels[i])
                ),
            )


def _mean(logs: np.typing.NDArray[np.float64]) -> float | None:
    return math.exp(math.fsum(logs) / len(logs)) if len(logs) else None


def _names(each: Asked, factors: Subset) -> tuple[str, ...]:
    names = list(each.factors)
    return tuple(names[i] for i in factors)


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _visit_noise(each: Asked, screening: Screening) -> float | None:
    """What visits add to the spread of their trials: from the two mean squares."""
    if screening.fit is None or each.design.whole_plots == 1:
        return None
    within, between = screening.fit.within.mean_square, screening.fit.between.mean_square
    if within is None or between is None:
        return None
    size = each.design.cells / each.design.whole_plots
    return math.sqrt(max(0.0, between - within) / size)


def _notes(each: Asked, screening: Screening) -> Iterator[InfluenceNote]:
    yield from each.problems
    count, turns = len(each.replicates), len(each.design.layouts)
    if each.left_out:
        yield ReplicatesLeftOut(replicates=each.left_out)
    if any(answer.word is EffectWord.SUGGESTED for answer in screening.answers):
        yield Unreplicated()
    fewest = max(FEWEST_REPLICATES, 2 * turns)
    if count < fewest:
        yield FewReplicates(replicates=count, needed=fewest)
    fitted = screening.fit if count >= turns else None
    for between in sorted({answer.question.between for answer in screening.answers}):
        df = 0 if fitted is None else fitted.stratum(between=between).df
        if df < LEAST_DF:
            unit: Literal["visit", "trial"] = "visit" if between else "trial"
            yield FewDegreesOfFreedom(unit=unit, degrees=df, needed=LEAST_DF)
