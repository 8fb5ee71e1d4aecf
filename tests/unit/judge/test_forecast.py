"""How many further visits an open comparison takes: a range, held against what it then took."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.unit.judge.quick import judge_study, look
from tests.unit.judge.studies import a_study, measured, noisy

from steelyard.inference.open_tests import OpenTest
from steelyard.inference.reach import first_decisive
from steelyard.inference.sequential import VerdictWord
from steelyard.judge import judge_trials
from steelyard.judge.comparisons.forecast import VisitsForecast, slowest
from steelyard.judge.findings import VerdictFinding
from steelyard.plan.make import make_plan
from steelyard.plan.model import PlannedTrial

RECORDED = sorted((Path(__file__).parents[2] / "cases" / "judge" / "agreement").glob("*-big*.csv"))
BUDGET = 200


def judged(values: list[float], systems: list[str], visits: int) -> VerdictFinding:
    found = judge_trials(
        systems[:visits], values[:visits], baseline="A", budget=BUDGET, paths=2_000
    )
    return found.of("B")


def recorded(path: Path) -> tuple[list[float], list[str]]:
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    return [float(row["response"]) for row in rows], [row["system"] for row in rows]


def with_hindsight(path: Path) -> Iterator[str]:
    """Whether the forecasts after more and more visits of one series held; none once decided."""
    values, systems = recorded(path)
    took = judged(values, systems, len(values)).decided_at_visit or len(values) + 1
    for visits in (10, 13, 16, 20, 26):
        if visits >= took or (more := judged(values, systems, visits).visits_to_decide) is None:
            continue
        least, most = (
            math.inf if each is None else visits + each for each in (more.least, more.most)
        )
        later = took > len(values)  # than all that was recorded
        yield "too short" if most < took else "too long" if took < least and not later else "held"


def test_forecasts_of_recorded_series_hold_in_two_of_three_and_few_are_too_short() -> None:
    told = [each for path in RECORDED for each in with_hindsight(path)]
    assert len(told) >= 40
    assert told.count("held") >= 2 / 3 * len(told)
    assert told.count("too short") <= 0.1 * len(told)


def test_a_test_takes_so_many_visits_that_their_root_makes_up_for_what_it_lacks() -> None:
    assert OpenTest(1, 2.0, 4.0, 4.0).growth(0.0) == pytest.approx(4.0, rel=0.02)
    assert OpenTest(1, -0.5, 3.0, 3.0).growth(0.0) == math.inf


def test_few_degrees_of_freedom_ask_for_less_when_visits_are_added() -> None:
    few, many = OpenTest(1, 2.0, 4.0, 3.0), OpenTest(1, 2.0, 4.0, 4.0)
    assert 1 < few.growth(0.0) < many.growth(0.0)


@pytest.mark.parametrize("sign", [1, -1])
def test_better_visits_shorten_what_a_test_takes_and_never_to_those_it_has(sign: int) -> None:
    test = OpenTest(sign, 2.9, 3.0, 3.0)
    worse, better = test.growth(-sign), test.growth(sign)
    assert 1 < better < test.growth(0.0) < worse


def test_an_interval_without_zero_is_no_forecast_where_the_order_does_not_exclude_it() -> None:
    values, systems = recorded(next(path for path in RECORDED if path.name.startswith("21-")))
    verdict = judged(values, systems, 20)
    assert verdict.word is VerdictWord.UNDECIDED
    assert verdict.low_log is None or verdict.low_log < 0 < (verdict.estimate_log or 0)
    took = judged(values, systems, len(values)).decided_at_visit
    assert took == 30
    assert verdict.visits_to_decide is not None
    assert (verdict.visits_to_decide.most or 0) >= took - 20


def test_a_small_estimate_is_no_forecast_where_a_wide_spread_holds_the_verdict_open() -> None:
    random = np.random.default_rng(1)
    wide = {"A": 0.004, "B": 0.1}
    systems = [name for _ in range(24) for name in random.permutation(["A", "B"]).tolist()]
    values = [100 * math.exp(random.normal(0.0, wide[system])) for system in systems]
    verdict = judged(values, systems, len(values))
    assert verdict.word is VerdictWord.UNDECIDED
    assert verdict.visits_to_decide is not None
    assert verdict.visits_to_decide.least is None or verdict.visits_to_decide.least > 48


def a_verdict(value: object, per_cell: int = 12, visits: int = 16) -> VerdictFinding:
    study = a_study(users=(1,), per_cell=per_cell)
    plan = make_plan(study, 3)
    records = measured(plan, value, visits=visits)  # type: ignore[arg-type]
    return judge_study(study, plan, records, run="r").workloads[0].verdicts[0]


def test_beyond_five_budgets_nothing_is_attainable_here() -> None:
    verdict = a_verdict(noisy(1.0, noise=0.4))
    assert verdict.visits_to_decide == VisitsForecast(least=None, most=None)


def test_a_forecast_respects_the_visits_that_the_share_of_the_error_rate_takes() -> None:
    study = a_study(users=tuple(range(1, 17)), per_cell=24)
    plan = make_plan(study, 3)
    records = measured(plan, noisy(0.5, noise=0.02), visits=8)
    verdict = next(
        each
        for each in judge_study(study, plan, records, run="r").workloads[0].verdicts
        if each.conditions is not None and each.response == "rate"
    )
    first = first_decisive(plan.design, 48, (1 - verdict.interval_level) / 2)
    assert verdict.word is VerdictWord.UNDECIDED
    assert first is not None
    assert first > 9
    assert verdict.visits_to_decide == VisitsForecast(least=first - 8, most=first - 8)


@pytest.mark.parametrize("after", [12, 20])
def test_what_is_withheld_or_distrusted_has_no_forecast(after: int) -> None:
    study = a_study(users=(1,), per_cell=24, reset="service")
    plan = make_plan(study, 3)
    system = {visit.visit: visit.system for visit in plan.visits}

    def after_durable(trial: PlannedTrial) -> float:
        jitter = 1 + 0.001 * math.sin(7 * trial.visit)
        return 100.0 * jitter * (0.9 if system.get(trial.visit - 1) == "durable" else 1.0)

    records = measured(plan, after_durable, visits=after)
    verdict = judge_study(study, plan, records, run="r").workloads[0].verdicts[0]
    assert verdict.word is VerdictWord.UNDECIDED
    kinds = {each.kind for each in verdict.reasons}
    assert "carry_over" in kinds
    assert verdict.visits_to_decide is None
    assert look(study, plan, records).visits_to_decide is None


def test_the_slowest_of_several_counts_and_what_is_unknown_of_one_is_unknown_of_all() -> None:
    quick, slow = VisitsForecast(least=2, most=9), VisitsForecast(least=5, most=None)
    assert slowest([quick, slow]) == slow
    assert slowest([quick, None]) is None
    assert slowest([]) is None
    assert slow.of_all(4) == VisitsForecast(least=10, most=None)
