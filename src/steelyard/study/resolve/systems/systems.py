"""The part of a study that says what is compared: systems, their services and disks."""

from __future__ import annotations

import re
from collections.abc import Mapping

from steelyard.study.declared.setting import Settings
from steelyard.study.file.complaints import Complaints
from steelyard.study.file.grammar import DefaultsPart, StudyFile, SystemPart
from steelyard.study.file.source import Where
from steelyard.study.lookup import known_platform
from steelyard.study.model import Level, MeterSpec, ServiceSpec, SystemSpec
from steelyard.study.platform.checks import INSTANCE, shared
from steelyard.study.platform.placeholders import required_settings
from steelyard.study.platform.settings import SharedSettings
from steelyard.study.resolve.entries import NamedPlatform, named_platforms
from steelyard.study.resolve.settings import Factors, read_settings
from steelyard.study.resolve.systems.disks import resolve_disks
from steelyard.study.resolve.systems.machine_settings import read_machine_settings
from steelyard.study.resolve.systems.meters import resolve_meter
from steelyard.study.resolve.systems.services import resolve_service

_FIXED = (
    "platform",
    "service",
    "meter",
    "disks",
    "instances",
    "host_machine",
    "reset",
    "settings",
    "host_settings",
)
_SINGLE = ("native", "ssh")
_HOST = re.compile(r"local|ssh://[^\s/]+")


def resolve_systems(file: StudyFile, complaints: Complaints) -> dict[str, SystemSpec]:
    """All systems by name, ``defaults`` filled in where a platform knows them."""
    defaults = file.defaults or DefaultsPart()
    platforms = named_platforms(file, complaints)
    _check_defaults(platforms, defaults, complaints)
    return {
        name: _system(name, part, platforms.get(part.platform), defaults, complaints)
        for name, part in file.systems.items()
    }


def _check_defaults(
    platforms: Mapping[str, NamedPlatform], defaults: DefaultsPart, complaints: Complaints
) -> None:
    known = [*_FIXED[1:], *(key for named in platforms.values() for key in named.settings)]
    for key in defaults.further():
        if key not in known:
            complaints.unknown_key(("defaults", key), dict.fromkeys(known))


def _system(
    name: str,
    part: SystemPart,
    platform: NamedPlatform | None,
    defaults: DefaultsPart,
    complaints: Complaints,
) -> SystemSpec:
    where: Where = ("systems", name)
    settings: Settings = {}
    if platform is not None:
        settings = _settings(part, platform, defaults, where, complaints)
        _check_required(settings, platform, where, complaints)
    return SystemSpec(
        name=name,
        platform=part.platform,
        platform_text=None if platform is None else platform.text,
        settings=dict(settings),
        service=_service_of(name, part, defaults, complaints),
        meter=_meter_of(name, part, defaults, complaints),
        disks=resolve_disks(where, part.platform, part.disks or defaults.disks or {}, complaints),
        instances=part.instances or defaults.instances or 1,
        host_machine=_host(where, part.host_machine or defaults.host_machine, complaints),
        reset=part.reset or defaults.reset,
        inside=_reversible(where, "settings", part.settings, defaults.settings, complaints),
        outside=_reversible(
            where, "host_settings", part.host_settings, defaults.host_settings, complaints
        ),
    )


def _settings(
    part: SystemPart,
    platform: NamedPlatform,
    defaults: DefaultsPart,
    where: Where,
    complaints: Complaints,
) -> Settings:
    """The settings that are set, those of ``defaults`` where the system says nothing."""
    written = part.further()
    for key in [key for key in written if key not in platform.settings]:
        del written[key]
        complaints.unknown_key((*where, key), (*_FIXED, *platform.settings))
    inherited = {key: value for key, value in defaults.further().items() if key not in written}
    written |= {key: value for key, value in inherited.items() if key in platform.settings}
    for key in [key for key, value in written.items() if isinstance(value, list)]:
        del written[key]
        hint = f"a system has one; several are a factor: `factors: {{system.{key}: [...]}}`"
        complaints.add((*where, key), f"`{key}` of a system cannot be a list", hint)
    settings, _ = read_settings(written, platform.settings, where, complaints, noun="known keys")
    return {key: value for key, value in settings.items() if value is not None}


