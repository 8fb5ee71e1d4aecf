"""How many further visits an open comparison takes: a range, held against what it then took."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.judge.quick import judge_study, look
from tests.unit.judge.studies import a_study, measured, noisy

from steelyard.inference.estimate import Estimate, visits_needed
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


def with_hindsight(path: Path, visits: int) -> str | None:
    """Whether a forecast after so many visits held; ``None`` without one, or where none can say."""
    values, systems = recorded(path)
    more = judged(values, systems, visits).visits_to_decide
    took = judged(values, systems, len(values)).decided_at_visit
    if more is None:
        return None
    least, most = (math.inf if each is None else visits + each for each in (more.least, more.most))
    if took is None:  # later than all that was recorded
        return "held" if most > len(values) else "too short"
    return "held" if least <= took <= most else "too long" if took < least else "too short"


def test_forecasts_of_recorded_series_hold_in_most_and_are_not_all_too_short() -> None:
    told = [with_hindsight(path, visits) for path in RECORDED for visits in (10, 16)]
    known = [each for each in told if each is not None]
    assert len(known) >= 10
    assert known.count("held") >= 0.7 * len(known)
    assert known.count("too short") <= 0.25 * len(known)


def test_the_range_is_that_of_the_effects_that_are_plausible() -> None:
    found = Estimate(0.015, 0.004, 0.05)
    least, most = visits_needed(found, 20, 0.0198, 0.05)
    assert 20 < least < most < math.inf
    wider = visits_needed(replace(found, standard_error_log=0.006), 20, 0.0198, 0.05)
    assert wider.most > most


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
