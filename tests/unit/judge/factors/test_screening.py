"""Factorial designs judged: effects, errors of visits and trials, words, boundaries."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import norm, t

from steelyard.inference.noise.robust import Floats
from steelyard.judge.analyses.factors.boundary import boundary, looks
from steelyard.judge.analyses.factors.design import Design, Layout, full_factorial
from steelyard.judge.analyses.factors.findings import EffectWord
from steelyard.judge.analyses.factors.questions import questions, terms
from steelyard.judge.analyses.factors.screening import lenth_margin, screen
from steelyard.judge.analyses.factors.shares import shares
from steelyard.judge.analyses.factors.strata import fit
from steelyard.study.fractions import fold_over, principal, runs

MARGIN_LOG = float(np.log(1.02))
CUBE = full_factorial((2, 2, 2))


def folded(factors: int) -> Design:
    first = principal(factors)
    both = (runs(first), runs(fold_over(first)))
    return Design((2,) * factors, tuple(Layout(cells, (0,) * len(cells)) for cells in both))


def replicates(truth: Floats, count: int, sd: float = 0.02, seed: int = 1) -> list[Floats]:
    rng = np.random.default_rng(seed)
    return [truth + rng.normal(0, 0.3) + rng.normal(0, sd, len(truth)) for _ in range(count)]


def signs(design: Design, *factors: int) -> Floats:
    return np.asarray((2.0 * np.array(design.layouts[0].cells)[:, factors] - 1).prod(axis=1))


def test_the_boundary_of_three_factors_and_fourteen_replicates_is_that_of_the_specification() -> (
    None
):
    critical = boundary(CUBE, 14, 0.05)
    found = [t.isf(norm.sf(c), 7 * (r - 1)) for r, c in zip(looks(CUBE, 14), critical, strict=True)]
    assert found[:4] == pytest.approx([5.26, 3.93, 3.65, 3.57], rel=0.02)


def test_effects_are_ratios_of_the_second_level_to_the_first() -> None:
    truth = 0.05 * signs(CUBE, 0) - 0.02 * signs(CUBE, 0, 2)
    found = dict(
        zip([q.factors for q in questions(CUBE)], fit(CUBE, [truth]).estimates(), strict=True)
    )
    assert found[0,] == pytest.approx(0.10)
    assert found[0, 2] == pytest.approx(-0.04)
    assert found[1, 2] == pytest.approx(0.0)


def test_a_large_effect_is_influential_and_the_rest_negligible() -> None:
    screening = screen(
        CUBE, replicates(0.05 * signs(CUBE, 1), 14), planned=14, margin_log=MARGIN_LOG, alpha=0.05
    )
    words = {each.question.factors: each.word for each in screening.answers}
    assert words.pop((1,)) is EffectWord.INFLUENTIAL
    assert set(words.values()) == {EffectWord.NEGLIGIBLE}
    assert screening.open == 0


def test_a_small_effect_that_is_certain_is_both_and_called_negligible() -> None:
    truth = 0.002 * signs(CUBE, 1)
    screening = screen(
        CUBE, replicates(truth, 14, sd=0.001), planned=14, margin_log=MARGIN_LOG, alpha=0.05
    )
    small = next(each for each in screening.answers if each.question.factors == (1,))
    assert small.words == (EffectWord.INFLUENTIAL, EffectWord.NEGLIGIBLE)
    assert small.word is EffectWord.NEGLIGIBLE


def test_a_word_that_was_given_stays() -> None:
    truth = 0.05 * signs(CUBE, 1)
    begun = replicates(truth, 4)
    ended = [*begun, *replicates(-5 * truth, 10, sd=1.0)]
    at = {
        n: screen(CUBE, ended[:n], planned=14, margin_log=MARGIN_LOG, alpha=0.05) for n in (4, 14)
    }
    word = {n: next(a for a in s.answers if a.question.factors == (1,)) for n, s in at.items()}
    assert word[4].word is EffectWord.INFLUENTIAL
    assert (word[14].word, word[14].decided_at) == (word[4].word, word[4].decided_at)


def test_one_replicate_only_suggests() -> None:
    screening = screen(
        CUBE, replicates(0.3 * signs(CUBE, 2), 1), planned=14, margin_log=MARGIN_LOG, alpha=0.05
    )
    told = {each.question.factors: each.word for each in screening.answers}
    assert told[2,] is EffectWord.SUGGESTED
    assert screening.open == len(screening.answers)
    assert screening.fit is not None
    assert shares(screening.fit, seed=1) == ()


def test_lenths_margin_is_that_of_his_published_procedure() -> None:
    """PSE of effects of which one stands out: 1.5 times the median of the others' sizes."""
    effects = np.array([0.1, -0.2, 0.15, 0.05, -0.1, 0.2, 5.0])
    assert lenth_margin(effects) == pytest.approx(
        1.5 * 0.125 * t.ppf((1 + 0.95 ** (1 / 7)) / 2, 7 / 3)
    )


