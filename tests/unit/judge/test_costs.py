"""What is said of processor time inside and outside, and of where instances ran."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.unit.judge.quick import judge_study
from tests.unit.judge.studies import a_record, a_study

from steelyard.judge.analyses.consolidation.findings import NoGuestKernel
from steelyard.judge.analyses.costs.findings import (
    CostFinding,
    HostNotSampled,
    OnHostItself,
    PlacementFinding,
)
from steelyard.judge.findings import RunFindings
from steelyard.plan.make import make_plan
from steelyard.plan.model import PlannedTrial
from steelyard.records.schema import CostRecord, InstanceRecord, PlacementRecord, TrialRecord
from steelyard.report.formats.csv import csv_text
from steelyard.report.formats.html import render
from steelyard.report.formats.latex.article import article
from steelyard.report.formats.markdown import markdown_text
from steelyard.study.model import SampleSpec, Study

OUTSIDE = (0.6, 0.8, 0.7, 0.65, 0.75)


def studied(**settings: Any) -> Study:
    """``fast`` is a guest, ``durable`` a container."""
    study = a_study(users=(1,), per_cell=6)
    guest = study.systems["fast"].model_copy(update={"settings": settings})
    return study.model_copy(update={"systems": {**study.systems, "fast": guest}})


def costs_of(system: str, number: int) -> CostRecord:
    outside = OUTSIDE[number % len(OUTSIDE)]
    if system == "durable":
        return CostRecord(instance_cores=outside)
    return CostRecord(
        instance_cores=outside,
        vcpus=2,
        vcpu_cores=0.5,
        vcpu_wait_cores=0.4,
        busy_inside_cores=0.5,
        stolen_inside_cores=0.1,
    )


def places_of(number: int) -> tuple[PlacementRecord, ...]:
    def placed(thread: str, allowed: str, *last: int) -> PlacementRecord:
        return PlacementRecord(
            machine="host",
            process="qemu",
            thread=thread,
            threads=1,
            allowed_cpus=allowed,
            last_cpus=last,
        )

    return (
        placed("CPU 0/TCG", "0", 0),
        placed("CPU 1/TCG", "1", 1),
        placed("worker-1", "0-1", number % 2),
        placed("worker-2", "0-1", 1),
        placed("main", "0-1", 0),
    )


def judged(study: Study, *, told: bool = True, carried: bool = True) -> RunFindings:
    plan = make_plan(study, 3)
    records = [
        record(trial, number, told=told, carried=carried)
        for number, visit in enumerate(plan.visits)
        for trial in visit.trials
    ]
    return judge_study(study, plan, records, run="r")


def record(trial: PlannedTrial, number: int, *, told: bool, carried: bool) -> TrialRecord:
    instance = InstanceRecord(
        instance=1,
        workload="smtp",
        costs=costs_of(trial.cell.system, number) if told else None,
        placements=places_of(number) if trial.cell.system == "fast" else (),
    )
    facts: dict[str, dict[str, str | None]] = {"system": {}, **({"host": {}} if carried else {})}
    return a_record(trial, 1000.0 + number, instances=(instance,), facts=facts)


def of(system: str, found: RunFindings) -> CostFinding:
    return next(each for each in found.workloads[0].costs if each.cell.system == system)


def outside_of_fast() -> list[float]:
    visits = enumerate(make_plan(studied(), 3).visits)
    return [OUTSIDE[number % len(OUTSIDE)] for number, visit in visits if visit.system == "fast"]


def test_a_guest_is_reported_with_both_sides_and_their_ratio_over_the_visits() -> None:
    found, outside = of("fast", judged(studied())), outside_of_fast()
    assert found.visits == len(outside)
    assert found.vcpus == 2
    assert found.inside is not None
    assert found.inside.median == pytest.approx(0.5)
    assert found.outside is not None
    assert (found.outside.least, found.outside.greatest) == (min(outside), max(outside))
    assert found.hidden is not None
    assert found.hidden.median == pytest.approx(0.3)
    overhead = found.overhead
    assert overhead is not None
    assert overhead.least_log == pytest.approx(math.log(min(outside) / 0.5))
    assert overhead.greatest_log == pytest.approx(math.log(max(outside) / 0.5))
    assert overhead.low_log is not None
    assert overhead.high_log is not None
    assert overhead.low_log < overhead.log < overhead.high_log
    assert found.missing == ()


def test_of_a_container_the_whole_machines_processor_time_is_never_taken_for_its_own() -> None:
    found = of("durable", judged(studied()))
    assert found.outside is not None
    assert found.inside is found.overhead is found.hidden is None
    assert found.missing == (NoGuestKernel(),)


def test_a_machine_that_was_not_sampled_is_missing_with_the_key_that_says_so() -> None:
    study = studied().model_copy(update={"sample": SampleSpec(where=("system",))})
    found = of("fast", judged(study, told=False))
    assert found.outside is None
    assert found.visits == 0
    assert found.missing == (HostNotSampled(),)


def test_what_runs_on_the_machine_itself_has_no_costs_and_no_table() -> None:
    found = judged(studied(), told=False, carried=False)
    assert found.workloads[0].costs == ()
    assert "cost the machine" not in markdown_text(found)


def test_a_machine_itself_beside_a_guest_says_why_it_has_no_row_of_figures() -> None:
    study = studied()
    plan = make_plan(study, 3)
    records = [
        record(trial, number, told=guest, carried=guest)
        for number, visit in enumerate(plan.visits)
        for trial in visit.trials
        for guest in [trial.cell.system == "fast"]
    ]
    found = of("durable", judge_study(study, plan, records, run="r"))
    assert found.missing == (OnHostItself(),)


def placed(found: RunFindings) -> PlacementFinding:
    (only,) = found.workloads[0].placements
    return only


def test_threads_stand_together_by_where_they_may_run_and_by_their_names_without_numbers() -> None:
    found = placed(judged(studied(vcpu_cpus="0,1")))
    assert found.declared == {"vcpu_cpus": "0,1"}
    assert [(each.names, each.threads, each.last_cpus) for each in found.threads] == [
        (("CPU 0/TCG",), 1, (0,)),
        (("main", "worker-#"), 3, (0, 1)),
        (("CPU 1/TCG",), 1, (1,)),
    ]
    assert [each.moved for each in found.threads] == [False, True, False]


def test_one_trial_cannot_tell_whether_a_thread_moved() -> None:
    study = studied()
    plan = make_plan(study, 3)
    visit = next(visit for visit in plan.visits if visit.system == "fast")
    found = judge_study(study, plan, [record(visit.trials[0], 0, told=True, carried=True)], run="r")
    assert {each.moved for each in placed(found).threads} == {None}


def test_every_form_of_the_report_shows_both_tables() -> None:
    found = judged(studied(cpuset="0-1"))
    page, text, flat = render(found), markdown_text(found), csv_text(found)
    for shown in (page, text, article(found)["article.tex"]):
        assert "What instances cost the machine that carries them" in shown
    for shown in (page, text):
        assert "Where instances ran" in shown
        assert "cpuset 0-1" in shown
    least, greatest = min(outside_of_fast()), max(outside_of_fast())
    assert f"({least:.2f} to {greatest:.2f})" in text
    rows = [line.split(",") for line in flat.splitlines()]
    kinds = [row[0] for row in rows]
    assert kinds.count("cost") == 14
    assert kinds.count("placement") == 3
    head = rows[0]
    first = next(row for row in rows if row[head.index("response")] == "cost.outside")
    assert first[head.index("greatest")] == str(greatest)
