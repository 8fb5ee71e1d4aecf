"""System against system on what each of several instances keeps of one alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from steelyard.judge.analyses.consolidation.gatherings import Gathering, exists, gatherings
from steelyard.judge.analyses.consolidation.speed import response_of
from steelyard.judge.analyses.consolidation.together import of_visit
from steelyard.judge.comparisons.exploratory import by_itself
from steelyard.judge.findings import VerdictFinding
from steelyard.judge.visits.pairs import Conditions, Pair, Scale
from steelyard.judge.visits.readings import Readings
from steelyard.judge.visits.series import ALL_PATHS, Paths, Series
from steelyard.plan.model import Plan
from steelyard.records.schema import TrialRecord
from steelyard.study.model import ResponseSpec
from steelyard.study.workload_study import WorkloadStudy


class DensityReadings(Readings):
    """One number per visit: density of several at once, in logarithms."""

    def __init__(
        self,
        plan: Plan,
        records: Sequence[TrialRecord],
        of: Gathering,
        response: ResponseSpec,
        *,
        paths: Paths,
    ) -> None:
        super().__init__(plan, records, paths=paths)
        self.gathering = of
        self.told_by = response

    def series(
        self,
        pair: Pair,
        response: ResponseSpec,
        conditions: Conditions | None,
        *,
        keep_failed: bool = False,
        scale: Scale = "log",
    ) -> Series:
        del response, conditions, keep_failed, scale
        rows = []
        for visit, slot, system in self.counted(pair):
            found = of_visit(self, visit, self.gathering, self.told_by)
            if found is not None:
                density = math.log(sum(found.rates) / len(found.rates) / found.alone)
                rows.append((visit, slot, system == pair.other, density))
        return self.series_of(rows)


def density_verdicts(
    study: WorkloadStudy, plan: Plan, records: Sequence[TrialRecord], paths: Paths = ALL_PATHS
) -> Iterator[VerdictFinding]:
    """Each other system against the baseline on what each instance keeps of one alone."""
    told_by = response_of(study)
    if not study.judge.consolidation or told_by is None:
        return
    response = ResponseSpec(name="density", label="density", unit="ratio", direction="higher")
    for of, other in (
        (of, other)
        for every in gatherings(study, plan)
        for of in every
        for other in plan.systems
        if other != study.baseline and all(exists(plan, s, of) for s in (study.baseline, other))
    ):
        readings = DensityReadings(plan, records, of, told_by, paths=paths)
        found = by_itself(study, other, response, of.conditions, readings=readings)
        yield found.model_copy(update={"conditions": of.together})
