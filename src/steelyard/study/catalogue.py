"""What a study file can name: workloads, platforms, services and responses, shipped as data.

One YAML file each in ``steelyard/catalogue``. ``runs: false`` marks what the grammar knows and
this version cannot run yet.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from ruamel.yaml import YAML

from steelyard.study.model import Direction, ResponseSpec

SettingKind = Literal[
    "size",
    "duration",
    "rate",
    "share",
    "count",
    "number",
    "word",
    "text",
    "texts",
    "flag",
    "per user",
    "group",
]
Shelf = Literal["workloads", "platforms", "services"]
BASE_UNITS: dict[str, str] = {"size": "bytes", "duration": "s", "rate": "bit/s", "share": "ratio"}


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Setting(_Entry):
    """One setting as declared. ``default`` is as an author would write it; ``None`` is unset.

    ``least`` and ``most`` are limits in the base unit, ``pattern`` is what a text must match and
    ``example`` one that does. ``option`` is the word of the service's command line that takes the
    value.
    """

    option: str | None = None
    kind: SettingKind
    default: Any = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    pattern: str | None = None
    example: str | None = None
    meaning: str
    runs: bool = True
    settings: dict[str, Setting] = {}

    @property
    def unit(self) -> str | None:
        """Base unit of the resolved value."""
        return BASE_UNITS.get(self.kind)


class Workload(_Entry):
    """What can be driven. ``operation`` is the plural noun of one operation."""

    summary: str
    operation: str
    primary: str = "throughput"
    speaks: str | None = None
    load: bool = False
    runs: bool = True
    settings: dict[str, Setting]


class Platform(_Entry):
    """A kind of place a system lives in, and how thoroughly it can be reset."""

    summary: str
    resets: tuple[str, ...]
    runs: bool = True
    settings: dict[str, Setting]


class Service(_Entry):
    """A server under test and the protocol it speaks.

    ``command`` starts it; ``@engine`` is the engine's own binary, ``{folder}`` the trial's own
    folder, ``{port}`` the port asked for or 0. Its first line on stdout says where it listens.
    """

    summary: str
    speaks: str
    command: tuple[str, ...] = ()
    runs: bool = True
    settings: dict[str, Setting]


class Response(_Entry):
    """A number per trial. A name with ``{p}`` stands for one per statistic.

    What may be zero has no logarithm and therefore cannot decide a study.
    """

    label: str
    unit: str
    direction: Direction
    meaning: str
    source: Literal["load", "samples", "probe", "command"]
    may_be_zero: bool = False
    runs: bool = True


def _load(*parts: str) -> Any:
    file = resources.files("steelyard.catalogue").joinpath(*parts)
    return YAML(typ="safe", pure=True).load(file.read_text(encoding="utf-8"))


@cache
def names(shelf: Shelf) -> tuple[str, ...]:
    """Names of all entries of one kind, sorted."""
    folder = resources.files("steelyard.catalogue").joinpath(shelf)
    files = (file.name for file in folder.iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in files if name.endswith(".yaml")))


@cache
def workload(name: str) -> Workload:
    """The workload of this name, which must be one of ``names``."""
    return Workload.model_validate(_load("workloads", f"{name}.yaml"))


@cache
def platform(name: str) -> Platform:
    """The platform of this name, which must be one of ``names``."""
    return Platform.model_validate(_load("platforms", f"{name}.yaml"))


@cache
def service(name: str) -> Service:
    """The service of this name, which must be one of ``names``."""
    return Service.model_validate(_load("services", f"{name}.yaml"))


@cache
def disk_settings() -> dict[str, Setting]:
    """Settings of an attached disk."""
    return {name: Setting.model_validate(f) for name, f in _load("disks.yaml").items()}


@cache
def machine_settings() -> dict[str, str]:
    """Reversible settings of a machine that a factor ``settings.NAME`` may vary: their meaning."""
    return dict(_load("settings.yaml"))


@cache
def statistics() -> tuple[str, ...]:
    """What a response such as ``response.{p}`` is given as."""
    return tuple(_load("responses.yaml")["statistics"])


@cache
def responses() -> dict[str, Response]:
    """Every response by its full name; ``response.{p}`` is spelt out for each statistic."""
    data = _load("responses.yaml")
    known: dict[str, Response] = {}
    for name, fields in data["responses"].items():
        entry = Response.model_validate(fields)
        if "{p}" not in name:
            known[name] = entry
            continue
        for statistic, words in data["statistics"].items():
            label = f"{entry.label}, {words}"
            known[name.replace("{p}", statistic)] = entry.model_copy(update={"label": label})
    return known


def response_spec(name: str, *, operation: str, primary: bool) -> ResponseSpec:
    """A known response as part of a study whose operations are called ``operation``."""
    entry = responses()[name]
    return ResponseSpec(
        name=name,
        label=entry.label,
        unit=entry.unit.replace("{operation}", operation),
        direction=entry.direction,
        primary=primary,
        meaning=entry.meaning,
        source=entry.source,
    )
