"""Warnings and invalid trials by chance: a verdict that was given must not be taken back.

They strike visits of both systems alike and change no figure. The judge is asked after every
visit, as a session asks it, and for 24 visits more after its first verdict.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from tests.calibration.cells import generator_of
from tests.calibration.recorded import OTHER, study_of
from tests.calibration.tally import Tally
from tests.unit.judge.studies import a_record

from steelyard.inference.sequential import Memory, VerdictWord
from steelyard.inference.spending import FIRST_LOOK
from steelyard.judge.comparisons.comparison import judge
from steelyard.judge.comparisons.families import Comparison, comparisons
from steelyard.judge.visits.readings import Readings
from steelyard.judge.visits.series import Paths
from steelyard.plan.make import make_plan
from steelyard.plan.model import Plan, PlannedTrial
from steelyard.records.schema import Measured, Outcome, TrialRecord
from steelyard.records.warnings import TrialWarning, WarningKind
from steelyard.study import workload_study
from steelyard.study.model import BudgetSpec

FURTHER = 24
PATHS = Paths(1_000, 1_000)
_EACH = 48
_SD = 0.02
_WARNED_OF = (
    WarningKind.STEAL,
    WarningKind.FOREIGN_CPU,
    WarningKind.FOREIGN_DISK,
    WarningKind.FOREIGN_PAGING,
    WarningKind.RETRANSMITS,
    WarningKind.RAID_REBUILDING,
    WarningKind.THROTTLED,
    WarningKind.CLOCK_STEP,
    WarningKind.CLOCK_DRIFT,
)
"""Causes that withhold a verdict, as many as were drawn from when the results were made."""


@dataclass(frozen=True)
class Warned:
    """Studies with independent noise of 2 % and this true effect as a natural logarithm.

    ``warned``: the share of visits with a warning of interference; ``invalid``: that of visits
    whose first attempt is invalid.
    """

    effect: float
    warned: float
    invalid: float = 0.0

    @property
    def name(self) -> str:
        parts = [f"effect {math.expm1(self.effect):.0%}", f"warnings in {self.warned:.0%}"]
        parts += [f"invalid in {self.invalid:.0%}"] if self.invalid else []
        return ", ".join(parts)


CASES = (
    *(Warned(effect, warned) for warned in (0.05, 0.2, 0.4) for effect in (0.0, math.log(1.02))),
    Warned(math.log(1.05), 0.2),
    Warned(math.log(1.02), 0.2, invalid=0.03),
)


def withdrawn(case: Warned, batch: int, studies: int) -> Tally:
    """Studies that give a verdict, and those in which it is not the same at a later look."""
    study = study_of(budget=BudgetSpec(trials_per_cell=_EACH))
    comparison_of = workload_study.study_of(study, {})
    counts: Counter[str] = Counter()
    stops: Counter[int] = Counter()
    for number in range(studies):
        rng = generator_of(f"withdrawn: {case.name}", 1_000 * batch + number)
        plan = make_plan(study, int(rng.integers(1, 2**31)))
        comparison = next(each for each in comparisons(comparison_of, plan) if not each.exploratory)
        words = _words(comparison, plan, _records(case, plan, rng), study.trials.margin_log)
        first = next((place for place, said in enumerate(words) if said), None)
        counts["decided"] += first is not None
        counts["taken back"] += first is not None and len(set(words[first:])) > 1
        stops[FIRST_LOOK + (first if first is not None else len(words) - 1)] += 1
    return Tally(studies, counts, stops)


def _words(
    comparison: Comparison, plan: Plan, records: Sequence[TrialRecord], margin_log: float
) -> list[tuple[VerdictWord, ...]]:
    """The words at each look, to ``FURTHER`` visits after the first that are any."""
    every = Readings(plan, records, memory=Memory(), paths=PATHS)
    said: list[tuple[VerdictWord, ...]] = []
    left = FURTHER
    for visit in plan.visits[FIRST_LOOK - 1 :]:
        said.append(judge(comparison, every.until(visit.visit), margin_log).words)
        left -= any(said)
        if left < 0:
            break
    return said


def _records(case: Warned, plan: Plan, rng: np.random.Generator) -> list[TrialRecord]:
    records: list[TrialRecord] = []
    for trial in (trial for visit in plan.visits for trial in visit.trials):
        again = bool(rng.random() < case.invalid)
        if again:
            records.append(_record(trial, case, rng, attempt=1, outcome=Outcome.INVALID))
        records.append(_record(trial, case, rng, attempt=1 + again, outcome=Outcome.OK))
    return records


def _record(
    trial: PlannedTrial, case: Warned, rng: np.random.Generator, *, attempt: int, outcome: Outcome
) -> TrialRecord:
    rate = 1_000 * math.exp(rng.normal(0, _SD) + case.effect * (trial.cell.system == OTHER))
    cause = _WARNED_OF[int(rng.integers(len(_WARNED_OF)))]
    struck = rng.random() < case.warned
    return a_record(
        trial,
        None,
        attempt=attempt,
        outcome=outcome,
        responses={"rate": Measured(value=rate, unit="1/s")},
        warnings=(TrialWarning(kind=cause),) if struck else (),
    )
