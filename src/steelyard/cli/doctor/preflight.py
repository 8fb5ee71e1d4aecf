"""What a study needs and its machines do not have, as checks and as lines of ``plan``."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from steelyard.cli.doctor.rules import Check, Grade
from steelyard.cli.machine_words import (
    CLOCK_DOES,
    CLOCK_REMEDY,
    KINDS_DO,
    KINDS_REMEDY,
    clock_words,
    is_skewed,
    kinds_words,
)
from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError, SteelyardError
from steelyard.hosts.clocks import WallOffset
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.kinds import Kind, kind_of, kinds_of
from steelyard.hosts.machines import LOCAL, Machines
from steelyard.hosts.secrets import missing_secrets
from steelyard.plan.make import make_plan
from steelyard.study.file.places import StudyPlaces
from steelyard.study.file.source import study_path
from steelyard.study.machines import parts_of
from steelyard.study.model import FIND, Study
from steelyard.trial.preflight import Preflight
from steelyard.trial.shortfall import Shortfall

_ANY_SEED = 1
MACHINES_AT_ONCE = 16


def preflight_checks(
    study: Study, path: Path, variant: str | None, folder: Path
) -> Iterator[Check]:
    """A bad check for each thing that is missing; ``folder`` would hold the runs."""
    file = study_path(path)
    places = StudyPlaces.of(file.read_bytes(), file, variant)
    looked = look_now(study, file, folder)
    for name, wall in looked.walls.items():
        yield _of_clock(name, wall)
    for machine, why in looked.unreachable.items():
        advice = "" if machine == LOCAL else f"try `ssh {machine}` by hand"
        yield Check("machine", "bad", why, advice, machine=machine)
    for one in looked.missing:
        name = f"{places.line_of(one.system, one.key)}: {one.key} of {one.system}"
        yield Check(name, "bad", one.cause, one.remedy or "", machine=one.machine)
    secrets = list(missing_secrets(study))
    for error in secrets:
        yield Check("secret", "bad", error.message, error.hint or "")
    kinds = kinds_of(looked.kinds.items())
    if len(kinds) > 1:
        yield Check("kinds of machines", "note", kinds_words(kinds), KINDS_DO, KINDS_REMEDY)
    if not (looked.missing or looked.unreachable or secrets):
        yield Check("needs of the study", "good", "all found that can be looked for")


def _of_clock(machine: str, wall: WallOffset) -> Check:
    grade: Grade = "note" if is_skewed(wall) else "good"
    said = clock_words(wall)
    return Check("wall clock", grade, said, CLOCK_DOES, CLOCK_REMEDY, machine=machine)


@dataclass
class Looked:
    """What is missing, the machines that could not be asked, with why, the wall clocks of all
    others but the controller's, and of which kind the machines of a study of several are.
    """

    missing: list[Shortfall] = field(default_factory=list)
    unreachable: dict[str, str] = field(default_factory=dict)
    walls: dict[str, WallOffset] = field(default_factory=dict)
    kinds: dict[str, Kind] = field(default_factory=dict)

    def add(self, other: Looked) -> None:
        self.missing += other.missing
        self.unreachable |= other.unreachable
        self.walls |= other.walls
        self.kinds |= other.kinds


def look_now(study: Study, file: Path, folder: Path) -> Looked:
    """Looks at each of the machines of the study of a file, of several at many of them at once;
    ``folder`` would hold the runs.
    """
    looked = Looked()
    with ThreadPoolExecutor(MACHINES_AT_ONCE) as pool:
        for of_one in pool.map(
            partial(_look, file.absolute().parent, folder), [*parts_of(study).values()] or [study]
        ):
            looked.add(of_one)
    return looked


def _kinds(study: Study, machines: Machines) -> dict[str, Kind]:
    """Of the machine of a part of a study."""
    if study.machine is None:
        return {}
    address = next(iter(study.systems.values())).host_machine
    return {study.machine: kind_of(machines.open(address))}


def _look(beside: Path, folder: Path, study: Study) -> Looked:
    looked = Looked()
    visits = make_plan(study, _ANY_SEED).every_visit
    cells = [trial.cell for visit in visits for trial in visit.trials]
    with Machines() as machines:
        look = Preflight(study, machines.open, str(folder), str(beside))
        asked = {repr(cell): cell for cell in cells if FIND not in cell.conditions}
        try:
            looked.missing += look.look(asked.values())
            looked.unreachable |= look.unreachable
            looked.walls |= look.walls
            with suppress(AgentRefusal, SteelyardError, SystemFailure):  # it is listed as such
                looked.kinds |= _kinds(study, machines)
        except EngineError as error:
            looked.unreachable[LOCAL] = error.message
    return looked
