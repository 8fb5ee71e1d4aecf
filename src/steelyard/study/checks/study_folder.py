"""Files beside a study, ``{study}``: only what runs on this machine itself can read them, and
only by that name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from steelyard.study.declared.placeholders import placeholders
from steelyard.study.declared.setting import Setting, Settings
from steelyard.study.file.complaints import Complaints
from steelyard.study.file.source import Where
from steelyard.study.lookup import service_of, workload_of
from steelyard.study.model import ServiceSpec, Study, SystemSpec, WorkloadSpec
from steelyard.study.resolve.entries import COMMAND
from steelyard.study.service.placeholders import texts_of as texts_of_service
from steelyard.study.workload.placeholders import texts_of as texts_of_workload

_LOCAL = "local"
_NAME = "study"


def check_study_folder(study: Study, complaints: Complaints) -> None:
    """Adds one complaint for each system or workload that asks for the folder from elsewhere."""
    for where, place in _asking_elsewhere(study):
        hint = "copy them there and give their path, or write them under `files` of the file"
        complaints.add(where, f"`{{study}}` is a folder of this machine, and {place}", hint)
    for where, workload in _driven(study):
        words = workload.settings.get(COMMAND) if workload.use == COMMAND else None
        first = str(words[0]) if isinstance(words, tuple) and words else ""
        if "/" in first and not first.startswith(("/", "{", "@")):
            message = f"`{first}` is not there: a command runs in an empty folder of its trial"
            hint = f"write `{{study}}/{first.removeprefix('./')}`, or the whole path"
            complaints.add((*where, COMMAND, 0), message, hint)


def check_notes(study: Study, complaints: Complaints) -> None:
    """Adds a folder of notes that is not there; a run keeps a copy, and is read without it."""
    notes = study.report.notes
    if notes is None or (complaints.source.path.parent / notes).is_dir():
        return
    hint = "make that folder beside the study; a note can also be written into that of the run"
    complaints.add(("report", "notes"), f"there is no folder `{notes}`", hint)


def _asking_elsewhere(study: Study) -> Iterator[tuple[Where, str]]:
    away = [system for system in study.systems.values() if not _is_here(system)]
    for system in away:
        if system.service is not None and _service_asks(system.service):
            yield ("systems", system.name), f"`{system.name}` is another one"
    for where, workload in _driven(study):
        on_system = workload_of(workload).on == "system"
        if not _workload_asks(workload):
            continue
        if on_system and away:
            yield where, f"it runs on `{away[0].name}`, which is another one"
        if not on_system and study.generator.host != _LOCAL:
            yield where, f"it runs on {study.generator.host}"


def _driven(study: Study) -> Iterator[tuple[Where, WorkloadSpec]]:
    for name, workload in study.workloads.items():
        yield ("workloads", name) if len(study.workloads) > 1 else ("workload",), workload
    for instance, workload in study.background.items():
        yield ("background", instance), workload


def _is_here(system: SystemSpec) -> bool:
    return system.platform == "native" and system.host_machine == _LOCAL


def _service_asks(spec: ServiceSpec) -> bool:
    entry = service_of(spec)
    texts = [text for _, text in texts_of_service(entry)]
    return _NAME not in entry.settings and _asks(texts)


def _workload_asks(spec: WorkloadSpec) -> bool:
    entry = workload_of(spec)
    texts = [text for _, text in texts_of_workload(entry)]
    texts += _own_texts(spec.settings, entry.settings)
    served = spec.service is not None and _service_asks(spec.service)
    return served or (_NAME not in entry.settings and _asks(texts))


def _own_texts(values: Settings, declared: dict[str, Setting]) -> Iterator[str]:
    """Values of settings whose own placeholders are filled."""
    for name, setting in declared.items():
        value = values.get(name)
        if setting.holds_placeholders and value is not None:
            yield from map(str, value if isinstance(value, tuple) else (value,))


def _asks(texts: Iterable[str]) -> bool:
    return any(place.name == _NAME for text in texts for place in placeholders(text))