def test_no_share_is_given_below_three_replicates() -> None:
    truth = 0.05 * signs(CUBE, 1)
    assert shares(fit(CUBE, replicates(truth, 2)), seed=1) == ()
    assert len(shares(fit(CUBE, replicates(truth, 3)), seed=1)) == 8


def test_shares_and_noise_are_all_of_the_variation_and_the_same_on_every_run() -> None:
    fitted = fit(CUBE, replicates(0.05 * signs(CUBE, 1) + 0.02 * signs(CUBE, 0, 2), 5))
    found = shares(fitted, seed=7)
    assert sum(each.share for each in found) == pytest.approx(1.0)
    assert found == shares(fitted, seed=7)
    largest = max(found, key=lambda each: each.share)
    assert largest.term is not None
    assert largest.term.factors == (1,)
    assert largest.low < 0.0025 / (0.0025 + 0.0004 + 0.0004) < largest.high


def test_a_block_that_is_faster_as_a_whole_changes_nothing() -> None:
    base = replicates(0.05 * signs(CUBE, 1), 4)
    shifted = [each + shift for each, shift in zip(base, (3.0, -1.0, 0.0, 9.0), strict=True)]
    one, other = fit(CUBE, base), fit(CUBE, shifted)
    assert one.estimates() == pytest.approx(other.estimates())
    assert one.within.sum_of_squares == pytest.approx(other.within.sum_of_squares)


def test_what_changes_between_visits_is_judged_by_visits() -> None:
    """Whole-plot error: visits differ by 10 %, trials within them by 0.1 %."""
    design = full_factorial((2, 2, 2), hard=1)
    rng = np.random.default_rng(3)
    plots = np.asarray(design.layouts[0].plots)
    rows = [rng.normal(0, 0.1, 2)[plots] + rng.normal(0, 0.001, 8) for _ in range(12)]
    screening = screen(design, rows, planned=12, margin_log=MARGIN_LOG, alpha=0.05)
    assert screening.fit is not None
    assert (screening.fit.between.df, screening.fit.within.df) == (11, 66)
    hard = next(each for each in screening.answers if each.question.factors == (0,))
    easy = next(each for each in screening.answers if each.question.factors == (0, 1))
    assert hard.question.between
    assert not easy.question.between
    assert hard.high - hard.low > 50 * (easy.high - easy.low)


def test_mean_squares_of_a_split_plot_are_those_of_the_text_book() -> None:
    """One hard and one easy factor, two blocks: errors by hand."""
    design = full_factorial((2, 2), hard=1)
    first, second = np.array([1.0, 2.0, 4.0, 4.0]), np.array([2.0, 2.0, 3.0, 6.0])
    fitted = fit(design, [first, second])
    a, b = first - first.mean(), second - second.mean()
    halves = (a - b) / 2
    plots = np.array([halves[:2].mean(), halves[2:].mean()])
    assert fitted.between.sum_of_squares == pytest.approx(2 * 2 * (plots**2).sum())
    total = 2 * (halves**2).sum()
    assert fitted.within.sum_of_squares == pytest.approx(total - fitted.between.sum_of_squares)
    assert (fitted.between.df, fitted.within.df) == (1, 2)


