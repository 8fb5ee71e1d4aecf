"""A gate that nothing can fail proves nothing: each planted mistake must fail it."""

from __future__ import annotations

import pytest
from tests.calibration.gate import gate, shipped
from tests.calibration.mistakes import COINS, ENGINES
from tests.calibration.simulated import Case

PATHS = 2_000
HORIZON = 48

ENGINE_CASES = {
    "peeking without spending": ("independent 2 %", 80),
    "looks judged without memory": ("independent 2 %", 100),
    "ties counted for the observed order": ("quantised to 4 %", 80),
    "5 % spent on each side": ("independent 2 %", 500),
}
COIN_CASES = {
    "strict alternation": ("sine 3 %, period 2", 40),
    "a free coin": ("drift 2 % a visit", 250),
    "a sticky coin": ("AR(1) 0.9", 100),
}


@pytest.mark.parametrize("mistake", ENGINES)
def test_a_wrong_engine_fails_the_gate(mistake: str) -> None:
    noise, studies = ENGINE_CASES[mistake]
    case = Case(noise, studies=studies, paths=PATHS, horizon=HORIZON, purpose=mistake)
    assert not gate(ENGINES[mistake], case).passed


@pytest.mark.parametrize("mistake", COINS)
def test_a_wrong_coin_fails_the_gate(mistake: str) -> None:
    noise, studies = COIN_CASES[mistake]
    case = Case(
        noise, studies=studies, paths=PATHS, horizon=HORIZON, coin=COINS[mistake], purpose=mistake
    )
    assert not gate(shipped, case).passed


def test_the_exact_test_alone_fails_the_gate_when_spreads_are_four_to_one() -> None:
    case = Case(
        "independent 2 %", spread=4.0, studies=300, paths=PATHS, horizon=HORIZON, purpose="alone"
    )
    assert not gate(shipped, case).passed


@pytest.mark.parametrize("noise", sorted({noise for noise, _ in ENGINE_CASES.values()}))
def test_the_judge_as_shipped_passes_where_the_mistakes_fail(noise: str) -> None:
    case = Case(noise, studies=80, paths=PATHS, horizon=HORIZON, purpose="beside the mistakes")
    assert gate(shipped, case).passed
