"""What a study and its records do not show, and what its error rate rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from steelyard.inference.assumptions.diagnostics import counts_differ
from steelyard.judge.kinds.caveats import (
    CalibrationExceeded,
    Caveat,
    ConditionsMeasured,
    EngineRemoved,
    ErrorRateByRandomisation,
    FailuresUnequal,
    GeneratorBottleneck,
    GeneratorOnSameMachine,
    LevelsScreened,
    ManyFailures,
    NotReset,
    OneMachine,
    ScreeningAssumptions,
    SeveralMachines,
    SystemsNotSeen,
    TrialExtent,
    WarnedTrials,
)
from steelyard.judge.validity.places import beside_the_load, host_machine_facts, machines_of
from steelyard.judge.visits.calibrations import exceeded
from steelyard.plan.model import Plan
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.records.warnings import Resource
from steelyard.study.ending import extent_of
from steelyard.study.lookup import has_agent, workload_of
from steelyard.study.timing import resets
from steelyard.study.workload_study import WorkloadStudy

_MOST_FAILED = 0.10
_SIMULATED_SPREAD_RATIO = 4.0
_NO_FAULT_OF_A_SYSTEM = {Outcome.INTERRUPTED, Outcome.CONTROLLER_LOST}


def study_caveats(
    study: WorkloadStudy, plan: Plan, records: Sequence[TrialRecord]
) -> Iterator[Caveat]:
    """All of them, from the study of one workload and its records."""
    yield _machines(study, records)
    yield from _not_seen(study, records)
    if any(plan.conditions):
        yield ConditionsMeasured(conditions=tuple(filter(None, plan.conditions)))
    if plan.screen is not None:
        yield LevelsScreened(factors=plan.screen.factors)
        yield ScreeningAssumptions()
    yield TrialExtent(extent=extent_of(study))
    yield from _resets(study)
    yield from _generator(study, records)
    yield from _warned(records)
    yield from _failures(plan, records)
    if len(plan.systems) > 1:
        yield ErrorRateByRandomisation(simulated_spread_ratio=_SIMULATED_SPREAD_RATIO)
    if study.judge.engine == "normal":
        yield EngineRemoved(engine=study.judge.engine)


def _machines(study: WorkloadStudy, records: Sequence[TrialRecord]) -> OneMachine | SeveralMachines:
    places = machines_of(study, records)
    if len(set(places.values())) <= 1:
        return OneMachine(
            processor=_constant_fact(records, "cpu.model"),
            kernel=_constant_fact(records, "kernel.release"),
        )
    by_machine: dict[str, list[str]] = {}
    for system, machine in places.items():
        by_machine.setdefault(machine, []).append(system)
    return SeveralMachines(systems=tuple(map(tuple, by_machine.values())))


def _not_seen(study: WorkloadStudy, records: Sequence[TrialRecord]) -> Iterator[SystemsNotSeen]:
    measured = {record.cell.system for record in records}
    systems = tuple(
        name for name, spec in study.systems.items() if name in measured and not has_agent(spec)
    )
    if systems:
        own = [r.facts.get("system", {}) for r in records if r.cell.system in systems]
        facts = {name for each in own for name, value in each.items() if value is not None}
        yield SystemsNotSeen(systems=systems, facts=len(facts))


def _constant_fact(records: Sequence[TrialRecord], fact: str) -> str | None:
    values = {facts.get(fact) for r in records if (facts := host_machine_facts(r))}
    return values.pop() if len(values) == 1 else None


def _resets(study: WorkloadStudy) -> Iterator[Caveat]:
    """One for each strength; of which systems, where they differ."""
    by_strength: dict[str, list[str]] = {}
    for name, strength in resets(study).items():
        by_strength.setdefault(strength, []).append(name)
    for strength, names in by_strength.items():
        yield NotReset(strength=strength, systems=tuple(names) if len(by_strength) > 1 else ())


def _generator(study: WorkloadStudy, records: Sequence[TrialRecord]) -> Iterator[Caveat]:
    beside = beside_the_load(study)
    if beside and workload_of(study.workload).is_load:
        yield GeneratorOnSameMachine(systems=() if len(beside) == len(study.systems) else beside)
    good = [r for r in records if r.outcome is Outcome.OK]
    bottlenecks = [r.bottleneck.resource for r in good if r.bottleneck is not None]
    limited = bottlenecks.count(Resource.GENERATOR)
    if limited:
        yield GeneratorBottleneck(trials=limited, good_trials=len(good))
    over = exceeded(good)
    if over:
        largest = max(r.calibration.ratio or 0.0 for r in over if r.calibration is not None)
        yield CalibrationExceeded(trials=len(over), good_trials=len(good), largest_ratio=largest)


def _warned(records: Sequence[TrialRecord]) -> Iterator[Caveat]:
    good = [r for r in records if r.outcome is Outcome.OK]
    kinds = Counter(kind for r in good for kind in dict.fromkeys(each.kind for each in r.warnings))
    for kind, count in kinds.most_common():
        yield WarnedTrials(warning=kind, trials=count, good_trials=len(good))


def _failures(plan: Plan, records: Sequence[TrialRecord]) -> Iterator[Caveat]:
    """Whether leaving out failed attempts may have favoured a system."""
    counted = [r for r in records if r.outcome not in _NO_FAULT_OF_A_SYSTEM]
    failed = Counter(r.cell.system for r in counted if r.outcome is not Outcome.OK)
    of = Counter(r.cell.system for r in counted)
    total = sum(failed.values())
    if total > _MOST_FAILED * len(counted):
        yield ManyFailures(failed=total, attempts=len(counted), limit_share=_MOST_FAILED)
    baseline = plan.systems[0]
    for system in plan.systems[1:]:
        one, another = (failed[baseline], of[baseline]), (failed[system], of[system])
        if of[system] and of[baseline] and counts_differ(another, one):
            yield FailuresUnequal(
                baseline=baseline,
                other=system,
                failed_baseline=failed[baseline],
                attempts_baseline=of[baseline],
                failed_other=failed[system],
                attempts_other=of[system],
            )
