"""What servers and tools of a study need of the machine they run on: from their own files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from steelyard.plan.model import Plan
from steelyard.study.bind import BoundCell, bind
from steelyard.study.lookup import workload_of
from steelyard.study.model import Study
from steelyard.systems.services.preflight import services_within
from steelyard.trial.session_state.calibrate import cell_key


@dataclass(frozen=True)
class Needs:
    """Of one server or tool: ``accounts`` are the users it runs as where root starts it.

    ``packages`` have the programs, by distribution. ``root`` says why it takes root, if it does.
    """

    machine: str
    use: str
    programs: tuple[str, ...] = ()
    accounts: tuple[str, ...] = ()
    packages: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    root: str = ""


def needs_of(study: Study, plan: Plan) -> list[Needs]:
    """Each once, by machine or system."""
    cells = [trial.cell for visit in plan.every_visit for trial in visit.trials]
    bound = [bind(study, cell) for cell in {cell_key(cell): cell for cell in cells}.values()]
    found = {
        repr(each): each
        for cell in bound
        for each in (*_of_services(cell), *_of_tools(study, cell))
        if each.programs or each.accounts or each.root
    }
    return list(found.values())


def _place(bound: BoundCell) -> str:
    system = bound.system
    return system.host_machine if system.platform == "native" else system.name


def _of_services(bound: BoundCell) -> Iterator[Needs]:
    for number in range(1, bound.system.instances + 1):
        service = bound.service_of(number)
        for spec, entry in () if service is None else services_within(service):
            yield Needs(
                machine=_place(bound),
                use=spec.use,
                programs=entry.requires,
                accounts=tuple(dict.fromkeys(entry.accounts.values())),
                packages=dict(entry.packages),
                root="it starts as root only" if entry.needs == "root" else "",
            )


def _of_tools(study: Study, bound: BoundCell) -> Iterator[Needs]:
    for number in range(1, bound.system.instances + 1):
        for workload in (bound.workload_of(number), *bound.co_located.get(number, ())):
            entry = workload_of(workload)
            if entry.is_tool:
                yield Needs(
                    machine=_place(bound) if entry.on == "system" else study.generator.host,
                    use=workload.use,
                    programs=entry.requires,
                    packages=dict(entry.packages),
                    root="it runs as root only" if entry.needs == "root" else "",
                )
