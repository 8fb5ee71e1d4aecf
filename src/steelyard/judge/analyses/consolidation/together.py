"""From records to what several instances do together: one finding for each number of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from steelyard.inference.noise.robust import Floats
from steelyard.judge.analyses.consolidation.evenness import (
    LEVEL,
    chance_of_none,
    fairness,
    holm,
    jain,
    mean_of,
    worst_over_best,
)
from steelyard.judge.analyses.consolidation.findings import (
    ConsolidationFinding,
    ConsolidationGap,
    Disturbed,
    HostCostUndeclared,
    InstancesApart,
    InterferenceFinding,
    NoGuestKernel,
    NoVisitWithBoth,
    OneVisit,
    SlowdownFinding,
)
from steelyard.judge.analyses.consolidation.gatherings import Gathering, exists, gatherings
from steelyard.judge.analyses.consolidation.speed import (
    adds_up,
    gaps,
    response_of,
    speed,
    unit_of,
)
from steelyard.judge.visits.pairs import Conditions
from steelyard.judge.visits.readings import Readings
from steelyard.plan.model import Plan
from steelyard.records.schema import InstanceRecord, TrialRecord
from steelyard.records.warnings import WarningKind
from steelyard.study.model import ResponseSpec
from steelyard.study.workload_study import WorkloadStudy

_GUEST, _HOST = "system.cpu", "host.instance_cpu"


@dataclass(frozen=True)
class Shared:
    """The visits in which both one alone and several at once were measured.

    ``background`` names what ran besides. ``rates`` are speeds, with a row for each visit and a
    column for each measured instance, ``alone`` has a number for each visit, ``costs`` the
    logarithms of host over guest processor time of instance 1. In ``apart`` visits the instances
    did not work at the same time.
    """

    system: str
    conditions: Conditions
    instances: int
    background: tuple[str, ...]
    rates: Floats
    alone: Floats
    costs: Floats
    apart: int


@dataclass(frozen=True)
class OfVisit:
    """The speed of each instance and of one alone, the cost, and whether they worked apart."""

    rates: list[float]
    alone: float
    cost: float | None
    apart: bool


def consolidation_findings(
    study: WorkloadStudy, plan: Plan, records: Sequence[TrialRecord]
) -> Iterator[ConsolidationFinding]:
    """Every system and number of instances, where the study asks for it."""
    response = response_of(study)
    if not study.judge.consolidation or response is None:
        return
    readings = Readings(plan, records)
    found = list(_shared(study, plan, readings, response))
    words = _interference(study, found)
    for shared, word in zip(found, words, strict=True):
        yield _finding(study, shared, response, word)


def _shared(
    study: WorkloadStudy, plan: Plan, readings: Readings, response: ResponseSpec
) -> Iterator[Shared]:
    for system, gathering in (
        (system, gathering)
        for rest in gatherings(study, plan)
        for system in plan.systems
        for gathering in rest
        if exists(plan, system, gathering)
    ):
        visits = [visit.visit for visit in plan.visits if visit.system == system]
        rows = [of_visit(readings, visit, gathering, response) for visit in visits]
        known = [row for row in rows if row is not None]
        yield Shared(
            system=system,
            conditions=gathering.conditions,
            instances=gathering.instances,
            background=gathering.background,
            rates=np.array([row.rates for row in known], dtype=np.float64),
            alone=np.array([row.alone for row in known], dtype=np.float64),
            costs=np.array([row.cost for row in known if row.cost is not None], dtype=np.float64),
            apart=sum(row.apart for row in known),
        )


def of_visit(
    readings: Readings, visit: int, gathering: Gathering, response: ResponseSpec
) -> OfVisit | None:
    """``None`` if the speed of one is missing."""
    alone = readings.good(visit, gathering.alone)
    together = readings.good(visit, gathering.together)
    if not alone or not together:
        return None
    one = speed(response, alone[0].value(response.name))
    told = [each.responses.get(response.name) for each in _measured(together[0])]
    speeds = [None if each is None else speed(response, each.value) for each in told]
    known = [each for each in speeds if each is not None]
    if one is None or not known or len(known) < len(told):
        return None
    apart = any(each.kind is WarningKind.INSTANCES_APART for each in together[0].warnings)
    return OfVisit(known, one, _cost(together[0]), apart)


def _measured(record: TrialRecord) -> list[InstanceRecord]:
    """Instances that run the workload; what runs beside gives no responses."""
    return [each for each in record.instances if each.responses]


def _cost(record: TrialRecord) -> float | None:
    first = next(iter(_measured(record)), None)
    if first is None or not _own_kernel(record):
        return None
    host, guest = first.responses.get(_HOST), first.responses.get(_GUEST)
    if host is None or guest is None or not host.value or not guest.value:
        return None
    return math.log(host.value / guest.value)


def _own_kernel(record: TrialRecord) -> bool:
    """Whether the system runs a kernel of its own: only that tells its processor time from the
    whole machine's, of which a container sees all.
    """
    system, host = (record.facts.get(name, {}).get("boot_id") for name in ("system", "host"))
    return system is not None and host is not None and system != host


def _interference(study: WorkloadStudy, found: Sequence[Shared]) -> list[Disturbed | None]:
    """One word for each contrast, all of them one family; none where nothing runs beside."""
    with_background = [shared for shared in found if shared.background]
    changes = [_change(shared) for shared in with_background]
    margin, rate = study.trials.margin_log, study.trials.alpha
    differ = holm([chance_of_none(each) for each in changes], rate)
    alike = holm([chance_of_none(each, margin) for each in changes], rate)
    words = iter(_word(changed, same) for changed, same in zip(differ, alike, strict=True))
    return [next(words) if shared.background else None for shared in found]


def _word(changed: bool, same: bool) -> Disturbed:
    if same:
        return "undisturbed"
    return "disturbed" if changed else "open"


def _change(shared: Shared) -> Floats:
    """What a measured instance has of what one alone has, in each visit."""
    if not len(shared.rates):
        return np.array([])
    return np.asarray(np.log(shared.rates).mean(axis=1) - np.log(shared.alone))


def _finding(
    study: WorkloadStudy, shared: Shared, response: ResponseSpec, word: Disturbed | None
) -> ConsolidationFinding:
    rates, alone, visits = shared.rates, shared.alone, len(shared.alone)
    missing = (*_missing(study, shared), *gaps(response))
    empty = ConsolidationFinding(
        system=shared.system,
        response=response.name,
        unit=unit_of(response),
        conditions=shared.conditions,
        instances=shared.instances,
        visits=visits,
        total=None,
        scale=None,
        density=None,
        least=None,
        slowdowns=(),
        fairness=None,
        fairness_raw=None,
        worst_over_best=None,
        interference=None,
        cpu_overhead=mean_of(shared.costs) if len(shared.costs) else None,
        interval_level=LEVEL,
        missing=missing,
    )
    if not visits:
        return empty
    total, one = np.log(rates.sum(axis=1)), np.log(alone)
    slower = [mean_of(one - np.log(rates[:, place])) for place in range(rates.shape[1])]
    change = InterferenceFinding(
        background=_counted(shared.background),
        change=mean_of(_change(shared)),
        word=word or "open",
    )
    several = rates.shape[1] > 1
    return empty.model_copy(
        update={
            "total": math.exp(float(total.mean())) if adds_up(response) else None,
            "scale": mean_of(total - one) if adds_up(response) else None,
            "density": mean_of(total - one - math.log(rates.shape[1])),
            "least": mean_of(np.log(rates.min(axis=1)) - one),
            "slowdowns": tuple(
                SlowdownFinding(instance=place + 1, slowdown=each)
                for place, each in enumerate(slower)
            ),
            "fairness": fairness(rates),
            "fairness_raw": jain(rates.mean(axis=0)) if several else None,
            "worst_over_best": worst_over_best(rates),
            "interference": None if word is None else change,
        }
    )


def _counted(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(name if n == 1 else f"{n} x {name}" for name, n in Counter(names).items())


def _missing(study: WorkloadStudy, shared: Shared) -> Iterator[ConsolidationGap]:
    if not len(shared.alone):
        yield NoVisitWithBoth()
    elif len(shared.alone) < 2:
        yield OneVisit()
    if shared.apart:
        yield InstancesApart(visits=shared.apart, of=len(shared.alone))
    wanted = {_GUEST, _HOST} <= set(study.responses)
    if not wanted:
        yield HostCostUndeclared(responses=(_GUEST, _HOST))
    elif not len(shared.costs):
        yield NoGuestKernel()
