"""Faults of machines, as they would stand in the records of two systems.

Every fault here is at the cost of one system only, or goes by the clock: the worst that a study
can meet. What the tool writes into a record when it meets the fault is written here as well, and
nothing else: a fault that leaves no trace must be seen in the figures, or is not seen. A study
goes on as a session does: the judge is asked after every visit, and a decision ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from tests.calibration.cells import generator_of
from tests.calibration.recorded import OTHER, PATHS, study_of
from tests.unit.judge.studies import RESPONSES, a_record

from steelyard.inference.sequential import Memory, VerdictWord
from steelyard.inference.spending import FIRST_LOOK
from steelyard.judge.findings import RunFindings
from steelyard.judge.verdict import judge_study, look
from steelyard.judge.visits.series import Effort
from steelyard.plan.make import make_plan
from steelyard.plan.model import Plan, PlannedTrial
from steelyard.records.missing import Missing, Reason
from steelyard.records.schema import Measured, Outcome, TrialRecord
from steelyard.records.warnings import TrialWarning, WarningKind
from steelyard.study.model import ResponseSpec, Study

NOISE_LOG = 0.02
_FULL_FROM = 6
_DIFFERENT = frozenset({VerdictWord.FASTER, VerdictWord.SLOWER})
_ALIKE = frozenset({VerdictWord.EQUIVALENT})
_STEAL = ResponseSpec(name="system.steal", label="stolen time", unit="ratio", direction="lower")


@dataclass(frozen=True)
class Seen:
    """One trial as the fault leaves it: its figure times ``factor``, and what the record says."""

    factor: float = 1.0
    outcome: Outcome = Outcome.OK
    warning: WarningKind | None = None
    steal: float | None = None


@dataclass(frozen=True)
class Fault:
    """``strike`` takes the trial, the system of the visit before, and a random number of 0..1.

    One of ``kinds``, of a note, a warning or an outcome, must be in the findings when it is
    caught; ``never`` must not be said of the systems.
    """

    words: str
    strike: Callable[[PlannedTrial, str | None, float], Seen]
    kinds: frozenset[str]
    never: frozenset[VerdictWord] = _DIFFERENT


def _carry_over(_trial: PlannedTrial, before: str | None, _chance: float) -> Seen:
    return Seen(factor=1.03 if before == OTHER else 1.0)


def _steal(trial: PlannedTrial, _before: str | None, chance: float) -> Seen:
    burst = trial.cell.system == OTHER and chance < 0.4
    return Seen(factor=0.85, steal=0.15, warning=WarningKind.STEAL) if burst else Seen(steal=0.001)


def _background_load(trial: PlannedTrial, _before: str | None, chance: float) -> Seen:
    beside = trial.cell.system == OTHER and chance < 0.6
    return Seen(factor=0.90, warning=WarningKind.FOREIGN_CPU) if beside else Seen()


def _ceiling(_trial: PlannedTrial, _before: str | None, _chance: float) -> Seen:
    """Ten per cent apart, were it not for the generator, which sends no more than this.

    It can hide a difference and not make one: what it has sent to the other, it can send.
    """
    return Seen(warning=WarningKind.GENERATOR_NEAR_CAPACITY)


def _clock_step(trial: PlannedTrial, _before: str | None, chance: float) -> Seen:
    stepped = trial.cell.system == OTHER and chance < 0.4
    return Seen(factor=0.85, warning=WarningKind.CLOCK_STEP) if stepped else Seen()


def _throttled(trial: PlannedTrial, _before: str | None, chance: float) -> Seen:
    hot = trial.cell.system == OTHER and chance < 0.5
    return Seen(factor=0.88, warning=WarningKind.THROTTLED) if hot else Seen()


def _full(trial: PlannedTrial, _before: str | None, chance: float) -> Seen:
    failed = trial.cell.system == OTHER and trial.visit > _FULL_FROM and chance < 0.5
    return Seen(outcome=Outcome.DISK_FULL) if failed else Seen(1.0 - 0.002 * trial.visit)


_CARRY_OVER = frozenset({"carry_over", "carry_over_possible"})
FAULTS = (
    Fault("a visit leaves 3 % behind for the next", _carry_over, _CARRY_OVER),
    Fault("bursts of stolen time in one arm", _steal, frozenset({WarningKind.STEAL})),
    Fault(
        "other programs compute beside one arm",
        _background_load,
        frozenset({WarningKind.FOREIGN_CPU}),
    ),
    Fault(
        "the generator is at its ceiling, 10 % are hidden",
        _ceiling,
        frozenset({WarningKind.GENERATOR_NEAR_CAPACITY}),
        _ALIKE,
    ),
    Fault(
        "the clock steps during trials of one arm", _clock_step, frozenset({WarningKind.CLOCK_STEP})
    ),
    Fault("the processor throttles in one arm", _throttled, frozenset({WarningKind.THROTTLED})),
    Fault("the disk fills, and trials of one arm fail", _full, frozenset({Outcome.DISK_FULL})),
)


@dataclass(frozen=True)
class Caught:
    """Whether what must not be said was said all the same, and whether the fault is named."""

    verdict: bool
    named: bool


def struck(fault: Fault, number: int) -> Caught:
    """One study with the fault, judged visit by visit until it is decided or its budget ends."""
    rng = generator_of(f"fault: {fault.words}", number)
    study = study_of(responses={**RESPONSES, _STEAL.name: _STEAL})
    plan = make_plan(study, int(rng.integers(1, 2**31)))
    effort = Effort(PATHS, Memory())
    records = _session(fault, study, plan, rng, effort)
    findings = judge_study(study, plan, records, run="fault", effort=effort)
    verdict = next(each for each in findings.workloads[0].verdicts if not each.exploratory)
    return Caught(
        verdict=bool(fault.never & set(verdict.words)),
        named=bool(fault.kinds & set(_kinds(findings))),
    )


def _kinds(findings: RunFindings) -> Iterator[str]:
    """What a reader must see: reasons of the verdict, outcomes and warnings of attempts."""
    for verdict in findings.workloads[0].verdicts:
        if not verdict.exploratory:
            yield from (note.kind for note in verdict.reasons)
    for attempt in findings.attempts:
        yield attempt.outcome
        yield from (warning.kind for warning in attempt.warnings)


def _session(
    fault: Fault, study: Study, plan: Plan, rng: np.random.Generator, effort: Effort
) -> list[TrialRecord]:
    """The records by the time that the session ends."""
    records: list[TrialRecord] = []
    before = None
    for number, visit in enumerate(plan.visits, start=1):
        for trial in visit.trials:
            seen = fault.strike(trial, before, float(rng.random()))
            value = 1_000 * seen.factor * float(np.exp(rng.normal(0, NOISE_LOG)))
            records.append(_record(trial, value, seen))
        before = visit.system
        if number >= FIRST_LOOK and look(study, plan, records, effort=effort).decided:
            break
    return records


def _record(trial: PlannedTrial, value: float, seen: Seen) -> TrialRecord:
    ended = seen.outcome is Outcome.OK
    responses: dict[str, Any] = {
        "rate": Measured(value=value if ended else None, unit="1/s", missing=_why(seen))
    }
    if seen.steal is not None:
        responses[_STEAL.name] = Measured(value=seen.steal, unit="ratio")
    warnings = () if seen.warning is None else (TrialWarning(kind=seen.warning),)
    return a_record(trial, None, outcome=seen.outcome, responses=responses, warnings=warnings)


def _why(seen: Seen) -> Missing | None:
    return None if seen.outcome is Outcome.OK else Reason(kind="not_measured")
