"""What a study means by a workload: one of the catalogue, or a file of the user's own."""

from __future__ import annotations

from collections.abc import Iterable

from steelyard.study import catalogue
from steelyard.study.file.complaints import Complaints
from steelyard.study.model import WorkloadSpec
from steelyard.study.own_files import OwnFiles
from steelyard.study.workload.checks import mistakes, setting_mistakes
from steelyard.study.workload.entry import Workload

_OF_THE_CATALOGUE = ("shares", "calibration", "probe", "request_times")


def _check(entry: Workload, complaints: Complaints) -> None:
    tool = entry.is_tool  # without a command, what else a tool says is no mistake of its own
    found = mistakes(entry, catalogue.responses()) if tool else setting_mistakes(entry)
    for mistake in found:
        complaints.add(mistake.where, mistake.message, mistake.hint)
    if not tool:
        hint = "write `command: [PROGRAM, ...]`: the words that are measured"
        complaints.add(("command",), "there is no command", hint)


def _refused(complaints: Complaints) -> None:
    for key in _OF_THE_CATALOGUE:
        if complaints.source.tree.get(key):
            message = f"`{key}` is for workloads of the catalogue"
            complaints.add((key,), message, "take it out", at_key=True)


FILES = OwnFiles(
    shelf="workloads",
    slug="workload-file-is-wrong",
    model=Workload,
    shipped=catalogue.workload,
    check=_check,
    refused=_refused,
)
workload_named, read_workload, parse_workload = FILES.named, FILES.read, FILES.parse


def known_workload(spec: WorkloadSpec) -> Workload | None:
    """As :func:`workload_of`; ``None`` when the study names a workload that is not there."""
    entry = FILES.known(spec.use, spec.text)
    return None if entry is None else entry.spoken_with(spec.settings)


def workload_of(spec: WorkloadSpec) -> Workload:
    """What a workload declares: its user's own file, or that of the catalogue."""
    return FILES.of(spec.use, spec.text).spoken_with(spec.settings)


def own_texts(workloads: Iterable[WorkloadSpec]) -> dict[str, str]:
    """Texts of the user's own workloads by the path that a run keeps them under."""
    return {FILES.kept_name(spec.use): spec.text for spec in workloads if spec.text is not None}
