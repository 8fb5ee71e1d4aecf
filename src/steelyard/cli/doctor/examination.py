"""What ``steelyard doctor`` looks at, in its order."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import mkdtemp

from steelyard.cli.console import say
from steelyard.cli.doctor.machine import machine_checks
from steelyard.cli.doctor.platform import MARKS
from steelyard.cli.doctor.preflight import MACHINES_AT_ONCE
from steelyard.cli.doctor.readings import facts_now
from steelyard.cli.doctor.resolution import resolution_checks
from steelyard.cli.doctor.rules import Check, limit_checks
from steelyard.engine.agent import AgentRefusal
from steelyard.engine.locate import check_version, find_engine
from steelyard.errors import SteelyardError
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.machines import LOCAL, open_machine
from steelyard.study.lookup import machines_of_events
from steelyard.study.machines import parts_of
from steelyard.study.model import Study
from steelyard.trial.wall_clocks import place_of
from steelyard.units import format_bytes


def checked(results: Path, ratio: float | None, study: Study | None) -> list[Check]:
    """Of the engine, of this machine and its disk, and of what a study needs besides.

    ``ratio`` is a margin whose price is asked.
    """
    checks = [*_engine_checks()]
    if all(check.grade != "bad" for check in checks):
        checks += _local_checks(results.absolute(), ratio)
        others = set() if study is None else machines_of(study) - {LOCAL}
        with ThreadPoolExecutor(MACHINES_AT_ONCE) as pool:
            for of_one in pool.map(_checks_of, sorted(others)):
                checks += of_one
    if study is not None:
        checks += limit_checks(study)
    return checks


def printed(checks: Sequence[Check], *, as_json: bool) -> None:
    if as_json:
        say(json.dumps([_document(check) for check in checks], indent=2))
        return
    for check in checks:
        where = "" if check.machine == LOCAL else f"{check.machine}: "
        say(f"{MARKS[check.grade]}  {where}{check.name}: {check.seen}")
        if check.advice and check.grade != "good":
            remedy = f"; {check.remedy}" if check.remedy else ""
            remedy += ", or `steelyard doctor --fix`" if check.fix else ""
            say(f"        {check.advice}{remedy}")


def _document(check: Check) -> dict[str, str | dict[str, str] | None]:
    found = asdict(check)
    return {
        "machine": found["machine"],
        "name": found["name"],
        "verdict": found["grade"],
        "value": found["seen"],
        "reason": None if check.grade == "good" else found["advice"],
        "remedy": None if check.grade == "good" else found["remedy"],
        "fix": None if check.fix is None else dict([check.fix]),
    }


def _local_checks(results: Path, ratio: float | None) -> Iterator[Check]:
    host, folder = open_machine(LOCAL), existing(results)
    try:
        yield from machine_checks(facts_now(host))
        refused = _not_writable(results, folder)
        yield refused or _space(host, folder)
        if ratio is not None and refused is None:
            yield from resolution_checks(host, folder, ratio)
    finally:
        host.close()


def _checks_of(name: str) -> list[Check]:
    """Of another machine; one that cannot be reached is the finding."""
    try:
        host = open_machine(name)
    except (SteelyardError, SystemFailure) as error:
        return [Check("machine", "bad", error.message, error.hint or "", machine=name)]
    try:
        return [replace(check, machine=name) for check in machine_checks(facts_now(host))]
    finally:
        host.close()


def _engine_checks() -> Iterator[Check]:
    system = platform.system()
    yield Check("system", "good" if system == "Linux" else "bad", system, "Linux is needed")
    try:
        engine = find_engine()
        yield Check("engine", "good", f"{engine}, version {check_version(engine)}")
    except SteelyardError as error:
        yield Check("engine", "bad", error.message, error.hint)


def existing(folder: Path) -> Path:
    """The folder, or the nearest above it that is there already."""
    return next(each for each in (folder, *folder.parents) if each.exists())


def _not_writable(results: Path, folder: Path) -> Check | None:
    """Where no run can be kept: tried with a folder that is made and removed again."""
    remedy = "name a folder that you may write to with --results"
    try:
        Path(mkdtemp(prefix=".steelyard-", dir=folder)).rmdir()
    except NotADirectoryError:
        return Check("disk of the results", "bad", f"{folder} is no folder", remedy)
    except OSError as error:
        seen = f"{results} cannot keep runs: {folder}: {error.strerror}"
        return Check("disk of the results", "bad", seen, remedy)
    return None


def _space(host: Host, folder: Path) -> Check:
    try:
        facts = host.path_facts(str(folder))
    except AgentRefusal as refusal:
        return Check("disk of the results", "bad", refusal.failure.message, refusal.failure.hint)
    if facts.free_bytes is None:
        return Check("disk of the results", "note", "free space not told", "look with df")
    seen = f"{facts.filesystem or 'unknown filesystem'} on {facts.device or 'no block device'}"
    seen += f", {format_bytes(facts.free_bytes)} free"
    if facts.device is None:
        advice = "no disk lies behind this folder: a study of disks needs --results on one"
        return Check("disk of the results", "note", seen, advice)
    enough = facts.free_bytes > 1024**3
    return Check("disk of the results", "good" if enough else "note", seen, "free at least 1 GiB")


def machines_of(study: Study) -> set[str]:
    """Those that carry a system or are one, those that drive the load, and those of events."""
    parts = [*parts_of(study).values()] or [study]
    systems = [system for part in parts for system in part.systems.values()]
    hosts = {machine for system in systems for machine in (system.host_machine, place_of(system))}
    return hosts.union(study.generator.hosts, machines_of_events(study).values())
