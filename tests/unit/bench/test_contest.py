"""A contest is judged by its pairs; what was not measured has a reason."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest
from bench.engine import __main__ as bench
from bench.engine import table
from bench.engine.contest import (
    LEAST,
    Contest,
    Goal,
    Least,
    Pair,
    Probe,
    Shot,
    Side,
    cpu_at_most,
    rate_at_least,
    shoot_pairs,
)
from bench.engine.needs import Need
from bench.engine.process import Unmeasurable
from bench.engine.rows import rows_of_pairs, rows_of_probe
from bench.engine.web import server_was_the_limit

CONTEST = Contest(
    name="web",
    setup="a set-up",
    peer="peer",
    needs=(),
    setting=lambda: nullcontext("address"),
    ours=lambda _, seconds: Shot(100, 1.0 * seconds, 50),
    theirs=lambda _, seconds: Shot(100, 2.0 * seconds, 100),
    goals=(cpu_at_most(0.70), rate_at_least(1.0)),
)


def pairs_of(ratios: list[float]) -> list[Pair]:
    """Ours against a peer of which each operation costs 20 ms, which makes 100 a second."""
    orders: list[tuple[Side, Side]] = [("ours", "theirs"), ("theirs", "ours")]
    return [
        Pair(Shot(100, 2.0 * ratio, 100 / ratio), Shot(100, 2.0, 100), order=orders[i % 3 % 2])
        for i, ratio in enumerate(ratios)
    ]


NEAR_060 = [0.58, 0.59, 0.6, 0.61, 0.62, 0.6, 0.57, 0.63, 0.59, 0.61]


def test_each_goal_is_held_against_the_interval_of_the_ratio() -> None:
    cpu, rate = rows_of_pairs(CONTEST, pairs_of(NEAR_060))
    assert cpu.value == pytest.approx(0.6, abs=0.01)
    assert cpu.low is not None
    assert cpu.high is not None
    assert 0.55 < cpu.low < cpu.value < cpu.high < 0.65
    assert (cpu.verdict, cpu.count, cpu.met) == ("better", 10, True)
    assert rate.value == pytest.approx(1 / 0.6, abs=0.03)
    assert (rate.verdict, rate.met) == ("better", True)


def test_a_goal_within_the_interval_is_open_and_one_beside_it_is_missed() -> None:
    (within,) = rows_of_pairs(replace(CONTEST, goals=(cpu_at_most(0.6),)), pairs_of(NEAR_060))
    (beside,) = rows_of_pairs(replace(CONTEST, goals=(cpu_at_most(0.5),)), pairs_of(NEAR_060))
    assert (within.met, beside.met) == (None, False)


def test_a_client_that_costs_more_is_worse() -> None:
    cpu, rate = rows_of_pairs(CONTEST, pairs_of([1 / ratio for ratio in NEAR_060]))
    assert (cpu.verdict, cpu.met) == ("worse", False)
    assert (rate.verdict, rate.met) == ("worse", False)


def test_too_few_pairs_are_no_figure() -> None:
    cpu, _ = rows_of_pairs(CONTEST, pairs_of(NEAR_060[:3]))
    assert (cpu.value, cpu.met) == (None, None)
    assert cpu.reason


def test_both_sides_of_every_pair_meet_the_same_server() -> None:
    pairs = shoot_pairs(CONTEST, pairs=3, seconds=2)
    assert [pair.ours.cpu_s for pair in pairs] == [2.0] * 3
    assert [pair.theirs.cpu_s for pair in pairs] == [4.0] * 3
    assert {frozenset(pair.order) for pair in pairs} == {frozenset({"ours", "theirs"})}


def test_the_minimal_client_shows_what_the_goal_leaves_to_win() -> None:
    least = Least(lambda _, seconds: Shot(100, 1.6 * seconds, 40), cpu_at_most(0.5))
    pairs = [
        replace(pair, least=Shot(100, 1.6 * (1 + i / 100), 80), order=(*pair.order, "least"))
        for i, pair in enumerate(pairs_of(NEAR_060))
    ]
    cpu, _, to_least = rows_of_pairs(replace(CONTEST, least=least), pairs)
    assert cpu.least == pytest.approx(0.84, abs=0.03)
    assert (to_least.peer, to_least.verdict, to_least.met) == (LEAST, "better", False)
    assert "0.8" in table.text([cpu]).splitlines()[1].split()[-1]


def test_a_probe_is_held_to_its_bound_by_its_worst_reading() -> None:
    probe = Probe("size", "", (), lambda _: {}, (Goal("bytes", "bytes", 10, at_most=True),))
    (row,) = rows_of_probe(probe, [{"bytes": 8.0}, {"bytes": 11.0}])
    assert (row.value, row.count, row.met, row.verdict) == (11.0, 2, False, "")


def test_a_peer_that_is_missing_has_a_row_that_says_how_to_get_it() -> None:
    lacking = replace(CONTEST, needs=(Need("no-such-peer", "Debian: apt install nothing"),))
    rows, raw = bench.run_all([lacking], 1, 1)
    assert [row.value for row in rows] == [None, None]
    assert raw == {}
    text = table.text(rows)
    assert "web: not measured: no-such-peer is not installed (Debian: apt install nothing)" in text


def test_a_run_that_gave_no_figure_is_a_failure_and_the_next_contest_goes_on() -> None:
    def broken(_: str, __: int) -> Shot:
        raise Unmeasurable("peer said what cannot be parsed: 'x'")

    rows, raw = bench.run_all([replace(CONTEST, name="first", ours=broken), CONTEST], 4, 1)
    assert [row.failed for row in rows] == [True, True, False, False]
    assert list(raw) == ["web"]
    assert "first: failed: peer said what cannot be parsed" in table.text(rows)


@pytest.mark.parametrize(("share", "doubted"), [(0.5, True), (0.99, False)])
def test_wrk_is_its_own_limit_only_if_it_used_its_core(share: float, doubted: bool) -> None:
    pair = Pair(Shot(1, 1.0, 1), Shot(1, 1.0, 1, {"core_share": share}))
    assert (server_was_the_limit([pair]) is not None) is doubted


def test_every_contest_has_a_name_of_its_own() -> None:
    names = [one.name for one in bench.everything()]
    assert len(set(names)) == len(names)
