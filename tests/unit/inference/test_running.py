"""Tests that are kept say what tests made anew say, for more visits and for fewer."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from steelyard.inference.exact import Pool
from steelyard.inference.randomisation import big_stick
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import Memory
from steelyard.inference.stream import Order, Stream

MARGIN_LOG, ALPHA = math.log1p(0.02), 0.05
EFFECTS = (0.0, MARGIN_LOG, 0.05, -0.09)
UP_AND_DOWN = (48, 9, 40, 8, 24, 12, 48)


def study(effect: float, visits: int = 48) -> Stream:
    random = np.random.default_rng(7)
    simulated = big_stick(500, 48, random)
    signs = big_stick(1, 48, random)[:, 0]
    values = random.normal(0, 0.02, 48) + effect * (signs > 0)
    order = Order("these", tuple(range(visits)), tuple(bool(s > 0) for s in signs[:visits]))
    pool = Pool(signs[:visits], simulated[:visits])
    return Stream(values[:visits], signs[:visits] > 0, pool, 48, order)


@pytest.mark.parametrize("effect", EFFECTS)
def test_more_and_fewer_visits_are_judged_as_if_anew(effect: float) -> None:
    memory = Memory()
    for visits in UP_AND_DOWN:
        kept, anew = (
            Inference.of(study(effect, visits), memory),
            Inference.of(study(effect, visits)),
        )
        assert kept.decide(MARGIN_LOG, ALPHA) == anew.decide(MARGIN_LOG, ALPHA)
        for one, other in ((kept, anew), (kept.mirrored, anew.mirrored)):
            assert one.excluded(0.0, MARGIN_LOG, ALPHA) == other.excluded(0.0, MARGIN_LOG, ALPHA)
        rates = (ALPHA / 2, ALPHA)
        assert kept.sizes(MARGIN_LOG, rates, effect) == anew.sizes(MARGIN_LOG, rates, effect)


@pytest.mark.parametrize("changed", ["value", "system", "horizon"])
def test_visits_that_went_another_way_are_judged_anew(changed: str) -> None:
    memory, before = Memory(), study(0.09)
    assert Inference.of(before, memory).decide(MARGIN_LOG, ALPHA).words
    values, others = before.values.copy(), list(before.order.others) if before.order else []
    if changed == "value":
        values[8:] += np.random.default_rng(1).normal(0, 0.5, 40)
    elif changed == "system":
        others[9] = not others[9]
    stream = replace(
        before,
        values=values,
        other=np.array(others),
        order=Order("these", tuple(range(48)), tuple(others)),
        horizon=96 if changed == "horizon" else 48,
    )
    kept, anew = Inference.of(stream, memory), Inference.of(stream)
    assert kept.side.running is not Inference.of(before, memory).side.running
    assert kept.decide(MARGIN_LOG, ALPHA) == anew.decide(MARGIN_LOG, ALPHA)


def test_a_memory_keeps_no_more_comparisons_than_it_may() -> None:
    memory = Memory(most=2)
    kept = [Inference.of(study(effect), memory).side.running for effect in EFFECTS]
    again = [Inference.of(study(effect), memory).side.running for effect in EFFECTS[::-1]]
    assert [one is other for one, other in zip(kept[::-1], again, strict=True)] == [
        True,
        True,
        False,
        False,
    ]
