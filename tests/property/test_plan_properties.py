"""What holds for every seed and every shape of study."""

from __future__ import annotations

from collections import Counter
from itertools import accumulate

from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.plan import design
from steelyard.plan.make import make_plan
from steelyard.plan.order import MOST_SEED
from steelyard.study.model import (
    BudgetSpec,
    Level,
    LoadSpec,
    MeasuredSpec,
    ResponseSpec,
    Study,
    SystemSpec,
    TrialsSpec,
    WorkloadSpec,
)

SEEDS = st.integers(0, MOST_SEED)
LEVELS: st.SearchStrategy[list[Level]] = st.lists(
    st.integers(1, 100), min_size=1, max_size=4, unique=True
)


@st.composite
def studies(draw: st.DrawFn) -> Study:
    """Small studies of 2 to 5 systems under up to 16 conditions."""
    names = [f"s{i}" for i in range(draw(st.integers(2, 5)))]
    factors = {"load.users": tuple(draw(LEVELS)), "workload.body": tuple(draw(LEVELS))}
    throughput = ResponseSpec(
        name="throughput", label="throughput", unit="requests/s", direction="higher", primary=True
    )
    budget = BudgetSpec(trials_per_cell=draw(st.integers(6, 20)))
    return Study(
        name="a",
        question="?",
        sha256="0" * 64,
        systems={name: SystemSpec(name=name, platform="native") for name in names},
        compared=tuple(names),
        baseline=draw(st.sampled_from(names)),
        factors=factors,
        workloads={"http": WorkloadSpec(use="http")},
        load=LoadSpec(),
        measured={"http": MeasuredSpec(responses={"throughput": throughput})},
        trials=TrialsSpec(margin_ratio=0.02, budget=budget),
    )


@given(seed=SEEDS, visits=st.integers(0, 300))
def test_the_assignment_never_leads_by_more_than_two(seed: int, visits: int) -> None:
    coin = design.assignment(seed, ("a", "b"), "big_stick", visits)
    leads = accumulate(1 if system == "a" else -1 for system in coin)
    assert all(abs(lead) <= 2 for lead in leads)


@given(seed=SEEDS, visits=st.integers(0, 300))
def test_each_pair_of_visits_holds_both_systems(seed: int, visits: int) -> None:
    coin = design.assignment(seed, ("a", "b"), "pairs", visits)
    assert all({*coin[i : i + 2]} == {"a", "b"} for i in range(0, visits - 1, 2))


@given(seed=SEEDS, systems=st.integers(2, 6), few=st.integers(0, 60), more=st.integers(0, 60))
def test_a_longer_assignment_begins_like_a_shorter_one(
    seed: int, systems: int, few: int, more: int
) -> None:
    names = tuple(f"s{i}" for i in range(systems))
    for drawn_as in ("big_stick", "pairs") if systems == 2 else ("double_blocks",):
        longer = design.assignment(seed, names, drawn_as, few + more)
        assert longer[:few] == design.assignment(seed, names, drawn_as, few)


@settings(max_examples=40, deadline=None)
@given(study=studies(), seed=SEEDS)
def test_equal_study_and_seed_give_an_equal_plan(study: Study, seed: int) -> None:
    assert make_plan(study, seed) == make_plan(study, seed)


@settings(max_examples=40, deadline=None)
@given(study=studies(), seed=SEEDS)
def test_each_block_of_more_than_two_systems_holds_every_system_twice(
    study: Study, seed: int
) -> None:
    plan = make_plan(study, seed)
    if plan.design == "double_blocks":
        counts = Counter((visit.block, visit.system) for visit in plan.visits)
        assert set(counts.values()) == {2}
        assert 2 * len(counts) == len(plan.visits)
        assert {system for _, system in counts} == set(plan.systems)


@settings(max_examples=40, deadline=None)
@given(study=studies(), seed=SEEDS)
def test_each_visit_meets_every_condition_once(study: Study, seed: int) -> None:
    plan = make_plan(study, seed)
    for visit in plan.visits:
        met = [trial.cell.conditions for trial in visit.trials]
        assert len(met) == len(plan.conditions)
        assert all(condition in met for condition in plan.conditions)
        assert {trial.cell.system for trial in visit.trials} == {visit.system}


@settings(max_examples=40, deadline=None)
@given(study=studies(), seed=SEEDS)
def test_trials_and_visits_are_numbered_from_one_without_gaps(study: Study, seed: int) -> None:
    plan = make_plan(study, seed)
    trials = [trial for visit in plan.visits for trial in visit.trials]
    assert [trial.trial for trial in trials] == list(range(1, len(trials) + 1))
    assert [visit.visit for visit in plan.visits] == list(range(1, len(plan.visits) + 1))
    assert all(trial.visit == visit.visit for visit in plan.visits for trial in visit.trials)


@settings(max_examples=40, deadline=None)
@given(study=studies(), seed=SEEDS)
def test_the_rest_of_the_assignment_continues_the_run(study: Study, seed: int) -> None:
    plan = make_plan(study, seed)
    count = len(plan.visits)
    assert len(plan.assignment) == 2 * count
    assert plan.assignment[:count] == tuple(visit.system for visit in plan.visits)
    longer = design.visits(
        seed,
        plan.assignment,
        design.block_size(plan.systems, design.design_of(study)),
        plan.conditions,
    )
    assert longer[:count] == plan.visits
