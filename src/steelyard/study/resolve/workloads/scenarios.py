"""What runs on which instance: read, and held against the workloads and systems of the study."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.study.declared.setting import SettingValue
from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.grammar import StudyFile
from steelyard.study.file.kinds import shown
from steelyard.study.file.source import Where
from steelyard.study.lookup import known_workload
from steelyard.study.model import PlacedWorkload, ScenarioSpec, SystemSpec, WorkloadSpec
from steelyard.study.resolve.settings import Factors, read_settings
from steelyard.study.scenarios import EACH, SAME, instances_of, peer_of


def resolve_scenarios(
    file: StudyFile,
    workloads: Mapping[str, WorkloadSpec],
    systems: Mapping[str, SystemSpec],
    factors: Factors,
    complaints: Complaints,
) -> dict[str, ScenarioSpec]:
    """Every scenario by its name; what no system can play is complained about."""
    found = {}
    for name, written in (file.scenarios or {}).items():
        instances = {}
        for number, placed in written.items():
            where: Where = ("scenarios", name, number)
            if not number.isdecimal() or int(number) < 1:
                hint = "write `1: ...`, `2: ...`"
                complaints.add(where, f"`{number}` is not an instance number", hint)
                continue
            instances[int(number)] = _placed(placed, where, workloads, complaints)
        scenario = ScenarioSpec(name=name, instances=dict(sorted(instances.items())))
        if _has_first(scenario, written, complaints):
            found[name] = scenario
            _check_peers(scenario, complaints)
            _check_instances(scenario, systems, complaints)
    _check_others(file, found, factors, complaints)
    return found


def _placed(
    written: object, where: Where, workloads: Mapping[str, WorkloadSpec], complaints: Complaints
) -> tuple[PlacedWorkload, ...]:
    if isinstance(written, dict):
        items: list[tuple[str, Where, object]] = [
            (str(key), (*where, key), value) for key, value in written.items()
        ]
    elif isinstance(written, list):
        items = [(str(key), (*where, i), None) for i, key in enumerate(written)]
    else:
        items = [(str(written), where, None)]
    placed = []
    for name, place, settings in items:
        if name not in (*workloads, EACH, SAME):
            hint = choice_hint(name, list(workloads), "workloads of this study")
            complaints.add(place, f"there is no workload `{name}`", hint)
            continue
        if settings is not None and not isinstance(settings, dict):
            message = f"settings must be a mapping, not {shown(settings)}"
            complaints.add(place, message, "write `{peer: 2}`")
            continue
        kept = _settings(settings or {}, workloads.get(name), place, complaints)
        placed.append(PlacedWorkload(workload=name, settings=kept))
    return tuple(placed)


def _settings(
    written: Mapping[str, object],
    workload: WorkloadSpec | None,
    where: Where,
    complaints: Complaints,
) -> dict[str, SettingValue]:
    """Those that were written, read as those of the workload; a place has one level of each."""
    if not written:
        return {}
    entry = None if workload is None else known_workload(workload)
    if workload is None or entry is None:
        hint = "name the workload that has them"
        complaints.add(where, "these settings belong to no workload", hint)
        return {}
    noun = f"settings of {workload.use}"
    values, levels = read_settings(written, entry.settings, where, complaints, noun=noun)
    for key in levels:
        hint = "give the list to the workload itself"
        complaints.add((*where, key), f"`{key}` cannot be a list in a scenario", hint)
    return {key: values[key] for key in written if key in values}


def _has_first(
    scenario: ScenarioSpec, written: Mapping[str, object], complaints: Complaints
) -> bool:
    """Whether instance 1 runs something; one that was complained about needs no second word."""
    where: Where = ("scenarios", scenario.name)
    first = scenario.instances.get(1, ())
    if not first and "1" in written:
        return False
    if not first:
        hint = 'write `1: "*"`: instance 1 is measured'
        complaints.add(
            where, f"scenario `{scenario.name}` has no measured workload", hint, at_key=True
        )
        return False
    if any(each.workload == SAME for each in first):
        hint = '`same` is for further instances; write `1: "*"`'
        complaints.add((*where, "1"), "instance 1 cannot run the same as itself", hint)
        return False
    return True


def _check_peers(scenario: ScenarioSpec, complaints: Complaints) -> None:
    """The other end of a workload's traffic must have nothing else to do."""
    for number, placed in scenario.instances.items():
        for each in placed:
            peer = peer_of(each.settings)
            if peer in scenario.instances:
                where: Where = ("scenarios", scenario.name, str(number), each.workload, "peer")
                hint = "take it out of the scenario, or name another"
                complaints.add(where, f"instance {peer} runs another workload", hint)


def _check_instances(
    scenario: ScenarioSpec, systems: Mapping[str, SystemSpec], complaints: Complaints
) -> None:
    """A system of several instances must have enough; one of one takes no part, if others do."""
    needed = instances_of(scenario)
    where: Where = ("scenarios", scenario.name)
    for system in systems.values():
        if 1 < system.instances < needed:
            hint = f"write `instances: {needed}` for it"
            message = (
                f"scenario `{scenario.name}` needs {needed} instances, "
                f"`{system.name}` has {system.instances}"
            )
            complaints.add(where, message, hint, at_key=True)
    if all(system.instances == 1 for system in systems.values()) and needed > 1:
        hint = f"give `instances: {needed}` to those that have as many"
        message = f"scenario `{scenario.name}` needs {needed} instances, no system has them"
        complaints.add(where, message, hint, at_key=True)


def _check_others(
    file: StudyFile, found: Mapping[str, ScenarioSpec], factors: Factors, complaints: Complaints
) -> None:
    """Scenarios say all about instances themselves."""
    if not found:
        return
    if file.background:
        hint = 'write it as a scenario: `{1: "*", 2: NAME}`'
        complaints.add(
            ("background",), "scenarios say what runs in the background", hint, at_key=True
        )
    if "system.instances" in factors:
        hint = 'write a scenario for each number: `{1: "*", 2: same}`'
        where: Where = ("factors", "system.instances")
        complaints.add(where, "scenarios say how many instances run", hint, at_key=True)
