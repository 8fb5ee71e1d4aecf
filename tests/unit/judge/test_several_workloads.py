"""Several workloads: each judged by itself with its part of the rate, nothing over unlike units."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import pytest
from tests.unit.judge.quick import judge_study, look, remaining_systems, still_measured
from tests.unit.judge.several_workloads import DISK, a_study, crossing, judged, records_of

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.consolidation.findings import (
    InverseAsSpeed,
    NoScenario,
    NotAdditive,
    NoVisitWithBoth,
)
from steelyard.judge.findings import RunFindings, VerdictFinding
from steelyard.judge.kinds.caveats import WorkloadDecided, WorkloadFutility
from steelyard.judge.stopping.elimination import NO_SYSTEMS, all_futile
from steelyard.judge.visits.workload_run import workload_runs
from steelyard.plan.make import make_plan
from steelyard.records.events import (
    CommonestFailure,
    Event,
    FutilityReason,
    WorkloadsEliminated,
    WorkloadStopped,
)
from steelyard.records.schema import Measured, TrialRecord
from steelyard.report.sentences.consolidation import consolidation_lines
from steelyard.report.tables.interference import aggressor_text, victim_text
from steelyard.report.view import View
from steelyard.study.labels import Labels
from steelyard.study.model import MeasuredSpec


@cache
def findings() -> RunFindings:
    return judged()


def verdicts(workload: str) -> tuple[VerdictFinding, ...]:
    return next(each for each in findings().workloads if each.name == workload).verdicts


def test_every_workload_gets_a_verdict_on_its_own_primary_response() -> None:
    assert [each.name for each in findings().workloads] == ["cpu", "disk"]
    overall = [each.verdicts[0] for each in findings().workloads]
    assert [v.response for v in overall] == ["linpack.rate", "run_time"]
    assert [v.word for v in overall] == [VerdictWord.SLOWER, VerdictWord.EQUIVALENT]


def test_every_verdict_is_of_a_response_of_its_own_workload() -> None:
    for own in findings().workloads:
        assert {v.response for v in own.verdicts} == {r.name for r in own.responses}


def test_the_rate_of_the_study_is_shared_by_the_workloads_and_then_by_the_conditions() -> None:
    overall, *parts = verdicts("cpu")
    assert overall.alpha == pytest.approx(0.025)
    assert overall.interval_level == pytest.approx(1 - 0.025)
    assert [1 - each.interval_level for each in parts] == [pytest.approx(0.0125)] * 2


def test_systems_are_compared_only_where_both_can_be() -> None:
    conditions = [each.conditions for each in verdicts("cpu")]
    assert conditions == [
        None,
        {"workload": "cpu", "workloads.cpu.n": 100, "scenario": "alone"},
        {"workload": "cpu", "workloads.cpu.n": 200, "scenario": "alone"},
    ]
    assert [each.conditions for each in verdicts("disk")] == [None], "one condition in common"


def test_cells_that_do_not_exist_are_named_so_and_never_missing() -> None:
    cpu, disk = findings().workloads
    assert {cell.system for cell in (*cpu.not_applicable, *disk.not_applicable)} == {"bare"}
    assert len(cpu.not_applicable) == 4
    assert all(cell.values for each in (cpu, disk) for cell in each.cells)


def test_a_verdict_is_what_a_study_of_that_workload_alone_says_at_its_rate() -> None:
    study = a_study()
    plan = make_plan(study, 11)
    own = workload_runs(study, plan, records_of(plan))[0]
    named = {"workloads": {"cpu": own.study.workload}, "factors": own.study.factors}
    alone = study.model_copy(update={**named, "trials": own.study.trials})
    assert judge_study(alone, own.plan, own.records, run="r").workloads[0].verdicts == verdicts(
        "cpu"
    )


def test_a_study_goes_on_until_every_workload_is_decided() -> None:
    study = a_study()
    plan = make_plan(study, 11)
    early = look(study, plan, records_of(plan, visits=11))
    overall = {each.workload: each.word for each in early.words if each.conditions is None}
    assert overall == {"cpu": VerdictWord.UNDECIDED, "disk": VerdictWord.EQUIVALENT}
    assert not early.decided
    assert early.may_continue
    late = look(study, plan, records_of(plan))
    assert late.decided


def test_replay_gives_the_same_bits() -> None:
    study = a_study()
    plan = make_plan(study, 11)
    records = records_of(plan)
    again = judge_study(study, plan, list(reversed(records)), run="r")
    assert again.model_dump_json() == findings().model_dump_json()


def test_scenarios_are_held_against_the_workload_by_itself() -> None:
    two = next(c for c in findings().workloads[0].consolidation if not c.interference)
    assert two.conditions == {"workload": "cpu", "workloads.cpu.n": 100, "scenario": "two"}
    assert (two.system, two.instances) == ("guest", 2)
    assert two.scale is not None
    assert two.scale.log == pytest.approx(np.log(1.6), abs=0.02)
    assert two.density is not None
    assert two.density.log == pytest.approx(np.log(0.8), abs=0.02)


def test_what_neighbours_take_is_reported_by_their_workload() -> None:
    beside = [c for c in findings().workloads[0].consolidation if c.interference]
    assert [c.conditions["workloads.cpu.n"] for c in beside] == [100, 200]
    for each in beside:
        assert each.interference is not None
        assert each.interference.background == ("disk",)
        assert each.interference.word == "disturbed"
        assert each.interference.change.log == pytest.approx(np.log(0.6), abs=0.02)
        assert each.instances == 1


def test_a_system_that_cannot_play_a_scenario_is_not_found_wanting_in_it() -> None:
    systems = {c.system for each in findings().workloads for c in each.consolidation}
    assert systems == {"guest"}


def test_a_study_is_futile_when_no_workload_can_be_compared_any_more() -> None:
    study = a_study()
    plan = make_plan(study, 11)
    assert not all_futile(study, plan, NO_SYSTEMS)
    assert all_futile(study, plan, frozenset({"guest"}))


def test_who_is_slowed_by_whom_stands_in_one_table_over_all_workloads() -> None:
    (table,) = findings().interference
    assert table.system == "guest", "the other has one instance and no neighbours"
    assert [victim_text(each, Labels()) for each in table.victims] == ["cpu, n 100", "cpu, n 200"]
    assert list(map(aggressor_text, table.aggressors)) == ["disk on another instance"]
    for cell in table.cells:
        assert cell.word == "disturbed"
        assert cell.slowdown is not None
        assert cell.slowdown.log == pytest.approx(-np.log(0.6), abs=0.02)
        assert cell.slowdown.low_log is not None
        assert cell.slowdown.high_log is not None
        assert cell.slowdown.low_log < cell.slowdown.log < cell.slowdown.high_log


def test_empty_cells_of_the_table_say_why() -> None:
    study = crossing()
    plan = make_plan(study, 11)
    some = [r for r in records_of(plan) if r.cell.conditions["scenario"] != "disk-beside-cpu"]
    (table,) = judge_study(study, plan, some, run="r").interference
    told = {
        (victim_text(c.victim, Labels()), aggressor_text(c.aggressor)): c.missing
        for c in table.cells
        if c.slowdown is None
    }
    assert told == {
        ("cpu, n 100", "cpu on another instance"): NoScenario(),
        ("cpu, n 200", "cpu on another instance"): NoScenario(),
        ("disk", "disk on another instance"): NoScenario(),
        ("disk", "cpu on another instance"): NoVisitWithBoth(),
    }


def test_a_time_counts_as_speed_beside_others() -> None:
    study = crossing()
    plan = make_plan(study, 11)
    (table,) = judge_study(study, plan, records_of(plan), run="r").interference
    disk = next(
        c for c in table.cells if c.victim.conditions["workload"] == "disk" and c.missing is None
    )
    assert disk.word == "disturbed"
    assert disk.slowdown is not None
    assert disk.slowdown.log == pytest.approx(-np.log(0.6), abs=0.02)


def test_runs_of_several_instances_are_added_as_runs_in_a_second() -> None:
    two = next(c for c in findings().workloads[1].consolidation if not c.interference)
    assert (two.response, two.unit) == ("run_time", "runs/s")
    assert two.total == pytest.approx(2 * 0.8 / 10, rel=0.02)
    assert two.scale is not None
    assert two.scale.log == pytest.approx(np.log(1.6), abs=0.02)
    assert any(isinstance(each, InverseAsSpeed) for each in two.missing)


def test_response_times_are_held_against_one_alone_and_never_added() -> None:
    latency = DISK.model_copy(update={"name": "latency", "unit": "ns", "label": "latency"})
    study = a_study().model_copy(
        update={
            "measured": {**a_study().measured, "disk": MeasuredSpec(responses={"latency": latency})}
        }
    )
    plan = make_plan(study, 11)
    records = [
        r.model_copy(
            update={
                "responses": _renamed(r.responses),
                "instances": tuple(
                    i.model_copy(update={"responses": _renamed(i.responses)}) for i in r.instances
                ),
            }
        )
        for r in records_of(plan)
    ]
    found = judge_study(study, plan, records, run="r")
    disk = found.workloads[1]
    (two,) = disk.consolidation
    assert (two.total, two.scale) == (None, None)
    assert two.density is not None
    assert two.density.log == pytest.approx(np.log(0.8), abs=0.02)
    assert any(isinstance(each, NotAdditive) for each in two.missing)
    said = consolidation_lines(View(found, disk))[0]
    assert "together" not in said
    assert "each -" in said


def test_a_decided_workload_is_left_out_of_later_visits_and_does_not_come_back() -> None:
    study = a_study(per_cell=20)
    plan = make_plan(study, 11)
    records = records_of(plan)
    both = frozenset(plan.systems)
    seen = {block: still_measured(study, plan, records, block) for block in range(1, 41, 3)}
    assert seen[1] == {"cpu": both, "disk": both}
    left = next(block for block, still in seen.items() if not still["disk"])
    assert all(
        still["disk"] == (both if block < left else NO_SYSTEMS) for block, still in seen.items()
    )
    assert seen[left]["cpu"] == both, "the other is still open"
    assert remaining_systems(study, plan, records, left) == both


def test_who_has_left_is_computed_from_earlier_blocks_alone() -> None:
    study = a_study()
    plan = make_plan(study, 11)
    records = records_of(plan)
    for block in (8, 12, 20):
        before = [record for record in records if record.visit < block]
        assert still_measured(study, plan, records, block) == still_measured(
            study, plan, before, block
        )


def test_the_verdict_of_a_workload_that_left_stands_and_the_others_go_on() -> None:
    study = a_study()
    plan = make_plan(study, 11)
    kept: list[TrialRecord] = []
    events: list[Event] = []
    every = records_of(plan)
    for visit in plan.visits:
        still = still_measured(study, plan, kept, visit.block)
        own = [r for r in every if r.visit == visit.visit]
        measured = [r for r in own if r.cell.system in still[str(r.cell.conditions["workload"])]]
        if not events and len(measured) < len(own):
            remaining = {name: tuple(sorted(systems)) for name, systems in still.items()}
            events.append(WorkloadsEliminated(block=visit.block, remaining=remaining))
        kept += measured
        if look(study, plan, kept).decided:
            break
    (event,) = events
    assert isinstance(event, WorkloadsEliminated)
    left = event.block
    found = judge_study(study, plan, kept, run="r", events=events)
    assert [each.verdicts[0].word for each in found.workloads] == [
        VerdictWord.SLOWER, VerdictWord.EQUIVALENT,
    ]  # fmt: skip
    assert found.stop.visits_done == max(record.visit for record in kept)
    disk = found.workloads[1]
    assert WorkloadDecided(last_visit=left - 1) in disk.caveats
    assert not any(isinstance(each, WorkloadDecided) for each in found.workloads[0].caveats)


def test_influence_is_reported_of_every_workload_at_its_part_of_the_rate() -> None:
    whole = a_study(per_cell=10)
    alone = {"alone": whole.scenarios["alone"]}
    factors = {**whole.factors, "scenario": ("alone",)}
    study = whole.model_copy(update={"scenarios": alone, "factors": factors, "ask": "influence"})
    plan = make_plan(study, 11)
    cpu, disk = judge_study(study, plan, records_of(plan), run="r").workloads
    (of_cpu,) = cpu.influence
    assert list(of_cpu.factors) == ["system", "workloads.cpu.n"]
    assert disk.influence == (), "its only factor is what the verdict is on"
    word = {each.factors: each.word for each in of_cpu.effects}
    assert word["system",] == "influential"
    assert word["workloads.cpu.n",] == "negligible"


def test_a_neighbour_is_a_factor_among_others() -> None:
    whole = a_study(per_cell=10)
    systems = {n: s.model_copy(update={"instances": 2}) for n, s in whole.systems.items()}
    scenarios = {name: whole.scenarios[name] for name in ("alone", "beside")}
    factors = {**whole.factors, "scenario": tuple(scenarios)}
    study = whole.model_copy(
        update={"systems": systems, "scenarios": scenarios, "factors": factors, "ask": "influence"}
    )
    plan = make_plan(study, 11)
    cpu, disk = judge_study(study, plan, records_of(plan), run="r").workloads
    (found,) = cpu.influence
    assert list(found.factors) == ["system", "workloads.cpu.n", "scenario"]
    effect = next(each for each in found.effects if each.factors == ("scenario",))
    assert effect.word == "influential"
    assert effect.effect_log == pytest.approx(np.log(0.6), abs=0.02)
    pair = next(each for each in found.effects if set(each.factors) == {"system", "scenario"})
    assert pair.word == "negligible", "the neighbour costs both systems the same"
    assert disk.influence == (), "nothing runs beside it"


def _renamed(responses: Mapping[str, Measured]) -> dict[str, Measured]:
    return {"latency" if n == "run_time" else n: each for n, each in responses.items()}


def test_a_workload_that_was_lost_holds_no_one_up() -> None:
    study = a_study()
    plan = make_plan(study, 11)
    both = frozenset(plan.systems)
    records = [r for r in records_of(plan, visits=11) if r.cell.conditions["workload"] == "disk"]
    lost = {"cpu": both}
    assert not look(study, plan, records).decided
    assert look(study, plan, records, lost=lost).decided
    assert all_futile(study, plan, NO_SYSTEMS, {"cpu": both, "disk": both})
    assert not all_futile(study, plan, NO_SYSTEMS, lost)
    assert still_measured(study, plan, records, 3, lost=lost) == {"cpu": NO_SYSTEMS, "disk": both}


def test_visits_without_a_workload_that_was_lost_are_whole() -> None:
    study = a_study()
    plan = make_plan(study, 11)
    gone = sorted(plan.systems)
    failed = CommonestFailure(trials=6, outcome=None, message="it failed")
    why = FutilityReason(missing_responses=("rate",), trials=6, commonest=failed)
    event = WorkloadStopped(
        workload="cpu", visit=3, reasons=dict.fromkeys(gone, why), stopped_on=tuple(gone)
    )
    kept = [
        record
        for record in records_of(plan, visits=9)
        if record.visit <= 3 or record.cell.conditions["workload"] == "disk"
    ]
    found = judge_study(study, plan, kept, run="r", events=[event])
    assert found.stop.visits_done == 9
    cpu, disk = found.workloads
    assert [each.workload for each in cpu.caveats if isinstance(each, WorkloadFutility)] == ["cpu"]
    assert not any(isinstance(each, WorkloadFutility) for each in disk.caveats)
