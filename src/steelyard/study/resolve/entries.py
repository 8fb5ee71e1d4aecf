"""What a study names: of the catalogue, or files of the user's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from steelyard.errors import StudyError
from steelyard.study import catalogue
from steelyard.study.catalogue import Platform
from steelyard.study.declared.own_files import OwnFiles, is_path
from steelyard.study.declared.responses import Response
from steelyard.study.declared.setting import Setting
from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.grammar import StudyFile, WorkloadPart
from steelyard.study.file.source import Where
from steelyard.study.lookup import PLATFORM_FILES, WORKLOAD_FILES, responses_of
from steelyard.study.workload.entry import Workload

COMMAND = "command"
Named = TypeVar("Named", bound=BaseModel)


def named_entry(
    files: OwnFiles[Named], name: str, place: Where, complaints: Complaints
) -> tuple[Named, str | None] | None:
    """What a name means, and the text of the file if it is the user's own; ``None`` after a
    complaint where it is not there, or its file is wrong.
    """
    try:
        named = files.named(name, complaints.source.path)
    except StudyError as error:
        complaints.found |= set(error.complaints)
        return None
    if named is None and is_path(name):
        hint = f"its path is read from the folder of the study, then from `{files.shelf}` there"
        complaints.add(place, f"there is no file `{name}`", hint)
    elif named is None:
        hint = choice_hint(name, catalogue.names(files.shelf), files.shelf)
        hint += "; to use a file of your own, give its path: `./mine.yaml`"
        complaints.add(place, f"there is no {files.noun} `{name}`", hint)
    return named


def use_of(part: WorkloadPart) -> str | None:
    """What a part uses; a command needs no other word."""
    return part.use or (COMMAND if COMMAND in part.further() else None)


def entry_of(part: WorkloadPart, complaints: Complaints) -> Workload | None:
    """What a part drives; ``None`` when it is not there, or its file is wrong."""
    use = use_of(part)
    try:
        named = None if use is None else WORKLOAD_FILES.named(use, complaints.source.path)
    except StudyError:
        return None  # complained of where the part is resolved
    return None if named is None else named[0]


def parts_of(file: StudyFile) -> dict[str, WorkloadPart]:
    """Every part that is driven, by the dotted prefix of its factors."""
    if file.workload is not None:
        return {"workload": file.workload}
    return {f"workloads.{name}": part for name, part in (file.workloads or {}).items()}


def entries_of(file: StudyFile, complaints: Complaints) -> Iterator[Workload]:
    """All that is driven and known."""
    for part in parts_of(file).values():
        entry = entry_of(part, complaints)
        if entry is not None:
            yield entry


def responses_for(file: StudyFile, complaints: Complaints) -> dict[str, Response]:
    """Every response that this study can have, by name."""
    return responses_of(entries_of(file, complaints), file.events or {})


@dataclass(frozen=True)
class NamedPlatform:
    """A platform, and the text of its file if that is not of the catalogue."""

    entry: Platform
    text: str | None

    @property
    def settings(self) -> Mapping[str, Setting]:
        return self.entry.settings


def named_platforms(file: StudyFile, complaints: Complaints) -> dict[str, NamedPlatform]:
    """Every platform by the name a study gives it, without those that are not there or wrong."""
    found: dict[str, NamedPlatform] = {}
    for system, part in file.systems.items():
        place = ("systems", system, "platform")
        named = named_entry(PLATFORM_FILES, part.platform, place, complaints)
        if named is not None:
            found[part.platform] = NamedPlatform(*named)
    return found
