"""Trials that were measured elsewhere, on arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.unit.judge.studies import kinds

from steelyard.errors import AnalysisError
from steelyard.inference.randomisation import big_stick, random_pairs
from steelyard.inference.sequential import VerdictWord
from steelyard.judge import TrialsVerdict, judge_trials
from steelyard.judge.kinds.caveats import BlockUnfinished, OrderRepeats
from steelyard.judge.kinds.verdict_notes import (
    EffectChanges,
    NoVariation,
    NoVisits,
    TooFewVisits,
)
from steelyard.plan.order import blocks
from steelyard.report.sentences.terminal.trials import trials_lines

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


def test_pairs_and_blocks_are_judged_by_their_own_assignments() -> None:
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


def test_an_order_that_was_not_drawn_has_its_caveats() -> None:
    systems = ["a"] * 20 + ["b"] * 20
    found = judged(systems, measured(systems, {"b": 1.08}), design="none")
    assert found.of("b").word is VerdictWord.FASTER
    assert found.of("b").decided_at_visit == 40
    assert [each.kind for each in found.caveats] == ["order_not_random", "judged_once"]


def test_eight_trials_in_turn_are_judged_with_a_caveat_and_eight_assigned_at_random_without() -> (
    None
):
    [told] = [
        each for each in judged(["a", "b"] * 4, FINE[:8]).caveats if isinstance(each, OrderRepeats)
    ]
    assert (told.period_visits, told.once_in) == (2, 64)
    assert not any(isinstance(each, OrderRepeats) for each in judged(coin(8), FINE[:8]).caveats)


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
        (["a", "b"] * 6, FINE[:12], {}, "random assignment does that once in 1,024 times"),
        (["a", "b", "c", "b"] * 5, FINE, {}, "3 systems"),
        (GOOD, FINE[:-1], {}, "`response` has 19"),
        (GOOD, FINE, {"budget": 9}, "20 visits of a budget of 9"),
        (GOOD, FINE, {"margin": 0.0}, "`margin` is 0"),
        (GOOD, FINE, {"margin": 2}, "`margin` is 2, that is 200 %"),
        (GOOD, FINE, {"margin": "two"}, "`margin`: `two` is not a share"),
        (GOOD, FINE, {"margin": None}, "`margin` is no number but NoneType"),
        (GOOD, FINE, {"margin": True}, "`margin` is no number but bool"),
        (GOOD, FINE, {"alpha": "much"}, "`alpha`: `much` is not a share"),
        (GOOD, FINE, {"seed": -1}, "`seed` is -1"),
        (GOOD, FINE, {"seed": 1.5}, "`seed` is 1.5"),
        (GOOD, FINE, {"budget": "96"}, "`budget` is '96'"),
        (GOOD, FINE, {"load": [[1]] * 20}, "`load` has more than one dimension"),
        (GOOD, np.array([FINE, FINE]), {}, "`response` has more than one dimension"),
        (np.array([GOOD, GOOD]), FINE, {}, "`system` has more than one dimension"),
        (GOOD, 7.0, {}, "`response` is no list but float"),
        (GOOD, [*FINE[:4], 10**400, *FINE[5:]], {}, "trial 5: the response is too large"),
        (GOOD, [*FINE[:4], None, *FINE[5:]], {}, "trial 5: the response is not a number but None"),
        (GOOD, [1e300 if s == "a" else 1e-300 + n for n, s in enumerate(GOOD)], {}, "too far from"),
        (GOOD, FINE, {"covariate": [0.0] * 20}, "trial 1: the covariate is zero"),
        (GOOD, ["fast"] * 20, {}, "trial 1: the response is not a number but str"),
        (GOOD, FINE, {"visit": [1, 2] * 10}, "trial 3 is of visit 1, which had ended before"),
        (GOOD, FINE, {"covariate": [1.0 + (s == "a") for s in GOOD]}, "one value for each system"),
        (["a", "b"] * 1001, FINE * 101, {"design": "pairs"}, "`response` has 2020"),
        (["a", "b"] * 1001, (FINE * 101)[:2002], {"design": "pairs"}, "2,002 visits of"),
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
    assert isinstance(refused.value, ValueError)
    assert said in refused.value.message
    assert refused.value.hint


def test_a_margin_may_be_written_as_a_study_writes_it() -> None:
    assert judged(GOOD, FINE, margin="2 %") == judged(GOOD, FINE, margin=0.02)


def test_systems_may_be_numbers_of_any_kind_and_columns_generators() -> None:
    numbered = [1 if system == "b" else 0 for system in GOOD]
    first, *others = (
        judge_trials(systems, response, baseline=baseline, paths=PATHS)  # type: ignore[arg-type]
        for systems, response, baseline in (
            (numbered, FINE, 0),
            (np.array(numbered), np.array(FINE), np.int64(0)),
            (np.array([str(each) for each in numbered]), FINE, "0"),
            ((each for each in numbered), (each for each in FINE), 0),
        )
    )
    assert first.systems == ("0", "1")
    assert all(other == first for other in others)


def test_loads_visits_and_whole_numbers_may_be_those_of_numpy() -> None:
    rows = [(system, load) for system in GOOD for load in (4, 16)]
    names, response = [row[0] for row in rows], measured([row[0] for row in rows], {})
    plain = judged(names, response, load=[row[1] for row in rows], budget=96)
    arrays = judged(
        names,
        response,
        load=np.array([row[1] for row in rows]),
        visit=np.repeat(np.arange(len(GOOD)), 2),
        budget=np.int64(96),
    )
    assert arrays == plain


def test_the_sentences_of_a_report_are_there_for_a_notebook() -> None:
    lines = trials_lines(judged(GOOD, measured(GOOD, {"b": 1.08}), name="throughput"))
    assert lines[0] == "throughput"
    assert any(line.startswith("b is better than a: ") for line in lines)


def test_an_answer_prints_a_row_for_each_verdict_with_ratios_and_not_logarithms() -> None:
    loads = [load for _ in GOOD for load in (1, 4)]
    names = [system for system in GOOD for _ in (1, 4)]
    rows = str(judged(names, measured(names, {"b": 1.08}), load=loads)).splitlines()
    assert [row.split()[:2] for row in rows[1:]] == [["b/a", "load=1"], ["b/a", "load=4"]]
    word, ratio, interval, count = rows[0].split()[1:]
    low, high = map(float, interval.strip("()").split(".."))
    assert (word, count) == ("faster", "n=20")
    assert 1.05 < low < float(ratio) < high < 1.11


def reversing(systems: list[str], at: int, ratio: float = 1.06) -> list[float]:
    """Responses of ``b`` higher by ``ratio`` before visit ``at``, and lower by it from there on."""
    noise = np.random.default_rng(4).normal(0, 0.005, len(systems))
    effect = [ratio if visit < at else 1 / ratio for visit in range(len(systems))]
    return [
        100 * (effect[visit] if system == "b" else 1.0) * math.exp(noise[visit])
        for visit, system in enumerate(systems)
    ]


@pytest.mark.parametrize(("visits", "at"), [(24, 12), (32, 12), (60, 30), (96, 20)])
def test_an_effect_that_turns_is_given_in_its_two_parts(visits: int, at: int) -> None:
    systems = coin(visits)
    verdict = judged(systems, reversing(systems, at)).of("b")
    [change] = [note for note in verdict.notes if isinstance(note, EffectChanges)]
    assert abs((change.last_visit_before or 0) - at) <= 2
    assert (verdict.withheld is None) == (verdict.word is not VerdictWord.UNDECIDED)


def test_of_an_effect_that_turns_the_look_that_decided_is_given_beside_all_visits() -> None:
    systems = coin(24)
    verdict = judged(systems, reversing(systems, 12)).of("b")
    then = verdict.deciding_look
    assert then is not None
    assert then.n_baseline + then.n_other == verdict.decided_at_visit
    assert verdict.low_log is not None
    assert verdict.high_log is not None
    assert verdict.low_log < 0 < verdict.high_log


def test_what_a_third_system_carries_over_is_seen_where_it_was_before() -> None:
    random = np.random.default_rng(5)
    systems = [["a", "b", "c"][i] for block in blocks(random, 3, 24) for i in block]
    noise = random.normal(0, 0.01, len(systems))
    after_c = [False, *(system == "c" for system in systems[:-1])]
    response = [
        100 * math.exp(each) * (0.95 if left else 1.0)
        for each, left in zip(noise, after_c, strict=True)
    ]
    found = judged(systems, response, design="blocks")
    for other in ("b", "c"):
        assert kinds(found.of(other)) & {"carry_over", "carry_over_possible"}
        assert found.of(other).word is VerdictWord.UNDECIDED


def test_an_unfinished_last_block_counts_for_a_pair_that_was_visited_in_it() -> None:
    random = np.random.default_rng(3)
    whole = [["a", "b", "c"][i] for block in blocks(random, 3, 8) for i in block]
    response = measured([*whole, "c", "a", "b"], {"b": 1.08})
    said = [judged(whole, response[:24], design="blocks", budget=48)]
    for more in (1, 2, 3):
        systems = [*whole, *["c", "a", "b"][:more]]
        said.append(judged(systems, response[: 24 + more], design="blocks", budget=48))
    counts = [[(v.n_baseline, v.n_other) for v in found.verdicts] for found in said]
    assert counts == [[(8, 8), (8, 8)], [(8, 8), (8, 8)], [(8, 8), (9, 9)], [(9, 9), (9, 9)]]
    assert said[1].verdicts == said[0].verdicts
    told = [[c for c in found.caveats if isinstance(c, BlockUnfinished)] for found in said]
    unfinished = [BlockUnfinished(visits=1, of=3), BlockUnfinished(visits=2, of=3)]
    assert told == [[], unfinished[:1], unfinished[1:], []]


def test_blocks_that_hold_every_system_twice_are_judged_by_the_law_that_brings_them() -> None:
    random = np.random.default_rng(6)
    each = ["a", "b", "c"] * 2
    systems = [each[i] for _ in range(8) for i in random.permutation(6)]
    block = [place // 6 for place in range(len(systems))]
    found = judged(systems, measured(systems, {"b": 1.08}), design="blocks", block=block)
    assert found.of("b").word is VerdictWord.FASTER
    with pytest.raises(AnalysisError, match="twice in one block"):
        judged(systems, measured(systems, {}), design="blocks")


def test_systems_that_were_never_at_one_load_together_are_not_judged_there() -> None:
    systems = coin(40)
    load = [1 if system == "a" else 2 for system in systems]
    found = judged(systems, measured(systems, {}), load=load, visit=list(range(40)))
    assert found.of("b", 1).word is VerdictWord.NOT_JUDGED
    assert found.of("b", 1).not_judged == (NoVisits(system="b"),)
    assert found.of("b").word is VerdictWord.NOT_JUDGED


def test_a_load_with_too_few_visits_is_undecided_and_says_how_many_there_are() -> None:
    systems = coin(30)
    rows = [(s, n, 1) for n, s in enumerate(systems)]
    rows += [(s, n, 2) for n, s in enumerate(systems[:5])]
    rows.sort(key=lambda row: row[1])
    names = [row[0] for row in rows]
    found = judged(
        names,
        measured(names, {}),
        visit=[row[1] for row in rows],
        load=[row[2] for row in rows],
    )
    assert found.of("b", 2).word is VerdictWord.UNDECIDED
    assert found.of("b", 2).notes[0] == TooFewVisits(visits=5, needed=8)


def test_figures_without_variation_within_the_systems_bear_no_verdict() -> None:
    systems = coin(24)
    response = [1050.0 if system == "b" else 1000.0 for system in systems]
    verdict = judged(systems, response).of("b")
    assert verdict.word is VerdictWord.NOT_JUDGED
    assert verdict.not_judged == (NoVariation(),)


def test_figures_in_steps_wider_than_the_margin_are_never_called_equivalent() -> None:
    systems = coin(40)
    random = np.random.default_rng(7)
    response = [11.0 if s == "b" and random.random() < 0.3 else 10.0 for s in systems]
    verdict = judged(systems, response).of("b")
    assert VerdictWord.EQUIVALENT not in verdict.words


def test_judged_once_there_is_no_forecast_and_nothing_was_stopped_early() -> None:
    systems = ["a"] * 10 + ["b"] * 10
    verdict = judged(systems, measured(systems, {"b": 1.005}), design="none").of("b")
    assert verdict.visits_to_decide is None
    assert "stopped_early" not in kinds(verdict)
