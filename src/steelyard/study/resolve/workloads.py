"""The workloads that a study names: of the catalogue, or files of the user's own."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.errors import StudyError
from steelyard.study.file.complaints import Complaints
from steelyard.study.file.grammar import StudyFile, WorkloadPart
from steelyard.study.response import Response
from steelyard.study.workload.entry import Workload
from steelyard.study.workload.own import workload_named
from steelyard.study.workload.responses import responses_of

COMMAND = "command"


def use_of(part: WorkloadPart) -> str | None:
    """What a part uses; a command needs no other word."""
    return part.use or (COMMAND if COMMAND in part.further() else None)


def entry_of(part: WorkloadPart, complaints: Complaints) -> Workload | None:
    """What a part drives; ``None`` when it is not there, or its file is wrong."""
    use = use_of(part)
    try:
        named = None if use is None else workload_named(use, complaints.source.path)
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
    return responses_of(entries_of(file, complaints))
