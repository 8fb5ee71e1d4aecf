"""A run of two workloads with simulated responses, for the tests of judge and report."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from tests.unit.judge.quick import judge_study
from tests.unit.judge.studies import a_record

from steelyard.judge.findings import RunFindings
from steelyard.plan.make import make_plan
from steelyard.plan.model import Plan, PlannedTrial
from steelyard.records.schema import InstanceRecord, Measured, TrialRecord
from steelyard.study.model import (
    BudgetSpec,
    JudgeSpec,
    MeasuredSpec,
    PlacedWorkload,
    ResponseSpec,
    ScenarioSpec,
    Study,
    SystemSpec,
    TrialsSpec,
    WorkloadSpec,
)

CPU = ResponseSpec(
    name="linpack.rate", label="rate", unit="GFLOP/s", direction="higher", primary=True
)
DISK = ResponseSpec(name="run_time", label="run time", unit="s", direction="lower", primary=True)
RATIOS = {"cpu": 0.7, "disk": 1.0}
"""What ``guest`` has of ``bare``: of the rate of cpu, and of the run time of disk."""
KEEPS = {"alone": 1.0, "two": 0.8, "beside": 0.6, "disk-beside-cpu": 0.6}


def a_study(*, instances: int = 2, alpha: float = 0.05, per_cell: int = 14) -> Study:
    """``bare`` has one instance; scenarios but ``alone`` need two."""
    placed = PlacedWorkload
    scenarios = {
        "alone": {1: (placed(workload="*"),)},
        "two": {1: (placed(workload="*"),), 2: (placed(workload="same"),)},
        "beside": {1: (placed(workload="cpu"),), 2: (placed(workload="disk"),)},
    }
    return Study(
        name="several",
        question="What do they cost?",
        sha256="0" * 64,
        systems={
            "bare": SystemSpec(name="bare", platform="native"),
            "guest": SystemSpec(name="guest", platform="podman", instances=instances),
        },
        compared=("bare", "guest"),
        baseline="bare",
        factors={
            "workload": ("cpu", "disk"),
            "workloads.cpu.n": (100, 200),
            "scenario": tuple(scenarios),
        },
        workloads={
            "cpu": WorkloadSpec(use="linpack", operation="solutions"),
            "disk": WorkloadSpec(use="command", operation="runs"),
        },
        measured={
            "cpu": MeasuredSpec(responses={CPU.name: CPU}),
            "disk": MeasuredSpec(responses={DISK.name: DISK}),
        },
        scenarios={n: ScenarioSpec(name=n, instances=i) for n, i in scenarios.items()},
        judge=JudgeSpec(consolidation=True),
        trials=TrialsSpec(
            margin_ratio=0.05, alpha=alpha, budget=BudgetSpec(trials_per_cell=per_cell)
        ),
    )


def crossing() -> Study:
    """The same with the disk as a victim, too."""
    study = a_study()
    placed = PlacedWorkload
    crossed = ScenarioSpec(
        name="disk-beside-cpu",
        instances={1: (placed(workload="disk"),), 2: (placed(workload="cpu"),)},
    )
    scenarios = {**study.scenarios, crossed.name: crossed}
    factors = {**study.factors, "scenario": tuple(scenarios)}
    return study.model_copy(update={"scenarios": scenarios, "factors": factors})


def records_of(
    plan: Plan, ratios: Mapping[str, float] = RATIOS, seed: int = 3, visits: int = 999
) -> list[TrialRecord]:
    random = np.random.default_rng(seed)
    planned = (trial for visit in plan.visits[:visits] for trial in visit.trials)
    return [_record(trial, ratios, random) for trial in planned]


def _record(
    trial: PlannedTrial, ratios: Mapping[str, float], random: np.random.Generator
) -> TrialRecord:
    conditions = trial.cell.conditions
    workload, scenario = str(conditions["workload"]), str(conditions["scenario"])
    spec = CPU if workload == "cpu" else DISK
    ratio = ratios[workload] if trial.cell.system == "guest" else 1.0
    keeps = KEEPS[scenario] if spec is CPU else 1 / KEEPS[scenario]
    count = 2 if scenario == "two" else 1
    each = [10 * ratio * keeps * float(np.exp(random.normal(0, 0.01))) for _ in range(count)]
    whole = sum(each) if spec is CPU else max(each)
    return a_record(
        trial,
        None,
        responses={spec.name: Measured(value=whole, unit=spec.unit)},
        instances=tuple(
            InstanceRecord(
                instance=number,
                workload=workload,
                responses={spec.name: Measured(value=value, unit=spec.unit)},
            )
            for number, value in enumerate(each, start=1)
        ),
    )


def judged() -> RunFindings:
    """All findings of such a run."""
    study = a_study()
    plan = make_plan(study, 11)
    return judge_study(study, plan, records_of(plan), run="r")
