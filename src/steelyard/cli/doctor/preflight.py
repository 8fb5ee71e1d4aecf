"""What a study needs and its machines do not have, as checks and as lines of ``plan``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from steelyard.cli.doctor.rules import Check
from steelyard.errors import EngineError
from steelyard.hosts.machines import Machines
from steelyard.plan.make import make_plan
from steelyard.study.file.places import StudyPlaces
from steelyard.study.file.source import study_path
from steelyard.study.machines import parts_of
from steelyard.study.model import FIND, Study
from steelyard.trial.preflight import Preflight, Shortfall

_ANY_SEED = 1


def preflight_checks(
    study: Study, path: Path, variant: str | None, folder: Path
) -> Iterator[Check]:
    """A bad check for each thing that is missing; ``folder`` would hold the runs."""
    file = study_path(path)
    places = StudyPlaces.of(file.read_bytes(), file, variant)
    found, unreachable = missing_now(study, folder)
    for one in found:
        name = f"{places.line_of(one.system, one.key)}: {one.key} of {one.system}"
        yield Check(name, "bad", one.cause, one.remedy or "", machine=one.machine)
    if not found and not unreachable:
        yield Check("needs of the study", "good", "all found that can be looked for")


def missing_now(study: Study, folder: Path) -> tuple[list[Shortfall], dict[str, str]]:
    """What is missing, and the machines that could not be asked, with why; each of several."""
    found = [_missing(part, folder) for part in parts_of(study).values() or [study]]
    missing = [one for each, _ in found for one in each]
    return missing, {name: why for _, each in found for name, why in each.items()}


def _missing(study: Study, folder: Path) -> tuple[list[Shortfall], dict[str, str]]:
    visits = make_plan(study, _ANY_SEED).every_visit
    cells = [trial.cell for visit in visits for trial in visit.trials]
    with Machines() as machines:
        look = Preflight(study, machines.open, str(folder))
        asked = {repr(cell): cell for cell in cells if FIND not in cell.conditions}
        try:
            return look.look(asked.values()), look.unreachable
        except EngineError as error:
            return [], {"local": error.message}
