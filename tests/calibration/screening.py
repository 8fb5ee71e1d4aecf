"""Simulated screenings: known effects, any noise over time, cells in random order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from tests.calibration.noises import NOISES, SD

from steelyard.inference.noise.robust import Floats
from steelyard.judge.analyses.factors.design import Design, Layout, full_factorial
from steelyard.judge.analyses.factors.findings import EffectWord
from steelyard.judge.analyses.factors.questions import Subset, questions, terms
from steelyard.judge.analyses.factors.screening import Screening, screen
from steelyard.judge.analyses.factors.shares import shares
from steelyard.judge.analyses.factors.strata import fit
from steelyard.study.fractions import fold_over, principal, runs

ALPHA = 0.05
MARGIN_LOG = float(np.log(1.02))
CUBE = full_factorial((2, 2, 2))
SPLIT = full_factorial((2, 2, 2), hard=1)
MIXED = full_factorial((3, 2, 2))
_FIRST = principal(5)
HALF = Design(
    (2,) * 5, tuple(Layout(cells, (0,) * 16) for cells in (runs(_FIRST), runs(fold_over(_FIRST))))
)
DESIGNS = {"2^3": CUBE, "2^3 split": SPLIT, "3 x 2^2": MIXED, "2^(5-1) folded": HALF}


@dataclass(frozen=True)
class Case:
    """A population of screenings; its seed is the SHA-256 of its name.

    ``effects`` are ``2 q`` by set of factors. ``visit_sd`` is what visits of a split plot add.
    """

    design: str = "2^3"
    noise: str = "independent 2 %"
    effects: Mapping[Subset, float] = field(default_factory=dict)
    replicates: int = 14
    planned: int = 14
    studies: int = 500
    visit_sd: float = 0.0

    @property
    def name(self) -> str:
        effects = sorted(self.effects.items())
        return (
            f"screening {self.design}, {self.noise}, {effects}, {self.replicates}, {self.visit_sd}"
        )

    def seed(self) -> int:
        return int.from_bytes(hashlib.sha256(self.name.encode()).digest(), "big")


def studies(case: Case) -> Iterator[tuple[list[Floats], list[Floats]]]:
    """The replicates of each study, cell by cell in the order of their layout, and their places."""
    rng = np.random.Generator(np.random.PCG64(case.seed()))
    design = DESIGNS[case.design]
    truths = [_truth(design, layout, case.effects) for layout in design.layouts]
    for _ in range(case.studies):
        series = NOISES[case.noise](rng, case.replicates * design.cells)
        rows = series.reshape(case.replicates, design.cells)
        met, places = [], []
        for i in range(case.replicates):
            noise, order = _in_order(design.layouts[i % len(truths)], rows[i], case, rng)
            met.append(truths[i % len(truths)] + noise)
            places.append(i * design.cells + np.argsort(order).astype(float))
        yield met, places


def _truth(design: Design, layout: Layout, effects: Mapping[Subset, float]) -> Floats:
    signs = 2.0 * (np.asarray(layout.cells) > 0) - 1
    made = [0.5 * size * signs[:, subset].prod(axis=1) for subset, size in effects.items()]
    return np.asarray(sum(made) if made else np.zeros(design.cells))


def _in_order(
    layout: Layout, slots: Floats, case: Case, rng: np.random.Generator
) -> tuple[Floats, list[int]]:
    """What noise each cell meets: whole plots in random order, cells in random order in them.

    And the order.
    """
    plots = np.asarray(layout.plots)
    values = np.empty(len(slots))
    order: list[int] = []
    for plot in rng.permutation(layout.whole_plots):
        order += [int(i) for i in rng.permutation(np.flatnonzero(plots == plot))]
    values[order] = slots
    return np.asarray(values + rng.normal(0, case.visit_sd, layout.whole_plots)[plots]), order


def judged(case: Case) -> Iterator[Screening]:
    """Each study judged as shipped, to the end of its replicates."""
    design = DESIGNS[case.design]
    for rows, places in studies(case):
        yield screen(design, rows, case.planned, MARGIN_LOG, ALPHA, places=places)


def falsely_influential(case: Case) -> int:
    """Studies in which any effect that is 0 was ever called influential."""
    return sum(
        any(
            EffectWord.INFLUENTIAL in each.words
            for each in found.answers
            if each.question.factors not in case.effects
        )
        for found in judged(case)
    )


def falsely_negligible(case: Case) -> int:
    """Studies in which any of the true effects, all at the margin, was called negligible."""
    return sum(
        any(
            EffectWord.NEGLIGIBLE in each.words
            for each in found.answers
            if each.question.factors in case.effects
        )
        for found in judged(case)
    )


def found_all(case: Case) -> int:
    """Studies in which every true effect was called influential."""
    return sum(
        all(
            EffectWord.INFLUENTIAL in each.words
            for each in found.answers
            if each.question.factors in case.effects
        )
        for found in judged(case)
    )


def intervals_held(case: Case) -> int:
    """Studies in which the intervals of all effects held the truth."""
    return sum(
        all(
            each.low <= case.effects.get(each.question.factors, 0.0) <= each.high
            for each in found.answers
        )
        for found in judged(case)
    )


def share_coverage(case: Case) -> dict[Subset, float]:
    """How often the interval of each term's share held the truth."""
    design = DESIGNS[case.design]
    variances = {subset: (size / 2) ** 2 for subset, size in case.effects.items()}
    total = sum(variances.values()) + SD**2 + case.visit_sd**2
    held = dict.fromkeys((term.factors for term in terms(design)), 0)
    for seed, (rows, places) in enumerate(studies(case)):
        for each in shares(fit(design, rows, places), seed):
            if each.term is not None:
                truth = variances.get(each.term.factors, 0.0) / total
                held[each.term.factors] += each.low <= truth <= each.high
    return {factors: count / case.studies for factors, count in held.items()}


def effects_asked(design: str) -> int:
    return len(questions(DESIGNS[design]))
