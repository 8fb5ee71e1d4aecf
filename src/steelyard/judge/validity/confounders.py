"""What differs between the compared systems, declared or not: the confounder audit."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal

from steelyard.judge.kinds.caveats import AcceptedNotFound
from steelyard.judge.kinds.verdict_notes import CAUSES
from steelyard.judge.validity.facts import is_declared, leads, subject_of
from steelyard.judge.validity.findings import FACT_SUBJECTS, DifferenceFinding
from steelyard.plan.model import Cell, Plan
from steelyard.records.schema import TrialRecord
from steelyard.study.bind import bound_system
from steelyard.study.labels import setting_of
from steelyard.study.lookup import has_agent
from steelyard.study.model import Study, SystemSpec
from steelyard.units import format_level

_MADE_BY_PROGRAMS = re.compile(r"disk\.(loop|nbd|zram|ram)\d")

_NUMBER = re.compile(r"\d+(\.\d+)?(e-?\d+)?")

Seen = Mapping[str, Mapping[str, set[str | None]]]


def difference_findings(
    study: Study, plan: Plan, records: Sequence[TrialRecord]
) -> Iterator[DifferenceFinding]:
    """Facts that set the systems apart, of the study file and found on machines, gravest first.

    A fact that varies between visits of one system (a process number, a disk that somebody plugs
    in meanwhile) sets none apart; one that only some systems have does. ``accepted_differences`` of
    the study keep their reason.
    """
    declared = declared_differences(study, plan)
    unseen = {name for name, system in study.systems.items() if not has_agent(system)}
    seen = _facts(records, unseen)
    found = {fact: systems for fact, systems in seen.items() if _sets_apart(systems)}
    for fact in sorted(set(found) | set(declared), key=_rank):
        values = _by_system(seen[fact], plan.systems) if fact in seen else declared[fact]
        yield DifferenceFinding(
            fact=fact,
            values={system: _written(fact, text, study) for system, text in values.items()},
            subject=subject_of(fact),
            declared=is_declared(fact, declared, seen_by_all=None not in values.values()),
            accepted=study.accepted_differences.get(fact),
        )


def _written(fact: str, text: str | None, study: Study) -> str | None:
    """A quantity that a setting of the study has, with the unit that its author would write."""
    setting = setting_of(fact, study.systems, study.workloads)
    if text is None or setting is None or not _NUMBER.fullmatch(text):
        return text
    return format_level(Decimal(text), setting.kind)


def unused_acceptances(
    study: Study, found: Sequence[DifferenceFinding]
) -> Iterator[AcceptedNotFound]:
    """Differences that the study accepts and that are none: a name with a mistake, or outdated."""
    differ = {each.fact for each in found} | {str(cause) for cause in CAUSES}
    facts = tuple(fact for fact in study.accepted_differences if fact not in differ)
    if facts:
        yield AcceptedNotFound(facts=facts)


def _rank(fact: str) -> tuple[bool, int, str]:
    return not leads(fact), FACT_SUBJECTS.index(subject_of(fact)), fact


def varying_facts(records: Sequence[TrialRecord]) -> dict[str, tuple[str, ...]]:
    """Facts that changed within a system but are known to some constancy, and with which factors.

    Only those that took few values. Without factors: a machine that was changed while it was
    measured. A fact that is a factor itself is none.
    """
    return {
        fact: factors
        for fact, systems in sorted(_facts(records).items())
        if any(1 < len(values) <= 3 for values in systems.values()) and len(records) > 6
        if (factors := _changes_with(fact, records)) != (fact,)
    }


def _changes_with(fact: str, records: Sequence[TrialRecord]) -> tuple[str, ...]:
    """The one factor, or else all of them, at each level of which a system has one value."""
    machine, _, name = fact.rpartition(": ")
    told = [(r.cell, facts[name]) for r in records if name in (facts := _of(r, machine))]
    every = tuple(dict.fromkeys(factor for cell, _ in told for factor in cell.conditions))
    for factors in ((fact,), *((factor,) for factor in every), every):
        found: dict[object, set[str | None]] = defaultdict(set)
        for cell, value in told:
            found[cell.system, tuple(cell.conditions.get(each) for each in factors)].add(value)
        if factors and len(found) < len(told) and all(len(each) == 1 for each in found.values()):
            return factors
    return ()


def _of(record: TrialRecord, machine: str) -> Mapping[str, str | None]:
    return record.facts.get(machine or "system", {})


def declared_differences(study: Study, plan: Plan) -> dict[str, dict[str, str | None]]:
    """What the study file itself gives to the systems in different measure, by dotted name."""
    known = {*study.named, *study.systems}
    written = {
        name: _declared(bound_system(study, Cell(system=name, conditions={})))
        for name in plan.systems
        if name in known
    }
    names = sorted({fact for facts in written.values() for fact in facts})
    rows = {fact: {system: facts.get(fact) for system, facts in written.items()} for fact in names}
    return {fact: values for fact, values in rows.items() if len(set(values.values())) > 1}


def _declared(system: SystemSpec) -> dict[str, str | None]:
    facts: dict[str, str | None] = {"system.platform": system.platform}
    facts |= {f"system.{name}": _text(value) for name, value in system.settings.items()}
    if system.reset is not None:
        facts["system.reset"] = system.reset
    if system.instances != 1:
        facts["system.instances"] = str(system.instances)
    facts |= {f"settings.{name}": _text(value) for name, value in system.inside.items()}
    facts |= {f"host_settings.{name}": _text(value) for name, value in system.outside.items()}
    for disk, settings in system.disks.items():
        facts |= {f"disks.{disk}.{name}": _text(value) for name, value in settings.items()}
    if system.service is not None:
        facts["service.use"] = system.service.use
        settings = system.service.settings
        facts |= {f"service.{name}": _text(value) for name, value in settings.items()}
    return facts


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _facts(
    records: Sequence[TrialRecord], unseen: Collection[str] = ()
) -> dict[str, dict[str, set[str | None]]]:
    """Values seen by fact and system. Facts of other machines carry the machine's part.

    A system that was seen without a fact of its own machine has ``None`` of it, unless it is one of
    those ``unseen``, which carry no agent. Devices that any
    program makes and removes (loop devices and their like) say nothing of a system.
    """
    seen: dict[str, dict[str, set[str | None]]] = defaultdict(lambda: defaultdict(set))
    for record in records:
        for machine, facts in record.facts.items():
            for name, value in facts.items():
                if _MADE_BY_PROGRAMS.match(name):
                    continue
                fact = name if machine == "system" else f"{machine}: {name}"
                seen[fact][record.cell.system].add(value)
    known = {r.cell.system for r in records if "system" in r.facts} - set(unseen)
    for fact, systems in seen.items():
        for system in known - systems.keys() if ": " not in fact else ():
            systems[system].add(None)
    return seen


def _sets_apart(systems: Mapping[str, set[str | None]]) -> bool:
    """Whether every system is constant in this fact, as far as it was read, and two differ."""
    told = [frozenset(values - {None}) or {None} for values in systems.values()]
    return all(len(values) == 1 for values in told) and any(values != told[0] for values in told)


def _by_system(
    systems: Mapping[str, set[str | None]], names: Sequence[str]
) -> dict[str, str | None]:
    joined = {}
    for name in names:
        told = sorted(value for value in systems.get(name, ()) if value is not None)
        joined[name] = ", ".join(told) if told else None
    return joined