def test_several_levels_are_compared_with_the_first_and_fill_all_degrees_of_freedom() -> None:
    design = full_factorial((3, 2, 2))
    asked = questions(design)
    assert [q.levels for q in asked if q.factors == (0,)] == [(1,), (2,)]
    assert sum(term.df for term in terms(design)) == design.cells - 1
    truth = np.array([0.1 * (cell[0] == 2) for cell in design.layouts[0].cells])
    found = fit(design, [truth]).estimates()
    assert found[[q.levels == (2,) and q.factors == (0,) for q in asked]] == pytest.approx(0.1)


def test_rows_of_different_terms_are_orthogonal() -> None:
    rows = np.concatenate([np.asarray(term.rows[0]) for term in terms(full_factorial((3, 2, 4)))])
    gram = rows @ rows.T
    assert np.abs(gram - np.diag(np.diag(gram))).max() < 1e-12


def test_a_fraction_and_its_fold_over_part_every_pair_of_five_factors() -> None:
    simple = [q for q in questions(folded(5)) if len(q.factors) <= 2]
    assert len(simple) == 15
    assert all(not q.aliases for q in simple)


def test_six_factors_name_the_three_pairs_that_stay_together() -> None:
    shared = {q.factors: q.aliases for q in questions(folded(6)) if q.aliases}
    assert {f for f in shared if len(f) == 2} == {(0, 1), (0, 2), (0, 4)}


def test_an_effect_of_a_fraction_is_found_although_half_of_the_cells_is_missing() -> None:
    design = folded(6)
    rng = np.random.default_rng(5)
    rows = []
    for i in range(6):
        cells = 2.0 * np.array(design.layouts[i % 2].cells) - 1
        rows.append(0.04 * cells[:, 5] + 0.03 * cells[:, 3] * cells[:, 4] + rng.normal(0, 0.02, 16))
    screening = screen(design, rows, planned=6, margin_log=MARGIN_LOG, alpha=0.05)
    there = {a.question.factors for a in screening.answers if a.word is EffectWord.INFLUENTIAL}
    assert there == {(5,), (3, 4)}


@pytest.mark.parametrize("count", [0, 2, 3])
def test_too_few_degrees_of_freedom_call_nothing(count: int) -> None:
    design = full_factorial((2, 2))
    screening = screen(
        design, replicates(signs(design, 0), count)[: min(count, 2)], 14, MARGIN_LOG, 0.05
    )
    assert {each.word for each in screening.answers} == {EffectWord.OPEN}


def test_a_replicate_with_a_missing_cell_is_refused() -> None:
    with pytest.raises(ValueError, match="every cell"):
        fit(CUBE, [np.zeros(7)])


def test_looks_grow_sparse_where_there_are_many_and_include_the_last() -> None:
    found = looks(CUBE, 100)
    assert found[:3] == (2, 3, 4)
    assert found[-1] == 100
    assert len(found) < 45
    assert all(a < b for a, b in itertools.pairwise(found))


def orders(design: Design, count: int, seed: int = 2) -> list[Floats]:
    """Places of the cells: replicate after replicate, in random order within each."""
    rng = np.random.default_rng(seed)
    return [i * design.cells + rng.permutation(design.cells).astype(float) for i in range(count)]


def test_a_steady_drift_changes_nothing_where_the_places_of_trials_are_known() -> None:
    level, places = replicates(0.02 * signs(CUBE, 1), 4), orders(CUBE, 4)
    drifting = [row + 0.03 * place for row, place in zip(level, places, strict=True)]
    still, moved = fit(CUBE, level, places), fit(CUBE, drifting, places)
    assert moved.estimates() == pytest.approx(still.estimates())
    assert moved.within.sum_of_squares == pytest.approx(still.within.sum_of_squares)
    assert moved.drift is not None
    assert still.drift is not None
    assert moved.drift.slope - still.drift.slope == pytest.approx(0.03)
    assert fit(CUBE, drifting).within.sum_of_squares > 10 * moved.within.sum_of_squares


