"""What the scenarios of a study mean: what is measured, and what runs in the background. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from steelyard.study.declared.setting import Settings
from steelyard.study.model import (
    SCENARIO,
    WORKLOAD,
    Level,
    PlacedWorkload,
    ScenarioSpec,
    Study,
    SystemSpec,
    WorkloadSpec,
)
from steelyard.study.workload.settings import SharedSettings

EACH, SAME = "*", "same"
IDLE = WorkloadSpec(use="idle")


@dataclass(frozen=True)
class WorkloadPlacement:
    """What every instance does while one workload is measured.

    ``settings`` are those that the scenario gives the measured one. ``background`` holds, by
    number, the instances that run something else instead, or nothing; ``co_located`` what runs
    together with the measured workload on one instance.
    """

    instances: int = 1
    settings: Settings = field(default_factory=dict)
    background: Mapping[int, WorkloadSpec] = field(default_factory=dict)
    co_located: Mapping[int, tuple[WorkloadSpec, ...]] = field(default_factory=dict)


def measuring(study: Study, name: str) -> tuple[str, ...]:
    """The scenarios that measure a workload: those that place it on instance 1."""
    return tuple(s.name for s in study.scenarios.values() if _named(s, name) is not None)


def placement_of(study: Study, scenario: ScenarioSpec, name: str) -> WorkloadPlacement:
    """Who does what while ``name`` is measured in a scenario.

    What stands on instance 1 is measured, each of a list in trials of its own, with the others
    beside it on the same instance. A further instance that runs the same, with settings of the
    same kind, is measured as well.
    """
    found = _named(scenario, name)
    settings = {} if found is None else found.settings
    first = tuple(_specs(study, scenario.instances[1], name))
    background: dict[int, WorkloadSpec] = {}
    co_located = {1: first} if first else {}
    count = instances_of(scenario)
    for number in range(2, count + 1):
        placed = scenario.instances.get(number, ())
        if _same(placed, name, settings):
            others = first if _says_same(placed) else tuple(_specs(study, placed, name))
            co_located |= {number: others} if others else {}
            continue
        specs = tuple(_specs(study, placed, None)) or (IDLE,)
        background[number] = specs[0]
        co_located |= {number: specs[1:]} if specs[1:] else {}
    return WorkloadPlacement(count, settings, background, co_located)


def instances_of(scenario: ScenarioSpec) -> int:
    """How many instances a scenario needs, those at the other end of its traffic included."""
    peers = (peer_of(placed.settings) for each in scenario.instances.values() for placed in each)
    return max((*scenario.instances, *(peer for peer in peers if peer is not None)))


def peer_of(settings: Settings) -> int | None:
    """The number of the instance at the other end of a workload's traffic, if it is one."""
    written = str(SharedSettings.of(settings).peer)
    return int(written) if written.isdecimal() else None


def alone(scenario: ScenarioSpec) -> bool:
    """Whether a scenario is one workload by itself on one instance."""
    placed = scenario.instances.get(1, ())
    return instances_of(scenario) == 1 and len(placed) == 1 and not placed[0].settings


def measured_count(scenario: ScenarioSpec, name: str) -> int:
    """On how many instances a workload is measured."""
    found = _named(scenario, name)
    settings = {} if found is None else found.settings
    return sum(_same(placed, name, settings) for placed in _placed(scenario, found))


@dataclass(frozen=True)
class PlacedBackground:
    """A background workload: on the instance of the measured one, or on another."""

    workload: str
    same_instance: bool


def placed_background(scenario: ScenarioSpec, name: str) -> tuple[PlacedBackground, ...]:
    """The background workloads of a measured workload, once for each instance."""
    found = _named(scenario, name)
    settings = {} if found is None else found.settings
    first = [p.workload for p in scenario.instances.get(1, ()) if p.workload not in {name, EACH}]
    background: list[PlacedBackground] = []
    for placed in _placed(scenario, found):
        names = first if _says_same(placed) else [p.workload for p in placed]
        measured = _same(placed, name, settings)
        others = (n for n in names if not (measured and n == name))
        background += [PlacedBackground(each, same_instance=measured) for each in others]
    return tuple(background)


def _placed(
    scenario: ScenarioSpec, found: PlacedWorkload | None
) -> list[tuple[PlacedWorkload, ...]]:
    """What stands on each instance; of instance 1 that with the measured one by its name."""
    if found is None:
        return []
    return [
        (PlacedWorkload(workload=SAME),) if number == 1 else placed
        for number, placed in scenario.instances.items()
    ]


def applies(study: Study, system: SystemSpec, conditions: Mapping[str, Level]) -> bool:
    """Whether a cell exists: a system of one instance takes part in scenarios of one only."""
    name = conditions.get(SCENARIO)
    scenario = study.scenarios.get(str(name)) if name is not None else None
    return scenario is None or instances_of(scenario) <= system.instances


def workload_name(study: Study, conditions: Mapping[str, Level]) -> str:
    """The workload that a cell measures."""
    return str(conditions.get(WORKLOAD, next(iter(study.workloads))))


def _named(scenario: ScenarioSpec, name: str) -> PlacedWorkload | None:
    placed = scenario.instances.get(1, ())
    return next((each for each in placed if each.workload in {name, EACH}), None)


def _says_same(placed: tuple[PlacedWorkload, ...]) -> bool:
    return any(each.workload in {SAME, EACH} for each in placed)


def _same(placed: tuple[PlacedWorkload, ...], name: str, settings: Settings) -> bool:
    """Whether an instance runs what is measured, and not something else of the same name."""
    named = [each for each in placed if each.workload == name]
    return _says_same(placed) or any(each.settings == settings for each in named)


def _specs(
    study: Study, placed: tuple[PlacedWorkload, ...], without: str | None
) -> list[WorkloadSpec]:
    """What is placed with its settings; each workload at the first of its levels."""
    return [
        placed_spec(study.workloads[each.workload], each.settings)
        for each in placed
        if each.workload in study.workloads and each.workload != without
    ]


def placed_spec(workload: WorkloadSpec, settings: Settings) -> WorkloadSpec:
    """A workload with the settings that a place gives it."""
    return workload.model_copy(update={"settings": {**workload.settings, **settings}})
