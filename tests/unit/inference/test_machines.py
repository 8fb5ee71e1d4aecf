"""Several machines as one comparison: each order drawn by itself, the mean of their effects."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.inference import machines
from steelyard.inference.exact import Pool, sums
from steelyard.inference.randomisation import big_stick, draw
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import VerdictWord
from steelyard.inference.stream import Stream
from steelyard.inference.weights import weights_by_machine

MARGIN_LOG, ALPHA, VISITS, PATHS = math.log1p(0.02), 0.05, 24, 400


def machine(
    effect: float, seed: int, sd: float = 0.01, visits: int = VISITS, level: float = 0.0
) -> Stream:
    random = np.random.default_rng(seed)
    simulated, signs = big_stick(PATHS, visits, random), big_stick(1, visits, random)[:, 0]
    values = level + random.normal(0, sd, visits) + effect * (signs > 0)
    return Stream(values, signs > 0, Pool(signs, simulated), VISITS)


def laboratory(effects: Sequence[float], sd: float = 0.01) -> Stream:
    return machines.together([machine(effect, seed, sd) for seed, effect in enumerate(effects)])


def test_one_machine_together_with_none_is_judged_as_by_itself() -> None:
    alone = machine(0.05, 3)
    one, another = Inference.of(alone), Inference.of(machines.together([alone]))
    assert one.decide(MARGIN_LOG, ALPHA) == another.decide(MARGIN_LOG, ALPHA)
    assert one.estimate() == another.estimate()


def test_the_statistic_is_the_sum_over_machines_of_their_own_statistics() -> None:
    streams = [machine(0.03, seed, sd) for seed, sd in enumerate((0.01, 0.02, 0.01))]
    whole = machines.together(streams)
    weighed = weights_by_machine(whole.values[None, :], 3)
    parts = [sums(weighed[:, k::3], each.pool) for k, each in enumerate(streams)]
    assert (sums(weighed, whole.pool) == sum(parts)).all()


def test_no_order_of_one_machine_is_drawn_with_that_of_another() -> None:
    one, another = (draw(1, "big_stick", VISITS, PATHS, name) for name in ("a", "b"))
    assert (one != another).any(axis=0).mean() > 0.9
    agreement = (one == another).mean()
    assert agreement == pytest.approx(0.5, abs=0.03)


def test_what_is_small_on_each_of_four_machines_shows_on_all_of_these() -> None:
    small = math.log1p(0.004)
    each = [machine(0.008, seed) for seed in range(4)]
    words = [Inference.of(one).decide(small, ALPHA / 4).words for one in each]
    assert VerdictWord.FASTER not in [word for found in words for word in found]
    whole = Inference.of(machines.together(each)).decide(small, ALPHA)
    assert VerdictWord.FASTER in whole.words
    assert whole.at is not None
    assert whole.at <= VISITS


def test_effects_that_cancel_are_no_difference_on_all_and_show_as_deviations() -> None:
    stream = laboratory((0.06, -0.06, 0.0))
    words = Inference.of(stream).decide(MARGIN_LOG, ALPHA).words
    assert not {VerdictWord.FASTER, VerdictWord.SLOWER} & set(words)
    found = machines.deviations(stream, ALPHA)
    assert found is not None
    lows, highs = zip(*(each.interval for each in found), strict=True)
    assert lows[0] is not None
    assert lows[0] > 0
    assert highs[1] is not None
    assert highs[1] < 0
    assert sum(each.difference_log for each in found) == pytest.approx(0, abs=1e-12)


def test_a_quiet_machine_does_not_answer_for_the_others() -> None:
    streams = [machine(0.05, 1, 0.001), machine(-0.05, 2, 0.03), machine(0.0, 3, 0.03)]
    words = Inference.of(machines.together(streams)).decide(MARGIN_LOG, ALPHA).words
    assert not {VerdictWord.FASTER, VerdictWord.SLOWER} & set(words)


def test_the_estimate_is_the_mean_of_those_of_the_machines() -> None:
    streams = [machine(effect, seed) for seed, effect in enumerate((0.1, 0.0, 0.05))]
    alone = [found for each in streams if (found := Inference.of(each).estimate())]
    whole = Inference.of(machines.together(streams)).estimate()
    assert whole is not None
    assert whole.ratio_log == pytest.approx(np.mean([each.ratio_log for each in alone]))


def test_of_machines_with_more_and_fewer_visits_as_many_count_of_each() -> None:
    stream = machines.together([machine(0.0, 1), machine(0.0, 2, visits=16)])
    assert stream.visits == 16
    assert len(stream.values) == len(stream.pool.observed) == len(stream.pool.simulated) == 32


def test_nothing_is_said_of_other_machines_below_six() -> None:
    assert machines.others_like_them(laboratory((0.05,) * 5), ALPHA) is None
    found = machines.others_like_them(laboratory((0.05,) * 6), ALPHA)
    assert found is not None
    assert found.mean.low is not None
    assert found.mean.low > 0


def test_one_more_machine_is_less_certain_than_the_mean_of_many() -> None:
    found = machines.others_like_them(laboratory((0.1, 0.02, 0.05, 0.08, 0.0, 0.06, 0.03)), ALPHA)
    assert found is not None
    for mean, further in ((found.mean.low, found.further.low), (found.further.high, None)):
        assert mean is not None
        assert further is None or further < mean


@settings(max_examples=6, deadline=None)
@given(
    effects=st.lists(st.sampled_from((-0.05, 0.0, 0.01, 0.05)), min_size=2, max_size=3),
    levels=st.lists(st.floats(-3, 3), min_size=3, max_size=3),
    turn=st.integers(0, 2),
)
def test_neither_the_level_of_a_machine_nor_the_order_of_machines_changes_a_verdict(
    effects: list[float], levels: list[float], turn: int
) -> None:
    streams = [machine(effect, seed, visits=12) for seed, effect in enumerate(effects)]
    moved = [
        replace(each, values=np.round(each.values, 6) + round(level, 3))
        for each, level in zip(streams, levels, strict=False)
    ]
    turned = moved[turn:] + moved[:turn]
    rounded = [replace(each, values=np.round(each.values, 6)) for each in streams]
    one, another = (
        Inference.of(machines.together(each)).decide(MARGIN_LOG, ALPHA)
        for each in (rounded, turned)
    )
    assert one == another


def test_a_machine_on_which_a_covariate_never_moved_is_judged_without() -> None:
    heard = np.random.default_rng(9).normal(0, 0.05, VISITS)
    with_noise = machine(0.03, 1)
    moved = replace(with_noise, values=with_noise.values + heard, covariate=heard)
    stream = machines.together([moved, machine(0.03, 2)])
    assert stream.covariate is not None
    assert VerdictWord.FASTER in Inference.of(stream).decide(MARGIN_LOG, ALPHA).words
    without = replace(stream, covariate=None)
    assert VerdictWord.FASTER not in Inference.of(without).decide(MARGIN_LOG, ALPHA).words
