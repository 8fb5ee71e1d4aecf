"""What a budget can decide at best: held against the judge itself, on differences of any size."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.judge.studies import a_study

from steelyard.inference.exact import Pool
from steelyard.inference.randomisation import PATHS, Design, balanced_fours, big_stick, random_pairs
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import VerdictWord
from steelyard.inference.stream import Stream
from steelyard.judge.analyses.planning.reachable import reach_of, reaches
from steelyard.plan.make import make_plan
from steelyard.plan.reach import first_reached
from steelyard.plan.words import plan_lines

LAWS = {"big_stick": big_stick, "pairs": random_pairs, "double_blocks": balanced_fours}


def looks(design: Design, horizon: int, side: float, orders: int = 16) -> list[int]:
    """The looks at which a difference of a factor of 400 beside 0.1 % of noise is reported."""
    law, rng = LAWS[design], np.random.default_rng(11)
    simulated, found = law(PATHS, horizon, rng), []
    for _ in range(orders):
        signs = law(1, horizon, rng)[:, 0]
        values = 6.0 * (signs > 0) + rng.normal(0, 0.001, horizon)
        stream = Stream(values, signs > 0, Pool(signs, simulated), horizon)
        said = Inference.of(stream).decide(0.02, 2 * side)
        if VerdictWord.FASTER in said.words and said.at is not None:
            found.append(said.at)
    return found


@pytest.mark.parametrize(
    ("design", "horizon", "side"),
    [
        ("big_stick", 24, 0.025),
        ("big_stick", 24, 0.001),
        ("double_blocks", 24, 0.0125),
        ("double_blocks", 16, 0.0031),
        ("pairs", 24, 0.025),
    ],
)
def test_no_difference_is_reported_before_and_some_are_not_long_after(
    design: Design, horizon: int, side: float
) -> None:
    needed = reach_of(design, horizon, side).needed
    assert needed is not None
    told = looks(design, horizon, side)
    assert needed <= min(told) <= needed + 4


@pytest.mark.parametrize(
    ("design", "horizon", "side"),
    [("double_blocks", 12, 0.0031), ("big_stick", 8, 0.001), ("pairs", 10, 0.01)],
)
def test_out_of_reach_nothing_is_ever_told(design: Design, horizon: int, side: float) -> None:
    reach = reach_of(design, horizon, side)
    assert reach.needed is None
    assert looks(design, horizon, side) == []
    assert reach_of(design, reach.would_do, side).needed is not None


def test_two_systems_of_a_usual_study_are_distinguished_from_the_first_look_on() -> None:
    study = a_study()
    found = reaches(study, make_plan(study, 5))
    assert first_reached(found) == 8
    assert all(each.needed is not None for each in found)


def test_a_budget_too_small_for_its_comparisons_says_so_and_what_would_do() -> None:
    study = a_study(names=tuple("abcdef"), users=(1, 2, 4, 8), per_cell=6)
    plan = make_plan(study, 5)
    found = reaches(study, plan)
    assert [each.needed is None for each in found] == [False, True]
    text = "\n".join(plan_lines(study, plan, found))
    assert "a difference at single conditions, however large: 12 visits of a pair have" in text
    assert "over all conditions, however large" not in text
    assert found[1].would_do == 20
    enough = a_study(names=tuple("abcdef"), users=(1, 2, 4, 8), per_cell=10)
    later = make_plan(enough, 5)
    told = "\n".join(plan_lines(enough, later, reaches(enough, later)))
    assert "out of reach" not in told
    assert "earliest verdict" in told
