"""System against system on the most that each reached, and the peak that a claim asks for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.judge.analyses.scaling.findings import (
    NoCurve,
    PeakUnknown,
    ScalingFinding,
    SeveralCurves,
)
from steelyard.judge.analyses.scaling.readings import Axis, axis_of
from steelyard.judge.analyses.scaling.shape import umbrella
from steelyard.judge.comparisons.exploratory import each_by_itself
from steelyard.judge.findings import VerdictFinding
from steelyard.judge.visits.pairs import Conditions, Pair, Scale
from steelyard.judge.visits.readings import Readings, Row
from steelyard.judge.visits.series import ALL_PATHS, Paths, Series
from steelyard.plan.model import Plan
from steelyard.records.schema import TrialRecord
from steelyard.study.model import ResponseSpec
from steelyard.study.workload_study import WorkloadStudy


class PeakReadings(Readings):
    """One number per visit: the most that the system reached in it, at whatever level.

    That is the maximum of the rising-then-falling fit to the visit's levels, in logarithms. It is
    computed alike for every visit and blind to its system, so it is judged like any
    response.
    """

    def __init__(
        self, axis: Axis, plan: Plan, records: Sequence[TrialRecord], paths: Paths
    ) -> None:
        super().__init__(plan, records, paths=paths)
        self.axis = axis

    def series(
        self,
        pair: Pair,
        response: ResponseSpec,
        conditions: Conditions | None,
        *,
        keep_failed: bool = False,
        scale: Scale = "log",
    ) -> Series:
        del keep_failed, scale  # an attempt that failed has reached nothing that counts
        rows: list[Row] = []
        for visit, slot, system in self.counted(pair):
            most = self._most(visit, response, conditions or {})
            if most is not None:
                rows.append((visit, slot, system == pair.other, most))
        return self.series_of(rows)

    def _most(self, visit: int, response: ResponseSpec, others: Conditions) -> float | None:
        """``None`` unless every level was measured: a missing one may have been the best."""
        logs = []
        for level in self.axis.levels:
            good = self.good(visit, {**others, self.axis.factor: level})
            values = [record.value(response.name) for record in good]
            known = [math.log(value) for value in values if value is not None and value > 0]
            if not known:
                return None
            logs.append(known[0])
        return float(umbrella(np.array(logs), np.ones(len(logs))).max())


def peak_verdicts(
    study: WorkloadStudy, plan: Plan, records: Sequence[TrialRecord], paths: Paths = ALL_PATHS
) -> Iterator[VerdictFinding]:
    """Each other system against the baseline on its most, judged by the same engine, by itself."""
    axis = axis_of(study, plan)
    if axis is None:
        return
    readings, response = PeakReadings(axis, plan, records, paths), axis.response
    for conditions in axis.others:
        yield from each_by_itself(study, plan, response, conditions, readings=readings)


@dataclass(frozen=True)
class PeakWithin:
    """Where a system peaks, for a claim. Ends may be infinite; ``reasons`` say why there is none.

    With ``reasons`` the ends may still bound the peak (``NoPeak``: from ``low`` on); they are
    ``None`` when no curve describes the data.
    """

    low: float | None
    high: float | None
    reasons: tuple[PeakUnknown, ...]


def peak_of(
    scaling: Sequence[ScalingFinding], system: str, conditions: Conditions | None = None
) -> PeakWithin:
    """The interval of the level at which ``system`` peaks, from the curves of a study.

    ``conditions`` picks one of several further conditions; with several and none picked, there is
    no single peak.
    """
    own = [each for each in scaling if each.system == system]
    wanted = [each for each in own if not conditions or each.conditions == conditions]
    if len(wanted) != 1:
        why = SeveralCurves(system=system) if wanted else NoCurve(system=system)
        return PeakWithin(None, None, (why,))
    found = wanted[0]
    reasons = found.refusals
    if found.peak is None:
        return PeakWithin(None, None, reasons)
    high = math.inf if found.peak.at_high is None else found.peak.at_high
    return PeakWithin(found.peak.at_low, high if found.peak_stated else math.inf, reasons)
