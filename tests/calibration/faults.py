"""Faults of machines, as they would stand in the records of two equal systems.

Every fault here is at the cost of one system only, or goes by the clock: the worst that a study of
equals can meet. What the tool writes into a record when it meets the fault is written here as well,
and nothing else: a fault that leaves no trace must be seen in the figures, or is not seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.calibration.cells import generator_of

from steelyard.judge.findings import Findings, VerdictWord
from steelyard.judge.verdict import judge_study
from steelyard.plan.make import make_plan
from steelyard.plan.model import Plan, PlannedTrial
from steelyard.records.schema import Doubt, Measured, Outcome, TrialRecord
from steelyard.study.model import (
    BudgetSpec,
    ResponseSpec,
    ServiceSpec,
    Study,
    SystemSpec,
    TrialsSpec,
    WorkloadSpec,
)

VISITS_EACH = 24
NOISE_LOG = 0.02
BASE, OTHER = "one", "two"
_DECIDED = {VerdictWord.FASTER, VerdictWord.SLOWER}


@dataclass(frozen=True)
class Seen:
    """One trial as the fault leaves it: its figure times ``factor``, and what the record says."""

    factor: float = 1.0
    outcome: Outcome = Outcome.OK
    doubt: str | None = None
    steal: float | None = None


@dataclass(frozen=True)
class Fault:
    """``strike`` takes the trial, the system of the visit before, and a random number of 0..1.

    ``told_by`` are words one of which must stand in the findings when it is caught.
    """

    words: str
    strike: Callable[[PlannedTrial, str | None, float], Seen]
    told_by: tuple[str, ...]


def _carry_over(trial: PlannedTrial, before: str | None, _chance: float) -> Seen:
    return Seen(factor=1.03 if before == OTHER else 1.0)


def _steal(trial: PlannedTrial, _before: str | None, chance: float) -> Seen:
    burst = trial.cell.system == OTHER and chance < 0.4
    return Seen(factor=0.85, steal=0.15) if burst else Seen(steal=0.001)


def _saturation(trial: PlannedTrial, _before: str | None, chance: float) -> Seen:
    busy = trial.cell.system == OTHER
    return Seen(factor=0.95 if busy else 1.0, doubt="generator_near_ceiling" if busy else None)


def _clock_step(trial: PlannedTrial, _before: str | None, chance: float) -> Seen:
    stepped = trial.cell.system == OTHER and chance < 0.4
    return Seen(factor=0.85, doubt="clock_step") if stepped else Seen()


def _throttled(trial: PlannedTrial, _before: str | None, chance: float) -> Seen:
    hot = trial.cell.system == OTHER and chance < 0.5
    return Seen(factor=0.88 if hot else 1.0)


def _full(trial: PlannedTrial, _before: str | None, chance: float) -> Seen:
    failed = trial.cell.system == OTHER and trial.visit > VISITS_EACH and chance < 0.5
    return Seen(outcome=Outcome.DISK_FULL) if failed else Seen(1.0 - 0.002 * trial.visit)


FAULTS = (
    Fault("a visit leaves 3 % behind for the next", _carry_over, ("the reset is not effective",)),
    Fault("bursts of stolen time in one arm", _steal, ("steal", "stolen")),
    Fault("the generator saturates in one arm", _saturation, ("generator",)),
    Fault("the clock steps during trials of one arm", _clock_step, ("clock",)),
    Fault("the processor throttles in one arm", _throttled, ("throttl", "frequency")),
    Fault("the disk fills, and trials of one arm fail", _full, ("fail",)),
)


@dataclass(frozen=True)
class Caught:
    """Whether a difference was declared all the same, and whether the fault is named."""

    verdict: bool
    named: bool


def struck(fault: Fault, number: int) -> Caught:
    """One study of equal systems with the fault, judged."""
    rng = generator_of(f"fault: {fault.words}", number)
    study = a_study()
    plan = make_plan(study, int(rng.integers(1, 2**31)))
    findings = judge_study(study, plan, _records(fault, plan, rng), run="fault")
    verdict = findings.verdicts[0]
    return Caught(
        verdict=bool(_DECIDED & set(verdict.words)),
        named=any(word in text for text in _texts(findings) for word in fault.told_by),
    )


def _texts(findings: Findings) -> list[str]:
    """What is said where a reader of the verdict must see it: notes, and what was not tested."""
    shipped_with = "The error rate holds for any noise"
    notes = [note for verdict in findings.verdicts for note in verdict.notes]
    ours = "shared its processors"
    limits = [t for t in findings.limits if not t.startswith(shipped_with) and ours not in t]
    return [*notes, *limits]


def _records(fault: Fault, plan: Plan, rng: np.random.Generator) -> list[TrialRecord]:
    records, before = [], None
    for visit in plan.visits:
        for trial in visit.trials:
            seen = fault.strike(trial, before, float(rng.random()))
            value = 1_000 * seen.factor * float(np.exp(rng.normal(0, NOISE_LOG)))
            records.append(_record(trial, value, seen))
        before = visit.system
    return records


def _record(trial: PlannedTrial, value: float, seen: Seen) -> TrialRecord:
    ended = seen.outcome is Outcome.OK
    responses: dict[str, Any] = {
        "rate": Measured(value=value if ended else None, unit="1/s", missing=_why(seen))
    }
    if seen.steal is not None:
        responses["system.steal"] = Measured(value=seen.steal, unit="ratio")
    message = seen.doubt or ""
    return TrialRecord(
        trial=trial.trial,
        attempt=1,
        visit=trial.visit,
        cell=trial.cell,
        outcome=seen.outcome,
        started_unix_ns=trial.trial * 10**9,
        finished_unix_ns=(trial.trial + 1) * 10**9,
        phases_ns={},
        facts={},
        responses=responses,
        doubts=(Doubt(state="suspect", kind=seen.doubt, message=message),) if seen.doubt else (),
    )


def _why(seen: Seen) -> str | None:
    return None if seen.outcome is Outcome.OK else f"the attempt ended as {seen.outcome}"


def a_study() -> Study:
    """Two equal systems, one load, one primary response."""
    return Study(
        name="faults",
        question="Are two equal systems told apart?",
        sha256="0" * 64,
        systems={
            name: SystemSpec(
                name=name, platform="native", service=ServiceSpec(use="sink-smtp", settings={})
            )
            for name in (BASE, OTHER)
        },
        compared=(BASE, OTHER),
        baseline=BASE,
        factors={"load.users": (1,)},
        workloads={"smtp": WorkloadSpec(use="smtp")},
        responses={
            "rate": ResponseSpec(
                name="rate", label="throughput", unit="1/s", direction="higher", primary=True
            ),
            "system.steal": ResponseSpec(
                name="system.steal", label="stolen time", unit="ratio", direction="lower"
            ),
        },
        trials=TrialsSpec(margin_ratio=0.02, budget=BudgetSpec(trials_per_cell=VISITS_EACH)),
    )
