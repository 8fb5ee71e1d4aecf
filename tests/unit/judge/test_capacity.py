"""What is found under a target: by searches, by the levels, and between systems."""

from __future__ import annotations

from functools import cache

import numpy as np
from tests.unit.judge.quick import judge_study
from tests.unit.judge.studies import a_record, a_study

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import RunFindings
from steelyard.judge.kinds.not_measured import ValueMissing
from steelyard.judge.kinds.verdict_notes import ValueUnusable
from steelyard.plan.make import make_plan
from steelyard.plan.model import PlannedTrial
from steelyard.records.missing import NoLoadFound
from steelyard.records.schema import Measured, Outcome, TrialRecord
from steelyard.report.formats.markdown import markdown_text
from steelyard.report.sentences.saturation import saturation_lines
from steelyard.report.view import views
from steelyard.study.model import FIND, FindSpec, GateSpec

CARRIES = {"fast": 40.0, "durable": 20.0}
P99 = GateSpec(name="p99", at_most=1e6, unit="ns", text="at most 1 ms")
HELD = NoLoadFound(kind="limits_held_up_to", load=42, runs=5)
NEVER = NoLoadFound(kind="limits_broken_down_to", load=1, runs=3)


@cache
def findings(*, durable_never: bool = False, most: float = 1000) -> RunFindings:
    """Systems whose p99 reaches the target at the load that they carry, measured at five levels."""
    study = a_study(users=(1, 8, 16, 32, 64), per_cell=8).model_copy(
        update={"find": {"capacity": FindSpec(name="capacity", limits=(P99,))}}
    )
    plan, random = make_plan(study, 3), np.random.default_rng(3)
    records = []
    for trial in (trial for visit in plan.visits for trial in visit.trials):
        noise = float(np.exp(random.normal(0, 0.02)))
        none = durable_never and trial.cell.system == "durable"
        records.append(_record(trial, noise, none=none, most=most))
    return judge_study(study, plan, records, run="r")


def _record(trial: PlannedTrial, noise: float, *, none: bool, most: float) -> TrialRecord:
    carries = CARRIES[trial.cell.system] * noise
    if FIND in trial.cell.conditions:
        found = Measured(value=None, unit="users", missing=NEVER) if none else None
        if carries > most:
            found = Measured(value=None, unit="users", missing=HELD)
        found = found or Measured(value=float(int(carries)), unit="users")
        return a_record(trial, 100.0, responses={"capacity": found})
    load = float(trial.cell.conditions["load.users"])
    p99 = Measured(value=1e6 * load / carries, unit="ns")
    refused = load > 2 * carries
    return a_record(
        trial,
        100.0,
        responses={"rate": Measured(value=100.0, unit="1/s"), "p99": p99},
        outcome=Outcome.REFUSED_BY_GATE if refused else Outcome.OK,
    )


def test_every_visit_makes_one_search_besides_its_levels() -> None:
    study = a_study(users=(1, 8, 16, 32, 64), per_cell=8).model_copy(
        update={"find": {"capacity": FindSpec(name="capacity", limits=(P99,))}}
    )
    plan = make_plan(study, 3)
    assert plan.searches == ({FIND: "capacity"},)
    for visit in plan.visits:
        met = [trial.cell.conditions for trial in visit.trials]
        assert met.count({FIND: "capacity"}) == 1
        assert len(met) == 6


def test_the_capacity_of_a_system_is_the_median_of_its_searches() -> None:
    fast = findings().workloads[0].capacities[0]
    assert fast.system == "fast"
    assert fast.unit == "users"
    assert fast.median is not None
    assert 37 <= fast.median <= 42
    assert fast.low is not None
    assert fast.high is not None
    assert fast.low <= fast.median <= fast.high


def test_the_levels_bound_it_where_their_trials_are_sure() -> None:
    fast, durable = findings().workloads[0].capacities
    assert (fast.holds_at, fast.breaks_at) == (32, 64)
    assert (durable.holds_at, durable.breaks_at) == (16, 32)


def test_systems_are_compared_by_their_capacities() -> None:
    (verdict,) = findings().workloads[0].capacity_verdicts
    assert verdict.word is VerdictWord.SLOWER
    assert verdict.exploratory
    assert verdict.estimate_log is not None
    assert abs(verdict.estimate_log - np.log(0.5)) < 0.05


def test_a_system_that_never_keeps_the_target_has_no_capacity_and_is_not_compared() -> None:
    durable = findings(durable_never=True).workloads[0].capacities[1]
    assert durable.median is None
    assert durable.not_found == (ValueMissing(reason=NEVER),)
    (verdict,) = findings(durable_never=True).workloads[0].capacity_verdicts
    assert verdict.word is VerdictWord.NOT_JUDGED
    reasons = [each for each in verdict.not_judged if isinstance(each, ValueUnusable)]
    assert NEVER in [each.reason for each in reasons]


def test_searches_that_held_the_largest_load_count_as_larger_than_all_others() -> None:
    all_found = findings().workloads[0].capacities[0]
    few = findings(most=39.3).workloads[0].capacities[0]
    assert 0 < len(few.values) < len(all_found.values) / 2, "most searches held the largest load"
    assert few.searches == len(all_found.values)
    assert few.median is None, "it lies beyond what was tried"
    lines = saturation_lines(views(findings(most=39.3))[0])
    line = next(each for each in lines if each.startswith("fast: capacity"))
    assert f"in {len(few.values)} of {few.searches} searches" in line
    assert "the limits hold up to 42" in line
    some = findings(most=41.0).workloads[0].capacities[0]
    assert len(some.values) < len(all_found.values)
    assert some.median == all_found.median


def test_searches_take_no_part_in_the_verdicts_on_other_responses() -> None:
    assert all(FIND not in (v.conditions or {}) for v in findings().workloads[0].verdicts)
    assert all(FIND not in cell.cell.conditions for cell in findings().workloads[0].cells)


def test_the_report_tells_capacity_in_users_with_its_target() -> None:
    lines = saturation_lines(views(findings())[0])
    own = next(line for line in lines if line.startswith("fast: capacity"))
    assert "under p99 at most 1 ms" in own
    assert " users (95 % interval " in own
    assert "it surely holds up to 32 and it surely breaks at 64" in own
    assert any("durable is worse than fast" in line and "capacity" in line for line in lines)
    assert "## Where it saturates" in markdown_text(findings())
