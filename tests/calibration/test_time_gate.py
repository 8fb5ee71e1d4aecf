"""Slices of what is promised of studies during which something changes; each can fail."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from tests.calibration import mistakes
from tests.calibration.cells import HORIZON
from tests.calibration.changing import CHANGES, LOOKS, Changing, followed
from tests.calibration.goals import Standing
from tests.calibration.own_parts import PARTS, OwnPart, felt_by_one
from tests.calibration.sections_time import changes, own_parts, withdrawals
from tests.calibration.spans import Spanned, spanned
from tests.calibration.store import Store
from tests.calibration.tally import Tally
from tests.calibration.withdrawing import Warned, withdrawn

from steelyard.inference.ratio_tests import Inference
from steelyard.judge.comparisons import comparison

AFTER_ALL = LOOKS[-1]
STUDIES = 6
WARNED = Warned(effect=0.02, warned=0.4)


def test_the_mean_effect_so_far_is_held_and_the_estimate_is_inside() -> None:
    tally = followed(Changing("0, then 5 % from visit 13"), 0, STUDIES)
    assert tally.counts[f"looks {AFTER_ALL}"] == STUDIES
    assert tally.counts[f"held {AFTER_ALL}"] == STUDIES
    assert tally.counts[f"outside {AFTER_ALL}"] == 0


@pytest.mark.extended
def test_an_interval_of_what_early_looks_have_left_is_seen() -> None:
    with patch.object(Inference, "sizes", mistakes.what_early_looks_have_left):
        tally = followed(Changing("0, then 5 % from visit 13"), 0, STUDIES)
    assert tally.counts[f"outside {AFTER_ALL}"] > 0


def test_the_true_effect_is_that_of_each_visit() -> None:
    case = Changing("10 %, then 15 % from visit 11")
    population, effects = case.drawn(0, 400)
    assert list(CHANGES)[1] == case.shape
    assert np.expm1(effects[[9, 10]]) == pytest.approx([0.10, 0.15])
    other = population.signs.T > 0
    for visit, effect in ((5, effects[5]), (40, effects[40])):
        values, mask = population.values[:, visit], other[:, visit]
        assert values[mask].mean() - values[~mask].mean() == pytest.approx(effect, abs=0.01)


@pytest.mark.parametrize("part", PARTS)
def test_a_slow_part_has_its_deviation_lasts_and_is_of_one_system(part: str) -> None:
    rng = np.random.default_rng(1)
    drawn = np.array([PARTS[part](rng, HORIZON) for _ in range(300)])
    assert drawn.std() == pytest.approx(1.0, abs=0.1)
    assert np.mean(drawn[:, 1:] * drawn[:, :-1]) > 0.6
    population = OwnPart(part, 0.04).drawn(0, 60)
    other = population.signs.T > 0
    assert population.values[~other].std() == pytest.approx(0.02, abs=0.002)
    assert population.values[other].std() == pytest.approx(0.045, abs=0.012)


@pytest.mark.extended
def test_a_large_slow_part_of_one_system_is_taken_for_a_difference_and_noted() -> None:
    tally = felt_by_one(OwnPart("AR(1) 0.9", 0.04), 0, 24)
    assert tally.counts["wrong"] >= 6
    assert tally.counts["noted after 96"] >= tally.counts["wrong"] // 2
    assert tally.counts["still"] <= tally.counts["wrong"]


@pytest.mark.extended
def test_a_verdict_that_is_asked_of_all_visits_again_is_seen_to_be_undone() -> None:
    shipped = withdrawn(WARNED, 0, STUDIES)
    assert shipped.counts["decided"] > 0
    assert shipped.counts["taken back"] == 0
    with patch.object(comparison, "_asked", mistakes.asked_of_all_visits):
        assert withdrawn(WARNED, 0, 2 * STUDIES).counts["taken back"] > 0


@pytest.mark.extended
def test_a_span_makes_a_slow_part_seldomer_a_difference_and_finds_what_is_one() -> None:
    slow = spanned(Spanned(0.04, 10), 0, 24).counts
    assert slow["96: different"] < slow["0: different"]
    assert slow["96: not noted"] < slow["0: not noted"]
    effect = spanned(Spanned(0.0, 1, 0.05), 0, STUDIES).counts
    assert effect["96: different"] == effect["0: different"] == STUDIES
    assert effect["96: visits"] == 96 * STUDIES


def _kept(store: Store, cell: str, tally: Tally, **about: object) -> None:
    result = store.begin(cell, about, "judge")
    result.studies += tally.studies
    result.counts.update(tally.counts)
    result.stops.update({8: tally.studies})


def test_one_estimate_outside_and_one_verdict_undone_are_not_reached(
    tmp_path: Path,
) -> None:
    store, looks = Store("G23", tmp_path), {f"{w} {LOOKS[0]}": 900 for w in ("looks", "held")}
    _kept(store, "one", Tally(900, Counter(looks)), changes=True)
    assert changes(store).standing is Standing.REACHED
    _kept(store, "two", Tally(900, Counter({**looks, f"outside {LOOKS[0]}": 1})), changes=True)
    assert changes(store).standing is Standing.NOT_REACHED
    store = Store("G25", tmp_path)
    _kept(store, "one", Tally(6_000, Counter({"decided": 6_000})))
    assert withdrawals(store).standing is Standing.REACHED
    _kept(store, "two", Tally(6_000, Counter({"decided": 6_000, "taken back": 1})))
    assert withdrawals(store).standing is Standing.NOT_REACHED
    store = Store("G24", tmp_path)
    _kept(store, "one in one system", Tally(900, Counter({"wrong": 800})), part="one", sd=0.01)
    assert own_parts(store).standing is Standing.NOT_REACHED
