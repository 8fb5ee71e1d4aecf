"""From a study to a plan: cells, budget, forecast, and the words a person reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steelyard.plan import design
from steelyard.plan.budget import visits_within
from steelyard.plan.make import make_plan, seed_of
from steelyard.plan.words import plan_lines
from steelyard.study.model import Study
from steelyard.study.read import read_study
from steelyard.study.workload_study import conditions_of

CASES = Path(__file__).parents[2] / "cases" / "study"


@pytest.fixture
def study() -> Study:
    return read_study(CASES / "examples" / "quickstart.yaml")


def with_budget(study: Study, **budget: Any) -> Study:
    """The study with another budget."""
    spec = study.trials.budget.model_copy(update={"time_s": None, **budget})
    return study.model_copy(update={"trials": study.trials.model_copy(update={"budget": spec})})


def with_systems(study: Study, count: int) -> Study:
    """The study with so many systems, named s0, s1, ..."""
    first = next(iter(study.systems.values()))
    systems = {f"s{i}": first.model_copy(update={"name": f"s{i}"}) for i in range(count)}
    changes = {"systems": systems, "compared": tuple(systems), "baseline": "s0"}
    return study.model_copy(update=changes)


def test_cells_are_systems_by_conditions(study: Study) -> None:
    cells = [(cell.system, cell.conditions["load.users"]) for cell in design.cells(study)]
    assert cells == [(s, users) for s in ("fast", "durable") for users in (1, 4, 16)]


def test_the_last_factor_varies_fastest(study: Study) -> None:
    changed = study.model_copy(update={"factors": {"a": (1, 2), "b": ("x", "y")}})
    assert conditions_of(changed) == (
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    )


def test_a_study_without_factors_has_one_condition(study: Study) -> None:
    assert conditions_of(study.model_copy(update={"factors": {}})) == ({},)


def test_the_baseline_comes_first(study: Study) -> None:
    assert design.compared(study.model_copy(update={"baseline": "durable"})) == ("durable", "fast")


def test_time_buys_as_many_whole_visits_as_fit(study: Study) -> None:
    # 3 trials of 0.5 + 2 + 0.3 s are 8.4 s; 4 min hold 28 of them.
    assert visits_within(study) == 28


def test_trials_per_cell_are_visits_of_each_system(study: Study) -> None:
    assert visits_within(with_budget(study, trials_per_cell=40)) == 80


def test_of_two_budgets_the_smaller_counts(study: Study) -> None:
    assert visits_within(with_budget(study, trials_per_cell=40, time_s=240.0)) == 28


def test_without_a_budget_there_are_96_visits(study: Study) -> None:
    assert visits_within(with_budget(study)) == 96


def test_a_plan_never_exceeds_what_helps(study: Study) -> None:
    assert visits_within(with_budget(study, time_s=1e9)) == 1000


def test_more_systems_are_visited_in_whole_blocks(study: Study) -> None:
    plan = make_plan(with_systems(study, 3), 1)
    assert plan.design == "double_blocks"
    assert len(plan.visits) % 6 == 0
    assert {visit.block for visit in plan.visits} == set(range(1, len(plan.visits) // 6 + 1))


def test_two_systems_share_an_assignment(study: Study) -> None:
    plan = make_plan(study, 1)
    assert plan.design == "big_stick"
    assert plan.systems == ("fast", "durable")
    assert [visit.block for visit in plan.visits] == list(range(1, len(plan.visits) + 1))


def test_the_plan_carries_the_hash_of_its_study(study: Study) -> None:
    plan = make_plan(study, 77)
    assert (plan.study_sha256, plan.seed) == (study.sha256, 77)


def test_the_forecast_adds_up(study: Study) -> None:
    forecast = make_plan(study, 1).forecast
    assert forecast.trial_s == pytest.approx(2.8)
    assert forecast.visit_s == pytest.approx(8.4)
    assert forecast.calibration_s == pytest.approx(3 * 2.0)
    assert forecast.total_s == pytest.approx(28 * 8.4 + 6.0)
    assert forecast.earliest_verdict_s == pytest.approx(8 * 8.4 + 6.0)
    assert forecast.disk_bytes > 0


def test_a_fixed_seed_is_used_and_another_drawn(study: Study) -> None:
    trials = study.trials.model_copy(update={"seed": 12})
    assert seed_of(study.model_copy(update={"trials": trials})) == 12
    assert seed_of(study) != seed_of(study)


def test_the_plan_reads_as_people_expect(study: Study) -> None:
    fixed = study.model_copy(update={"sha256": "0" * 64})
    text = "\n".join(plan_lines(fixed, make_plan(fixed, 7))) + "\n"
    assert text == (CASES / "plan" / "quickstart.txt").read_text(encoding="utf-8")


def test_a_plan_of_blocks_reads_as_people_expect(study: Study) -> None:
    fixed = with_budget(with_systems(study, 3), trials_per_cell=600)
    text = "\n".join(plan_lines(fixed, make_plan(fixed, 7)))
    assert "blocks of 6 visits, every system twice in random order" in text
    assert "s1, s2 with s0 (baseline)" in text
    assert "1,500 at most (s0 500, s1 500, s2 500); 1,500 are the most of any plan" in text


def test_the_words_of_a_plan_without_a_budget_say_so(study: Study) -> None:
    free = with_budget(study)
    text = "\n".join(plan_lines(free, make_plan(free, 7)))
    assert "no budget is given, this is the default" in text


def test_limits_of_a_service_are_named_before_anything_runs(tmp_path: Path) -> None:
    text = (CASES / "examples" / "quickstart.yaml").read_text(encoding="utf-8")
    limited = text.replace("use: sink-smtp, store: maildir, sync: none", "use: postfix")
    assert limited != text
    (tmp_path / "study.yaml").write_text(limited, encoding="utf-8")
    study = read_study(tmp_path / "study.yaml")
    lines = plan_lines(study, make_plan(study, 7))
    told = [line.split(maxsplit=1)[1] for line in lines if line.strip().startswith("limit ")]
    assert "fast: `processes` 1,000; further connections wait until a process is free" in told
    assert not any("`per_client`" in line for line in told)  # 0 is no limit


def with_span(study: Study, span_s: float | None) -> Study:
    return study.model_copy(update={"trials": study.trials.model_copy(update={"span_s": span_s})})


def test_a_plan_says_the_span_and_when_its_budget_may_end_before_it(study: Study) -> None:
    plan = make_plan(study, 1)
    visit_s = plan.forecast.visit_s
    rows = {
        span_s: next(
            (line for line in plan_lines(with_span(study, span_s), plan) if "span" in line), ""
        )
        for span_s in (None, 9 * visit_s, 2 * len(plan.visits) * visit_s)
    }
    none, within, beyond = rows.values()
    assert not none
    assert "no verdict before" in within
    assert "--extend" not in within
    assert "--extend" in beyond


def test_the_earliest_verdict_is_not_before_the_span(study: Study) -> None:
    plan = make_plan(study, 1)
    asked = with_span(study, 11.5 * plan.forecast.visit_s)
    assert any("after 12 visits" in line for line in plan_lines(asked, plan))
