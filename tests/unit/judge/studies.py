"""Whole studies with simulated responses, for the tests of the judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from tests.unit.judge.quick import remaining_systems

from steelyard.judge.findings import VerdictFinding
from steelyard.plan.model import Plan, PlannedTrial
from steelyard.records.missing import Reason
from steelyard.records.schema import Measured, Outcome, TrialRecord
from steelyard.study.model import (
    BudgetSpec,
    GuardrailSpec,
    JudgeSpec,
    MeasuredSpec,
    ResponseSpec,
    ServiceSpec,
    Study,
    SystemSpec,
    TrialsSpec,
    WorkloadSpec,
)

Value = Callable[[PlannedTrial], float | None]

RESPONSES = {
    "p99": ResponseSpec(name="p99", label="p99", unit="ns", direction="lower"),
    "rate": ResponseSpec(
        name="rate", label="throughput", unit="1/s", direction="higher", primary=True
    ),
}

LOST = Reason(kind="not_measured")


def a_study(  # noqa: PLR0917 - a study has many parts
    names: tuple[str, ...] = ("fast", "durable"),
    users: tuple[int, ...] = (1, 4),
    per_cell: int = 12,
    judge: Mapping[str, Any] | None = None,
    responses: Mapping[str, ResponseSpec] = RESPONSES,
    claims: tuple[Any, ...] = (),
    guardrails: Mapping[str, GuardrailSpec] | None = None,
    **trials: Any,
) -> Study:
    given = {"margin_ratio": 0.02, "budget": BudgetSpec(trials_per_cell=per_cell)} | trials
    return Study(
        name="mail",
        question="What does it cost?",
        sha256="0" * 64,
        systems={
            name: SystemSpec(
                name=name,
                platform="native",
                service=ServiceSpec(use="sink-smtp", settings={"sync": name, "store": "maildir"}),
            )
            for name in names
        },
        compared=names,
        baseline=names[0],
        factors={"load.users": users},
        workloads={"smtp": WorkloadSpec(use="smtp")},
        measured={
            "smtp": MeasuredSpec(responses=dict(responses), guardrails=dict(guardrails or {}))
        },
        judge=JudgeSpec(**(judge or {})),
        claims=claims,
        trials=TrialsSpec(**given),
    )


def a_record(trial: PlannedTrial, rate: float | None, **changes: Any) -> TrialRecord:
    given: dict[str, Any] = {
        "trial": trial.trial,
        "attempt": 1,
        "visit": trial.visit,
        "cell": trial.cell,
        "outcome": Outcome.OK,
        "started_unix_ns": trial.trial * 10**9,
        "finished_unix_ns": (trial.trial + 1) * 10**9,
        "phases_ns": {"restore": 10**8, "warmup": 10**8, "window": 7 * 10**8},
        "responses": {
            "rate": Measured(value=rate, unit="1/s", missing=None if rate is not None else LOST),
            "p99": Measured(value=None if not rate else 1e9 / rate, unit="ns"),
        },
        "facts": {"system": {"kernel.release": "6.1", "service.sync": trial.cell.system}},
    }
    return TrialRecord(**(given | changes))


def noisy(ratios: float | Mapping[str, float], noise: float = 0.01, seed: int = 1) -> Value:
    """1,000 a second in every visit, times the ratio of the system (a number: of ``durable``)."""
    random = np.random.default_rng(seed)
    of = ratios if isinstance(ratios, Mapping) else {"durable": ratios}

    def value(trial: PlannedTrial) -> float:
        level = 1000 * of.get(trial.cell.system, 1.0)
        return float(level * np.exp(random.normal(0, noise)))

    return value


def measured(plan: Plan, value: Value, visits: int = 999) -> list[TrialRecord]:
    return [a_record(t, value(t)) for visit in plan.visits[:visits] for t in visit.trials]


def raced(study: Study, plan: Plan, value: Value, blocks: int = 999) -> list[TrialRecord]:
    """The records of a session that goes on until every system is dropped."""
    records: list[TrialRecord] = []
    for block in range(1, blocks + 1):
        still = remaining_systems(study, plan, records, block)
        ahead = [v for v in plan.visits if v.block == block and v.system in still]
        if not ahead:
            break
        records += [a_record(t, value(t)) for visit in ahead for t in visit.trials]
    return records


def kinds(verdict: VerdictFinding) -> set[str]:
    """The kinds of all that stands beside a verdict."""
    return {note.kind for note in verdict.reasons}
