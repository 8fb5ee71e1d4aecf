"""The largest load under a target: by searches, by the levels, and compared by re-randomisation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from steelyard.inference.probability.distributions import binomial_above
from steelyard.judge.analyses.scaling.findings import CapacityFinding, TargetFinding
from steelyard.judge.cells import INTERVAL_LEVEL, median_interval
from steelyard.judge.comparisons.exploratory import each_by_itself
from steelyard.judge.findings import VerdictFinding
from steelyard.judge.kinds.not_measured import not_measured
from steelyard.judge.visits.attempts import key_of
from steelyard.judge.visits.pairs import Conditions
from steelyard.judge.visits.readings import Readings
from steelyard.judge.visits.series import ALL_PATHS, Paths
from steelyard.plan.model import Plan
from steelyard.records.missing import NoLoadFound
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.study.model import FIND, FindSpec, GateSpec, ResponseSpec
from steelyard.study.timing import searched_unit
from steelyard.study.workload_study import WorkloadStudy

SURE = 0.05
_BEYOND = {"limits_held_up_to": math.inf, "limits_broken_down_to": -math.inf}


def capacity_findings(
    study: WorkloadStudy, plan: Plan, records: Sequence[TrialRecord]
) -> Iterator[CapacityFinding]:
    """What every system carries under each target, under each further condition."""
    for searched in plan.searches:
        spec = study.find[str(searched[FIND])]
        for system in plan.systems:
            own = [record for record in records if record.cell.system == system]
            yield _finding(study, spec, system, searched, own)


def capacity_verdicts(
    study: WorkloadStudy, plan: Plan, records: Sequence[TrialRecord], paths: Paths = ALL_PATHS
) -> Iterator[VerdictFinding]:
    """Each other system against the baseline, by the capacities of the visits, by itself."""
    readings = Readings(plan, records, paths=paths)
    for searched in plan.searches:
        response = capacity_response(study, str(searched[FIND]))
        rest = {name: level for name, level in searched.items() if name != FIND}
        found = each_by_itself(study, plan, response, searched, readings=readings)
        for each in found:
            yield each.model_copy(update={"conditions": rest})


def capacity_response(study: WorkloadStudy, name: str) -> ResponseSpec:
    """The response that a search gives: more is better."""
    return ResponseSpec(name=name, label=name, unit=searched_unit(study), direction="higher")


def _finding(
    study: WorkloadStudy,
    spec: FindSpec,
    system: str,
    searched: Conditions,
    records: Sequence[TrialRecord],
) -> CapacityFinding:
    rest = {name: level for name, level in searched.items() if name != FIND}
    trials = [r for r in records if key_of(r.cell.conditions) == key_of(searched)]
    good = [record for record in trials if record.outcome is Outcome.OK]
    values = tuple(value for record in good if (value := record.value(spec.name)) is not None)
    ranked = sorted([*values, *_beyond(good, spec.name)])
    low, high = median_interval(ranked)
    holds, breaks = _bounds(study, spec, rest, records)
    return CapacityFinding(
        name=spec.name,
        system=system,
        conditions=rest,
        targets=tuple(
            TargetFinding(response=limit.name, limit=limit.text) for limit in spec.limits
        ),
        unit=searched_unit(study),
        values=values,
        searches=len(ranked),
        median=_finite(float(np.median(ranked))) if ranked else None,
        low=_finite(low),
        high=_finite(high),
        interval_level=INTERVAL_LEVEL,
        not_found=not_measured(trials, spec.name),
        holds_at=holds,
        breaks_at=breaks,
    )


def _beyond(records: Sequence[TrialRecord], name: str) -> Iterator[float]:
    """Of searches that met an end of what is tried: where their capacity lies of all others."""
    for record in records:
        found = record.responses.get(name)
        missing = None if found is None else found.missing
        if isinstance(missing, NoLoadFound) and missing.kind in _BEYOND:
            yield _BEYOND[missing.kind]


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _bounds(
    study: WorkloadStudy, spec: FindSpec, rest: Conditions, records: Sequence[TrialRecord]
) -> tuple[float | None, float | None]:
    """The largest level up to which the limits surely hold, the smallest at which they break.

    Surely: by a sign test at 5 %, from five trials of a level on.
    """
    factor = "load.users" if "load.users" in study.factors else "load.rate"
    holds: float | None = None
    open_below = False
    for level in sorted(float(each) for each in study.factors[factor]):
        wanted = key_of({**rest, factor: level})
        kept = [
            held
            for record in records
            if key_of(record.cell.conditions) == wanted
            and (held := keeps(record, spec.limits)) is not None
        ]
        if _surely(kept.count(False), len(kept)):
            return holds, level
        open_below = open_below or not _surely(kept.count(True), len(kept))
        if not open_below:
            holds = level
    return holds, None


def keeps(record: TrialRecord, limits: Sequence[GateSpec]) -> bool | None:
    """Whether a trial kept all limits, also one that a gate refused; ``None`` if it cannot tell."""
    if record.outcome not in (Outcome.OK, Outcome.REFUSED_BY_GATE):
        return None
    held = [_holds(limit, record.value(limit.name)) for limit in limits]
    if False in held:
        return False
    return None if None in held else True


def _holds(limit: GateSpec, value: float | None) -> bool | None:
    if value is None or not math.isfinite(value):
        return None
    if limit.at_most is not None:
        return value <= limit.at_most
    return limit.at_least is None or value >= limit.at_least


def _surely(count: int, of: int) -> bool:
    return of > 0 and binomial_above(count - 1, of) <= SURE
