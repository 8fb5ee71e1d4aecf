"""Trials that were measured elsewhere, on arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest

from steelyard.errors import AnalysisError
from steelyard.judge import TrialsVerdict, judge_trials
from steelyard.judge.findings import VerdictWord
from steelyard.judge.paths import big_stick, random_pairs
from steelyard.plan.order import blocks

PATHS = 2_000


def coin(visits: int, seed: int = 1) -> list[str]:
    signs = big_stick(1, visits, np.random.default_rng(seed))[:, 0]
    return ["b" if sign > 0 else "a" for sign in signs]


def measured(systems: list[str], ratios: dict[str, float], seed: int = 2) -> list[float]:
    noise = np.random.default_rng(seed).normal(0, 0.01, len(systems))
    return [
        100 * ratios.get(system, 1.0) * math.exp(each)
        for system, each in zip(systems, noise, strict=True)
    ]


def judged(systems: list[str], response: list[float], **rest: object) -> TrialsVerdict:
    return judge_trials(systems, response, baseline="a", paths=PATHS, **rest)  # type: ignore[arg-type]


def test_a_system_eight_percent_higher_is_faster_and_the_interval_holds_the_truth() -> None:
    systems = coin(20)
    verdict = judged(systems, measured(systems, {"b": 1.08})).of("b")
    assert verdict.words == (VerdictWord.FASTER,)
    assert verdict.decided_at_visit is not None
    assert verdict.low_log is not None
    assert verdict.high_log is not None
    assert verdict.low_log < math.log(1.08) < verdict.high_log


def test_of_a_response_where_lower_is_better_the_higher_system_is_slower() -> None:
    systems = coin(20)
    verdict = judged(systems, measured(systems, {"b": 1.08}), direction="lower").of("b")
    assert verdict.word is VerdictWord.SLOWER
    assert verdict.estimate_log == pytest.approx(math.log(1.08), abs=0.02)


def test_equal_systems_are_equivalent_within_the_margin() -> None:
    systems = coin(60)
    verdict = judged(systems, measured(systems, {})).of("b")
    assert verdict.words == (VerdictWord.EQUIVALENT,)


def test_the_verdict_is_that_of_the_first_look_at_which_the_engine_would_have_stopped() -> None:
    systems = coin(40)
    response = measured(systems, {"b": 1.05})
    whole = judged(systems, response).of("b")
    at = whole.decided_at_visit
    assert at is not None
    stopped = judged(systems[:at], response[:at]).of("b")
    before = judged(systems[: at - 1], response[: at - 1]).of("b")
    assert stopped.words == whole.words
    assert before.word is VerdictWord.UNDECIDED


def test_pairs_and_blocks_are_judged_by_their_own_coins() -> None:
    random = np.random.default_rng(3)
    pairs = ["b" if s > 0 else "a" for s in random_pairs(1, 40, random)[:, 0]]
    assert judged(pairs, measured(pairs, {"b": 1.08}), design="pairs").of("b").word == "faster"
    three = [["a", "b", "c"][i] for block in blocks(random, 3, 20) for i in block]
    found = judged(three, measured(three, {"c": 0.9}), design="blocks")
    assert [v.other for v in found.verdicts] == ["b", "c"]
    assert found.of("c").word is VerdictWord.SLOWER
    assert found.of("c").interval_level == pytest.approx(0.975)


def test_loads_have_verdicts_of_their_own_beside_the_one_over_all() -> None:
    visits = coin(24)
    rows = [(system, load) for system in visits for load in (4, 16)]
    response = [
        value * (1.1 if row == ("b", 16) else 1.0)
        for row, value in zip(rows, measured([r[0] for r in rows], {}), strict=True)
    ]
    found = judged([r[0] for r in rows], response, load=[r[1] for r in rows])
    assert [v.conditions for v in found.verdicts] == [None, {"load": 4}, {"load": 16}]
    assert found.visits == 24
    assert found.trials == 48
    assert found.of("b", 16).word is VerdictWord.FASTER
    assert found.of("b", 4).word is not VerdictWord.FASTER
    assert found.of("b", 16).n_other + found.of("b", 16).n_baseline == 24


def test_a_visit_that_lacks_a_load_counts_at_the_loads_it_has() -> None:
    visits = coin(24)
    rows = [(v, s, load) for v, s in enumerate(visits) for load in (4, 16) if (v, load) != (3, 16)]
    found = judged(
        [r[1] for r in rows],
        measured([r[1] for r in rows], {}),
        load=[r[2] for r in rows],
        visit=[r[0] for r in rows],
    )
    counts = [v.n_baseline + v.n_other for v in found.verdicts]
    assert counts == [23, 24, 23]


def test_an_order_that_was_not_drawn_says_what_is_lost() -> None:
    systems = ["a"] * 20 + ["b"] * 20
    found = judged(systems, measured(systems, {"b": 1.08}), design="none")
    assert found.of("b").word is VerdictWord.FASTER
    assert found.of("b").decided_at_visit == 40
    assert "not drawn by a coin" in found.lost[0]
    assert "Judged once" in found.lost[1]


def test_the_same_trials_and_seed_give_the_same_verdict_to_the_last_bit() -> None:
    systems = coin(30)
    response = measured(systems, {"b": 1.02})
    assert judged(systems, response, seed=7) == judged(systems, response, seed=7)


GOOD = coin(20)
FINE = measured(GOOD, {})


@pytest.mark.parametrize(
    ("systems", "response", "rest", "said"),
    [
        (["a"] * 20, FINE, {}, "all trials are of one system"),
        (["b"] * 20, FINE, {}, "no trial is of the baseline"),
        (GOOD, [math.nan, *FINE[1:]], {}, "trial 1: the response is not a number"),
        (GOOD, [*FINE[:4], 0.0, *FINE[5:]], {}, "trial 5: the response is zero"),
        (GOOD, [*FINE[:4], -1.0, *FINE[5:]], {}, "trial 5: the response is negative"),
        (GOOD, [*FINE[:4], math.inf, *FINE[5:]], {}, "trial 5: the response is not finite"),
        (GOOD, [3.0] * 20, {}, "the same in all trials"),
        (GOOD[:6], FINE[:6], {}, "6 visits of `a` and `b` together are too few"),
        (["a"] * 10 + ["b"] * 10, FINE, {}, "at trial 3 one system leads by 3 visits"),
        (["a", "a", "b", "b"] * 5, FINE, {"design": "pairs"}, "trials 1 to 2 hold a system twice"),
        (["a", "b"] * 20, FINE * 2, {}, "the order repeats every 2 visits"),
        (["a", "b", "c", "b"] * 5, FINE, {}, "3 systems"),
        (GOOD, FINE[:-1], {}, "`response` has 19"),
        (GOOD, FINE, {"budget": 9}, "20 visits of a budget of 9"),
        (GOOD, FINE, {"margin": 0.0}, "`margin` is 0.0"),
        (GOOD, FINE, {"design": "latin"}, "`design` is 'latin'"),
        (["a", "a", "b", "b"] * 5, FINE, {"load": [1, 1, 2, 2] * 5}, "hold a load twice"),
        (["a", "b"] * 10, FINE, {"load": [1, 2] * 10}, "one visit but of several systems"),
    ],
)
def test_what_cannot_be_judged_is_refused_with_its_place(
    systems: list[str], response: list[float], rest: dict[str, object], said: str
) -> None:
    with pytest.raises(AnalysisError) as refused:
        judged(systems, response, **rest)
    assert said in refused.value.message
    assert refused.value.hint
