"""System against system on what each of several instances keeps of one alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from steelyard.judge.comparison import finding, judge
from steelyard.judge.consolidation.together import INSTANCES, of_visit, rest_of
from steelyard.judge.families import Comparison
from steelyard.judge.findings import VerdictFinding
from steelyard.judge.numbers import Scale
from steelyard.judge.scaling.readings import throughput_of
from steelyard.judge.streams import Conditions, Pair, Readings, Series, key_of, series_of, slots_of
from steelyard.plan.model import Plan
from steelyard.records.schema import TrialRecord
from steelyard.study.model import ResponseSpec, Study


class DensityReadings(Readings):
    """One number per visit: density at so many instances, in logarithms."""

    def __init__(
        self, plan: Plan, records: Sequence[TrialRecord], count: int, response: ResponseSpec
    ) -> None:
        super().__init__(plan, records)
        self.count = count
        self.throughput = response

    def series(
        self,
        pair: Pair,
        response: ResponseSpec,
        conditions: Conditions | None,
        *,
        keep_failed: bool = False,
        scale: Scale = "log",
    ) -> Series:
        del response, keep_failed, scale
        rows = []
        for visit, slot, system in slots_of(self.plan, pair):
            if not self.met(visit, pair):
                continue
            found = of_visit(self, visit, conditions or {}, self.count, self.throughput)
            if found is not None:
                density = math.log(sum(found[0]) / len(found[0]) / found[1])
                rows.append((visit, slot, system == pair.other, density))
        return series_of(rows)


def density_verdicts(
    study: Study, plan: Plan, records: Sequence[TrialRecord]
) -> Iterator[VerdictFinding]:
    """Each other system against the baseline on what each instance keeps of one alone."""
    throughput = throughput_of(study)
    if not study.judge.consolidation or throughput is None:
        return
    counts = sorted(int(level) for level in study.factors.get(INSTANCES, ()) if int(level) > 1)
    others = {key_of(rest): rest for each in plan.conditions if (rest := rest_of(each)) is not None}
    response = ResponseSpec(name="density", label="density", unit="ratio", direction="higher")
    for rest in others.values():
        for count in counts:
            readings = DensityReadings(plan, records, count, throughput)
            for other in (system for system in plan.systems if system != study.baseline):
                comparison = Comparison(
                    response=response,
                    pair=Pair(study.baseline, other),
                    conditions=rest,
                    alpha=study.trials.alpha,
                    share=study.trials.alpha,
                    family=f"density of {count} instances, exploratory: by itself",
                )
                found = finding(judge(comparison, readings, study.trials.margin_log),
                                study.trials.margin_log)  # fmt: skip
                yield found.model_copy(update={"conditions": {**rest, INSTANCES: count}})
