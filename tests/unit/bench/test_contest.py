"""A contest is told by the median of its pairs; what was not measured is told, too."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import pytest
from bench.engine import __main__ as bench
from bench.engine import table
from bench.engine.contest import (
    LEAST,
    Contest,
    Least,
    Pair,
    Shot,
    cpu_at_most,
    rate_at_least,
    rows_of_pairs,
    shoot_pairs,
)
from bench.engine.needs import Need
from bench.engine.process import Unmeasurable
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


def test_each_goal_is_held_against_the_median_of_the_ratios() -> None:
    ours = [Shot(100, cpu_s, 50) for cpu_s in (1.0, 1.2, 9.0)]
    pairs = [Pair(shot, Shot(100, 2.0, 100)) for shot in ours]
    cpu, rate = rows_of_pairs(CONTEST, pairs)
    assert (cpu.low, cpu.median, cpu.high, cpu.met) == (0.5, 0.6, 4.5, True)
    assert (rate.median, rate.met) == (0.5, False)


def test_both_sides_of_every_pair_meet_the_same_server() -> None:
    pairs = shoot_pairs(CONTEST, pairs=3, seconds=2)
    assert [pair.ours.cpu_s for pair in pairs] == [2.0] * 3
    assert [pair.theirs.cpu_s for pair in pairs] == [4.0] * 3


def test_the_least_client_tells_what_the_goal_leaves_to_win() -> None:
    least = Least(lambda _, seconds: Shot(100, 1.6 * seconds, 40), cpu_at_most(0.5))
    contest = replace(CONTEST, least=least)
    cpu, rate, to_least = rows_of_pairs(contest, shoot_pairs(contest, pairs=3, seconds=1))
    assert (cpu.peer, cpu.median, cpu.least, cpu.met) == ("peer", 0.5, 0.8, True)
    assert (rate.median, rate.least, rate.met) == (0.5, 0.4, False)
    assert (to_least.peer, to_least.median, to_least.met) == (LEAST, 0.625, False)
    assert table.text([cpu]).splitlines()[1].endswith("0.8")


def test_a_peer_that_is_missing_has_a_row_that_says_how_to_get_it() -> None:
    lacking = replace(CONTEST, needs=(Need("no-such-peer", "Debian: apt install nothing"),))
    rows, raw = bench.run_all([lacking], 1, 1)
    assert [row.median for row in rows] == [None, None]
    assert raw == {}
    text = table.text(rows)
    assert "web: not measured: no-such-peer is not installed (Debian: apt install nothing)" in text


def test_a_run_that_gave_no_figure_is_a_failure_and_the_next_contest_goes_on() -> None:
    def broken(_: str, __: int) -> Shot:
        raise Unmeasurable("peer said what is not understood: 'x'")

    rows, raw = bench.run_all([replace(CONTEST, name="first", ours=broken), CONTEST], 1, 1)
    assert [row.failed for row in rows] == [True, True, False, False]
    assert list(raw) == ["web"]
    assert "first: failed: peer said what is not understood" in table.text(rows)


@pytest.mark.parametrize(("share", "doubted"), [(0.5, True), (0.99, False)])
def test_wrk_is_its_own_limit_only_if_it_used_its_core(share: float, doubted: bool) -> None:
    pair = Pair(Shot(1, 1.0, 1), Shot(1, 1.0, 1, {"core_share": share}))
    assert (server_was_the_limit([pair]) is not None) is doubted


def test_every_contest_has_a_name_of_its_own() -> None:
    names = [one.name for one in bench.everything()]
    assert len(set(names)) == len(names)
