"""What the studies will take, and what this machine lacks for them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.published.listing import Task

from steelyard.cli.doctor.examination import existing
from steelyard.cli.doctor.preflight import look_now
from steelyard.cli.planning.plan import plan_study
from steelyard.hosts.machines import Machines
from steelyard.plan.make import planned
from steelyard.study.ending import length_is_known
from steelyard.study.file.source import study_path
from steelyard.study.model import Study, SystemSpec
from steelyard.systems.qemu.accelerator import kvm_fails
from steelyard.units import format_bytes


@dataclass(frozen=True)
class Forecast:
    """The plan of one study in figures, those of all its machines together.

    ``takes_s`` is the forecast of ``steelyard plan``, without the runs of what no one knows the
    length of where ``is_longer``. ``most_s`` is the budget of time, ``None`` where it has none.
    """

    task: Task
    study: Study
    cells: int
    visits: int
    trials: int
    disk_bytes: int
    takes_s: float
    is_longer: bool
    most_s: float | None


def forecast(task: Task) -> Forecast:
    """Of a study as it would be planned now.

    Raises:
        StudyError: it is wrong, or this version cannot run it.
    """
    study, whole = plan_study(task.path, task.variant, seed=None, budget=task.budget)
    plans = [each.plan for each in planned(study, whole).values()] or [whole]
    visits = [visit for plan in plans for visit in plan.every_visit]
    return Forecast(
        task=task,
        study=study,
        cells=sum(len(plan.every_cell) for plan in plans),
        visits=len(visits),
        trials=sum(len(visit.trials) for visit in visits),
        disk_bytes=sum(plan.forecast.disk_bytes for plan in plans),
        takes_s=sum(plan.forecast.total_s for plan in plans),
        is_longer=not length_is_known(study),
        most_s=study.trials.budget.time_s,
    )


def lacking(
    planned_now: Sequence[Forecast], results: Path, *, reduced: bool
) -> dict[str, list[str]]:
    """What is missing before any of these can start, each with the studies that it is missing for.

    Raises:
        EngineError: the engine is missing or of another version.
    """
    found: dict[str, list[str]] = {}
    for each in planned_now:
        for cause in _missing(each.study, study_path(each.task.path), results):
            found.setdefault(cause, []).append(each.task.name)
    found |= {} if reduced else _emulated(planned_now)
    needed = sum(each.disk_bytes for each in planned_now)
    free = shutil.disk_usage(existing(results.absolute())).free
    if needed > free:
        cause = f"{format_bytes(needed)} of results, where {results} has {format_bytes(free)} left"
        found[cause] = [each.task.name for each in planned_now]
    return found


def _missing(study: Study, file: Path, results: Path) -> Iterator[str]:
    looked = look_now(study, file, existing(results.absolute()))
    for one in looked.missing:
        yield one.cause if one.remedy is None else f"{one.cause}; {one.remedy}"
    for machine, why in looked.unreachable.items():
        yield f"{machine} cannot be asked: {why}"


def _emulated(planned_now: Sequence[Forecast]) -> dict[str, list[str]]:
    """At the published size no guest is emulated: its figures would be those of emulation."""
    names = [
        each.task.name for each in planned_now if any(map(_wants_kvm, each.study.systems.values()))
    ]
    if not names:
        return {}
    with Machines() as machines:
        fails = kvm_fails(machines.open("local"))
    return {} if fails is None else {f"KVM: {fails}; with REDUCED=1 guests are emulated": names}


def _wants_kvm(system: SystemSpec) -> bool:
    here = system.host_machine == "local" and system.platform == "qemu"
    return here and system.settings.get("accel") != "tcg"