def test_taking_a_drift_out_is_least_squares_with_the_places_beside_cells_and_replicates() -> None:
    rows, places = replicates(0.02 * signs(CUBE, 1), 3), orders(CUBE, 3)
    found = fit(CUBE, rows, places)
    cells, blocks = np.tile(np.eye(8), (3, 1)), np.repeat(np.eye(3), 8, axis=0)
    model = np.column_stack([cells, blocks[:, 1:], np.concatenate(places)])
    solved, left, *_ = np.linalg.lstsq(model, np.concatenate(rows), rcond=None)
    assert found.within.df == 3 * 8 - model.shape[1] == 13
    assert found.within.sum_of_squares == pytest.approx(left[0])
    weights = np.array([question.weights[0] for question in questions(CUBE)])
    assert found.estimates() == pytest.approx(weights @ solved[:8])
    covariance = np.linalg.inv(model.T @ model)[:8, :8]
    assert found.variance_factors() == pytest.approx(np.diag(weights @ covariance @ weights.T))
    every = np.linalg.qr(np.column_stack([np.ones(8), np.eye(8)[:, 1:]]))[0][:, 1:] / np.sqrt(8)
    assert found.unit_variance() == pytest.approx(np.diag(every.T @ covariance @ every).mean())


def test_cells_that_always_come_at_the_same_place_leave_no_drift_to_be_seen() -> None:
    rows, places = replicates(0.02 * signs(CUBE, 1), 3), [np.arange(8.0)] * 3
    assert fit(CUBE, rows, places).drift is None


def test_a_steady_drift_is_taken_out_of_visits_as_their_trials_tell_it() -> None:
    split = full_factorial((2, 2, 2), hard=1)
    level, places = replicates(0.02 * signs(split, 1), 6), visits_in_order(split, 6)
    drifting = [row + 0.03 * place for row, place in zip(level, places, strict=True)]
    still, moved = fit(split, level, places), fit(split, drifting, places)
    assert moved.estimates() == pytest.approx(still.estimates())
    assert moved.between.sum_of_squares == pytest.approx(still.between.sum_of_squares)
    assert (moved.within.df, moved.between.df) == (6 * 5 - 1, 5)


def visits_in_order(design: Design, count: int, seed: int = 7) -> list[Floats]:
    """Places of the cells: whole plots in random order, trials in random order in them."""
    rng = np.random.default_rng(seed)
    plots = np.array(design.layouts[0].plots)
    found = []
    for i in range(count):
        order = [np.flatnonzero(plots == p) for p in rng.permutation(design.whole_plots)]
        met = np.concatenate([rng.permutation(cells) for cells in order])
        found.append(i * design.cells + np.argsort(met).astype(float))
    return found


def test_the_slope_of_a_drift_between_visits_alone_is_not_taken_for_one_of_the_machine() -> None:
    split = full_factorial((2, 2, 2), hard=1)
    places = [np.array([0.0, 1, 2, 3, 4, 5, 6, 7])] * 3
    assert fit(split, replicates(np.zeros(8), 3), places).drift is None


def test_the_boundary_is_the_same_with_another_library_of_linear_algebra() -> None:
    """Nehalem's kernels are another one, and every x86-64 machine can run them."""
    here = "tests.unit.judge.factors.test_screening"
    program = f"from {here} import *; print(*boundary(CUBE, 6, 0.05))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "OPENBLAS_CORETYPE": "Nehalem"},
        capture_output=True,
        text=True,
        check=True,
    )
    other = [float(value) for value in done.stdout.split()]
    assert other == pytest.approx(boundary(CUBE, 6, 0.05), rel=1e-5)
