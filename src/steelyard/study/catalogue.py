"""What a study file can name: workloads, platforms, services, meters, shipped as data.

One YAML file each in ``steelyard/catalogue``; folders there only sort them. ``runs: false``
marks what the grammar knows and this version cannot run yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources.abc import Traversable
from typing import Literal

from pydantic import ConfigDict, TypeAdapter

from steelyard.study.declared.responses import responses
from steelyard.study.declared.setting import Entry, Setting
from steelyard.study.file.complaints import Mistake
from steelyard.study.file.meanings import DESCRIBED
from steelyard.study.meter.checks import mistakes as mistakes_of_meter
from steelyard.study.meter.entry import Meter
from steelyard.study.meter.entry import SharedSettings as MeterSettings
from steelyard.study.model import Reset
from steelyard.study.platform.entry import Commands
from steelyard.study.platform.settings import DRIVEN_SETTINGS, DiskSettings
from steelyard.study.platform.settings import SharedSettings as PlatformSettings
from steelyard.study.service.checks import mistakes
from steelyard.study.service.entry import SERVICE_SETTINGS, Service
from steelyard.study.service.entry import SharedSettings as ServiceSettings
from steelyard.study.settings import SettingsModel, model_mistakes
from steelyard.study.shipped import content_of, shipped, text_of
from steelyard.study.workload.checks import mistakes as mistakes_of_workload
from steelyard.study.workload.entry import Workload
from steelyard.study.workload.settings import ENGINE_SETTINGS
from steelyard.study.workload.settings import SharedSettings as WorkloadSettings

Shelf = Literal["workloads", "platforms", "services", "meters"]
Kept = Shelf | Literal["imports"]


class Platform(Entry):
    """A kind of place a system lives in, and how thoroughly it can be reset."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, **DESCRIBED)

    summary: str
    """One sentence that says what the platform is."""
    resets: tuple[Reset, ...]
    """How thoroughly it can be reset, weakest first."""
    driver: Literal["own", "command_line"] = "own"
    """Who drives it: a class of its own, or the commands of this file."""
    verified: bool = True
    """Whether it has run on the real thing; a test against a mock is not that."""
    since: str = ""
    """The version that brought it."""
    runs: bool = True
    """Whether this version can run it."""
    settings: dict[str, Setting]
    """Settings that a study may give, by name."""
    commands: Commands | None = None
    """The commands of a platform with the driver `command_line`."""


@cache
def _files(shelf: Kept) -> dict[str, Traversable]:
    """The file of each entry, by name."""

    def below(folder: Traversable) -> Iterator[Traversable]:
        for each in folder.iterdir():
            yield from below(each) if each.is_dir() else [each]

    found = below(shipped(shelf))
    return {f.name.removesuffix(".yaml"): f for f in found if f.name.endswith(".yaml")}


_Mapping = TypeAdapter(dict[str, object])
_Groups = TypeAdapter(dict[str, dict[str, object]])
_Settings = TypeAdapter(dict[str, Setting])


def file(shelf: Kept, name: str) -> Traversable:
    """The file of an entry."""
    return _files(shelf)[name]


def text(shelf: Kept, name: str) -> str:
    """That file, as it is written."""
    return text_of(file(shelf, name))


@cache
def _groups() -> dict[str, dict[str, object]]:
    return _Groups.validate_python(content_of(shipped("shared.yaml")))


def _entry(shelf: Shelf, name: str) -> dict[str, object]:
    """An entry as written, with the settings of the groups it shares before its own."""
    own = _Mapping.validate_python(content_of(file(shelf, name)))
    shares = own.get("shares")
    settings: dict[str, object] = {}
    for group in shares if isinstance(shares, list) else ():
        settings |= _groups()[group]
    return own | {"settings": settings | _Mapping.validate_python(own["settings"])}


@cache
def names(shelf: Kept) -> tuple[str, ...]:
    """Names of all entries of one kind, sorted."""
    return tuple(sorted(_files(shelf)))


@cache
def workload(name: str) -> Workload:
    """The workload of this name, which must be one of ``names``; every text of it is checked."""
    entry = Workload.model_validate(_entry("workloads", name))
    _refuse("workload", name, mistakes_of_workload(entry, responses()))
    _refuse_models("workload", name, entry.settings, ENGINE_SETTINGS, WorkloadSettings)
    return entry


@cache
def platform(name: str) -> Platform:
    """The platform of this name, which must be one of ``names``."""
    entry = Platform.model_validate(_entry("platforms", name))
    _refuse_models("platform", name, entry.settings, DRIVEN_SETTINGS, PlatformSettings)
    return entry


@cache
def service(name: str) -> Service:
    """The service of this name, which must be one of ``names``; every text of it is checked."""
    entry = Service.model_validate(_entry("services", name))
    _refuse("service", name, mistakes(entry, partners(entry)))
    _refuse_models("service", name, entry.settings, SERVICE_SETTINGS, ServiceSettings)
    return entry


@cache
def meter(name: str) -> Meter:
    """The meter of this name, which must be one of ``names``; every text of it is checked."""
    entry = Meter.model_validate(_entry("meters", name))
    _refuse("meter", name, mistakes_of_meter(entry))
    _refuse_models("meter", name, entry.settings, {}, MeterSettings)
    return entry


def _refuse(noun: str, name: str, found: Iterable[Mistake]) -> None:
    wrong = [f"{mistake.where}: {mistake.message}" for mistake in found]
    if wrong:
        raise ValueError(f"the {noun} file of {name} is wrong: {'; '.join(wrong)}")


def _refuse_models(
    noun: str,
    name: str,
    declared: Mapping[str, Setting],
    models: Mapping[str, type[SettingsModel]],
    shared: type[SettingsModel],
) -> None:
    """Raises unless the settings that code reads are declared as it reads them."""
    wrong = [mistake.message for mistake in model_mistakes(shared, declared, whole=False)]
    if name in models:
        wrong += [mistake.message for mistake in model_mistakes(models[name], declared, whole=True)]
    if wrong:
        raise ValueError(f"the {noun} file of {name} is wrong: {'; '.join(wrong)}")


def partners(entry: Service) -> dict[str, Service]:
    """The services of the catalogue that a service can be made of, by name."""
    uses = [process.use for process in entry.processes.values()]
    return {use: service(use) for use in uses if use in names("services")}


@cache
def disk_settings() -> dict[str, Setting]:
    """Settings of an attached disk."""
    declared = _Settings.validate_python(content_of(shipped("disks.yaml")))
    _refuse_models("settings", "disks", declared, {"disks": DiskSettings}, SettingsModel)
    return declared
