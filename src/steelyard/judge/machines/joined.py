"""The findings of several machines as those of one run, whose conditions name the machine.

What is judged of one machine stands as its own run has it; so do its cells, attempts and facts.
What only explains a run (latency, resources, costs) is in the findings of each machine. Trials are
numbered through: those of a machine follow those of the one before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType

from steelyard.judge.analyses.disks.findings import DiskFinding
from steelyard.judge.findings import (
    AttemptFinding,
    RunFindings,
    StopFinding,
    VerdictFinding,
    WorkloadFindings,
)
from steelyard.judge.kinds.caveats import Caveat, OneMachine, SeveralMachines
from steelyard.judge.machines.findings import MachinesFinding
from steelyard.judge.machines.missing import missing_machines
from steelyard.judge.machines.of_study import MachinePart, verdicts_together
from steelyard.judge.visits.pairs import MACHINE, Conditions
from steelyard.judge.visits.series import EFFORT, Effort
from steelyard.plan.model import Cell
from steelyard.records.events import Event
from steelyard.study.model import Study

_ABOUT_THE_MACHINE = (OneMachine, SeveralMachines)


def joined(
    study: Study,
    parts: Mapping[str, MachinePart],
    found: Mapping[str, RunFindings],
    *,
    run: str,
    seed: int,
    events: Mapping[str, Sequence[Event]] = MappingProxyType({}),
    effort: Effort = EFFORT,
) -> RunFindings:
    """``study`` names all machines, ``found`` are the findings of each; ``seed`` drew theirs.

    ``events`` are the ledgers, which know of machines that have left.
    """
    first, together = next(iter(found.values())), verdicts_together(study, parts, effort)
    counts = [sum(len(v.trials) for v in part.plan.every_visit) for part in parts.values()]
    before = dict(zip(parts, accumulate(counts, initial=0), strict=False))
    workloads = (
        _workload(
            {name: each.workloads[place] for name, each in found.items()},
            together[own.name],
            before,
        )
        for place, own in enumerate(first.workloads)
    )
    done = {name: own.stop.visits_done for name, own in found.items()}
    missing = tuple(missing_machines(events, done))
    facts = {each.fact: each for own in found.values() for each in own.differences}
    changed = {
        "run": run,
        "seed": seed,
        "stop": _stop([each.stop for each in found.values()], left=bool(missing)),
        "workloads": tuple(workloads),
        "interference": (),
        "attempts": tuple(_attempts(found, before)),
        "differences": tuple(facts.values()),
        "machines": tuple(
            each.model_copy(update={"on": name})
            for name, own in found.items()
            for each in own.machines
        ),
        "tested": _tested(found),
        "disks": tuple(_disks(found, before)),
        "caveats": (*missing, *_all([own.caveats for own in found.values()])),
    }
    return first.model_copy(update=changed)


def _workload(
    on: Mapping[str, WorkloadFindings],
    together: Sequence[tuple[VerdictFinding, MachinesFinding | None]],
    before: Mapping[str, int],
) -> WorkloadFindings:
    """``before``: how many trials the machines before each have."""
    first = next(iter(on.values()))
    return WorkloadFindings(
        name=first.name,
        conditions=tuple(_at(name, each) for name, own in on.items() for each in own.conditions),
        not_applicable=tuple(
            _cell(name, each) for name, own in on.items() for each in own.not_applicable
        ),
        responses=first.responses,
        verdicts=(
            *(verdict for verdict, _ in together),
            *(
                _of_machine(verdict, name, len(on))
                for name, own in on.items()
                for verdict in own.verdicts
            ),
        ),
        machines=tuple(each for _, each in together if each is not None),
        cells=tuple(
            cell.model_copy(
                update={
                    "cell": _cell(name, cell.cell),
                    "trials": tuple(before[name] + trial for trial in cell.trials),
                }
            )
            for name, own in on.items()
            for cell in own.cells
        ),
        calibrations=tuple(
            each.model_copy(update={"cell": _cell(name, each.cell)})
            for name, own in on.items()
            for each in own.calibrations
        ),
        steadiness=tuple(
            each.model_copy(update={"cell": _cell(name, each.cell)})
            for name, own in on.items()
            for each in own.steadiness
        ),
        caveats=_all([own.caveats for own in on.values()]),
    )


def _of_machine(verdict: VerdictFinding, name: str, machines: int) -> VerdictFinding:
    """Its share of the error rate is that of the machine; the family holds all machines."""
    family = verdict.family
    if family.scope in ("overall", "conditions"):
        family = family.model_copy(update={"scope": "machines", "places": family.places * machines})
    return verdict.model_copy(
        update={
            "conditions": _at(name, verdict.conditions or {}),
            "family": family,
            "alpha": verdict.alpha * machines,
        }
    )


def _at(machine: str, conditions: Conditions) -> Conditions:
    return {MACHINE: machine, **conditions}


def _cell(machine: str, cell: Cell) -> Cell:
    return cell.model_copy(update={"conditions": _at(machine, cell.conditions)})


def _attempts(
    found: Mapping[str, RunFindings], before: Mapping[str, int]
) -> Iterator[AttemptFinding]:
    for name, own in found.items():
        for each in own.attempts:
            changed = {"trial": before[name] + each.trial, "cell": _cell(name, each.cell)}
            yield each.model_copy(update=changed)


def _stop(each: Sequence[StopFinding], *, left: bool) -> StopFinding:
    """Sums; why it ended is why the first did that ended without a verdict.

    Where one has ``left``, the run is not at its end once the others have ended.
    """
    reasons = [stop.reason for stop in each]
    ended = next((reason for reason in reasons if reason != "decided"), "decided")
    if left and set(reasons) != {"open"}:
        ended = "interrupted"
    timed = any(stop.visits_assumed is not None for stop in each)
    assumed = [stop.visits_assumed or stop.visits_planned for stop in each]
    extended = [stop.extended_from for stop in each if stop.extended_from is not None]
    return StopFinding(
        reason=ended,
        visits_done=sum(stop.visits_done for stop in each),
        visits_planned=sum(stop.visits_planned for stop in each),
        trials_done=sum(stop.trials_done for stop in each),
        attempts_failed=sum(stop.attempts_failed for stop in each),
        spent_s=max(stop.spent_s for stop in each),
        extended_from=sum(extended) if len(extended) == len(reasons) else None,
        visits_assumed=sum(assumed) if timed else None,
    )


def _tested(found: Mapping[str, RunFindings]) -> dict[str, dict[str, tuple[str, ...]]]:
    """What was tested on any of them."""
    tested: dict[str, dict[str, tuple[str, ...]]] = {}
    for own in found.values():
        for system, facts in own.tested.items():
            known = tested.setdefault(system, {})
            for fact, values in facts.items():
                known[fact] = tuple(dict.fromkeys((*known.get(fact, ()), *values)))
    return tested


def _disks(found: Mapping[str, RunFindings], before: Mapping[str, int]) -> Iterator[DiskFinding]:
    """The checks of each system on all machines, with the numbers that trials have together."""
    for system in next(iter(found.values())).systems:
        own = [(name, e) for name, of in found.items() for e in of.disks if e.system == system]
        damaged = [(before[name], disk) for name, each in own for disk in each.damaged]
        if own:
            yield DiskFinding(
                system=system,
                checks=sum(each.checks for _, each in own),
                unchecked=sum(each.unchecked for _, each in own),
                damaged=tuple(
                    disk
                    if disk.trial is None
                    else disk.model_copy(update={"trial": first + disk.trial})
                    for first, disk in damaged
                ),
            )


def _all(each: Sequence[Sequence[Caveat]]) -> tuple[Caveat, ...]:
    """Each once; which machine it was is no caveat where there are several."""
    found = [caveat for caveats in each for caveat in caveats]
    kept = [caveat for caveat in found if not isinstance(caveat, _ABOUT_THE_MACHINE)]
    return tuple(caveat for place, caveat in enumerate(kept) if caveat not in kept[:place])