def _check_required(
    settings: Settings, platform: NamedPlatform, where: Where, complaints: Complaints
) -> None:
    written = complaints.source.part("systems", where[-1])
    for key in required_settings(platform.entry):
        if key not in settings and not (isinstance(written, dict) and key in written):
            hint = f"add `{key}: ...`: {platform.settings[key].meaning}"
            message = f"`{key}` is missing in `systems.{where[-1]}`"
            complaints.add(where, message, hint, at_key=True)


def _check_once(name: str, system: SystemSpec, most: int, complaints: Complaints) -> None:
    """A machine is there once, unless each instance is walled off from the others."""
    own = SharedSettings.of(system.settings)
    walled = own.confine is not None or own.network == "lab"
    if most > 1 and system.platform in _SINGLE and not walled:
        hint = "give it `confine` or `network: lab`" if system.platform == "native" else "take one"
        message = f"`{name}` is one machine and cannot have {most} instances"
        complaints.add(("systems", name), message, hint, at_key=True)


def check_apart(
    systems: Mapping[str, SystemSpec],
    factors: Factors,
    complaints: Complaints,
) -> None:
    """What each of several instances must have for itself."""
    counts = [int(level) for level in factors.get("system.instances", ())]
    for name, system in systems.items():
        platform, most = known_platform(system), max([system.instances, *counts])
        _check_once(name, system, most, complaints)
        if platform is None or most < 2:
            continue
        for key in shared(platform.settings, system.settings):
            value = system.settings[key]
            hint = f"write `{INSTANCE}` where the number of the instance belongs"
            message = f"`{key}` is `{value}` for all {most} instances of `{name}`, and must differ"
            complaints.add(("systems", name, key), message, hint)


_LINE = "line."
_WITH_A_LINE = ("native", "qemu")


def check_lines(
    systems: Mapping[str, SystemSpec], factors: Factors, complaints: Complaints
) -> None:
    """A line is one of a network of the run's own, never that of a machine."""
    shared = any(name.startswith(f"settings.{_LINE}") for name in factors)
    for name, system in systems.items():
        where: Where = ("systems", name)
        if any(each.startswith(_LINE) for each in system.outside):
            hint = "write it under `settings` of the system"
            message = f"`host_settings` of `{name}` cannot shape the line of the machine itself"
            complaints.add(where, message, hint, at_key=True)
        if not shared and not any(each.startswith(_LINE) for each in system.inside):
            continue
        if system.platform not in _WITH_A_LINE:
            hint = f"platforms that can: {', '.join(_WITH_A_LINE)}"
            message = f"`settings.line` of `{name}` is not available on `{system.platform}`"
            complaints.add(where, message, hint, at_key=True)
        elif SharedSettings.of(system.settings).network != "lab":
            hint = "add `network: lab`; the machine's own network is never shaped"
            message = f"`settings.line` of `{name}` needs a network of its own"
            complaints.add(where, message, hint, at_key=True)


def _host(where: Where, written: str | None, complaints: Complaints) -> str:
    if written is None:
        return "local"
    if not _HOST.fullmatch(written):
        hint = "write `local`, or an address such as `ssh://root@hypervisor`"
        complaints.add((*where, "host_machine"), f"`{written}` is not the address of a host", hint)
    return written


def _reversible(
    where: Where,
    key: str,
    own: dict[str, object] | None,
    shared: dict[str, object] | None,
    complaints: Complaints,
) -> dict[str, Level]:
    place = (*where, key) if own is not None else ("defaults", key)
    return read_machine_settings((shared if own is None else own) or {}, place, complaints)


def _service_of(
    name: str, part: SystemPart, defaults: DefaultsPart, complaints: Complaints
) -> ServiceSpec | None:
    if part.service is not None:
        return resolve_service(part.service, ("systems", name, "service"), complaints)
    if defaults.service is None:
        return None
    return resolve_service(defaults.service, ("defaults", "service"), complaints)


def _meter_of(
    name: str, part: SystemPart, defaults: DefaultsPart, complaints: Complaints
) -> MeterSpec | None:
    if part.meter is not None:
        return resolve_meter(part.meter, ("systems", name, "meter"), complaints)
    if defaults.meter is None:
        return None
    return resolve_meter(defaults.meter, ("defaults", "meter"), complaints)
