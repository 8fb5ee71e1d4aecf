"""Disks of systems: made, or there already as a folder or on the network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from itertools import product

from steelyard.study import catalogue
from steelyard.study.declared.folders import system_folder
from steelyard.study.declared.machine import filesystems
from steelyard.study.declared.setting import SettingValue
from steelyard.study.file.complaints import Complaints
from steelyard.study.file.source import Where
from steelyard.study.model import SystemSpec
from steelyard.study.platform.settings import SharedSettings
from steelyard.study.resolve.settings import Factors, read_settings
from steelyard.units import format_bytes

_WITH_A_FOLDER = ("folder", "size", "check")
_ON_A_MACHINE = ("native", "ssh")
_FROM_A_NETWORK = "qemu"


def resolve_disks(
    where: Where,
    platform: str,
    written: Mapping[str, Mapping[str, object]],
    complaints: Complaints,
) -> dict[str, dict[str, SettingValue]]:
    """The disks of one system by name, with the defaults of what they do not say."""
    declared = catalogue.disk_settings()
    disks = {}
    for name, settings in written.items():
        place = (*where, "disks", name)
        disks[name], _ = read_settings(settings, declared, place, complaints, noun="known keys")
        if "folder" in settings:
            _check_folder(place, platform, settings, complaints)
    return disks


def _check_folder(
    where: Where, platform: str, written: Mapping[str, object], complaints: Complaints
) -> None:
    """A folder is of a machine, not the system's own, and stays as it is."""
    own = system_folder(str(written["folder"]))
    if own is not None:
        hint = "name a folder for data, such as /mnt/usb"
        message = f"`{written['folder']}` lies in the system's own folder {own}"
        complaints.add((*where, "folder"), message, hint)
    if platform not in _ON_A_MACHINE:
        hint = "leave `folder` out: then a disk is made and attached"
        message = f"`folder` is one of a machine, and `{platform}` is none: native and ssh are"
        complaints.add((*where, "folder"), message, hint, at_key=True)
    for key in written:
        if key not in _WITH_A_FOLDER:
            hint = "take it out: a folder that is there already is never formatted, nor mounted"
            complaints.add(
                (*where, key), f"`{key}` has no place next to `folder`", hint, at_key=True
            )


def check_network_disks(
    systems: Mapping[str, SystemSpec], factors: Factors, complaints: Complaints
) -> None:
    """A disk of a server is one that QEMU opens, that may be overwritten, and that no other has."""
    for name, system in systems.items():
        urls: list[object] = []
        for disk in system.disks:
            levels = _Levels(system, disk, factors)
            where: Where = ("systems", name, "disks", disk)
            found = levels.of("url")
            if found:
                urls += found
                _check_url(where, system, levels, complaints)
            elif levels.of("overwrite") and not complaints.source.part(*where, "url"):
                hint = "take it out, or name the disk by `url`"
                message = "`overwrite` is for a disk of a server"
                complaints.add((*where, "overwrite"), message, hint, at_key=True)
        if urls:
            _check_place(name, system, factors, complaints)
        for url in [url for url, times in Counter(urls).items() if times > 1]:
            message = f"`{url}` is more than one disk of `{name}`"
            hint = "let the server offer one for each"
            complaints.add(("systems", name, "disks"), message, hint, at_key=True)


class _Levels:
    """Every value that a setting of one disk may have in a study; none where it is not set."""

    def __init__(self, system: SystemSpec, disk: str, factors: Factors) -> None:
        self._written, self._disk, self._factors = system.disks[disk], disk, factors

    def of(self, key: str) -> list[object]:
        varied = self._factors.get(f"disks.{self._disk}.{key}")
        values: list[object] = [self._written.get(key)] if varied is None else list(varied)
        return [value for value in values if value is not None]

    def where(self, system: str, key: str) -> Where:
        """Where a setting is written: by the factor that varies it, or in the system."""
        factor = f"disks.{self._disk}.{key}"
        if factor in self._factors:
            return ("factors", factor)
        return ("systems", system, "disks", self._disk, key)


def check_made_disks(
    systems: Mapping[str, SystemSpec], factors: Factors, complaints: Complaints
) -> None:
    """Every layout, filesystem, count and size that may come together can be made together."""
    for name, system in systems.items():
        for disk in system.disks:
            levels = _Levels(system, disk, factors)
            if not (levels.of("folder") or levels.of("url")):
                where = partial(levels.where, name)
                _check_layouts(where, disk, levels, complaints)
                _check_sizes(where, levels, complaints)


def _check_layouts(
    where: Callable[[str], Where], disk: str, levels: _Levels, complaints: Complaints
) -> None:
    joined = [str(layout) for layout in levels.of("layout") if layout != "single"]
    for layout in joined:
        if min(int(str(count)) for count in levels.of("count")) < _LEAST_OF_AN_ARRAY:
            message = f"layout `{layout}` joins two disks at least, and `{disk}` has one"
            complaints.add(
                where("layout"), message, "add `count: 2` to it, or write `layout: single`"
            )
        for filesystem in map(str, levels.of("filesystem")):
            if layout.startswith("own-") and layout not in (filesystems()[filesystem].own or {}):
                able = ", ".join(
                    n for n, each in filesystems().items() if layout in (each.own or {})
                )
                message = f"`{filesystem}` builds no array itself, as `layout: {layout}` wants"
                hint = f"write `layout: {layout.removeprefix('own-')}`, or take {able}"
                complaints.add(where("layout"), message, hint)


def _check_sizes(where: Callable[[str], Where], levels: _Levels, complaints: Complaints) -> None:
    """Further words for mkfs may make it smaller than it is by itself."""
    if levels.of("mkfs"):
        return
    keys = ("filesystem", "layout", "size", "count")
    for filesystem, layout, size, count in product(*(levels.of(key) for key in keys)):
        room_bytes = int(str(size)) * (int(str(count)) if layout == "raid0" else 1)
        least_bytes = filesystems()[str(filesystem)].least_bytes(str(layout))
        if room_bytes < least_bytes:
            message = f"a disk of {format_bytes(room_bytes)} is too small for `{filesystem}`"
            hint = f"it takes {format_bytes(least_bytes)} at least with `layout: {layout}`"
            complaints.add(where("size"), message, hint)


_LEAST_OF_AN_ARRAY = 2
_ALONE = {"folder": None, "count": 1, "layout": "single"}
"""What these keys are next to `url`."""


def _check_url(where: Where, system: SystemSpec, levels: _Levels, complaints: Complaints) -> None:
    at = (*where, "url")
    if system.platform != _FROM_A_NETWORK:
        message = f"`url` is opened by QEMU, and `{system.platform}` has none"
        hint = "let the system's own kernel attach and mount the disk, and name its `folder`"
        complaints.add(at, message, hint, at_key=True)
    if not levels.of("overwrite"):
        message = "`url` does not say what may be overwritten: a filesystem is made on that disk"
        hint = "add `overwrite: blank`, or `overwrite: anything` if all that lies on it may be lost"
        complaints.add(at, message, hint, at_key=True)
    for key, alone in _ALONE.items():
        if any(value != alone for value in levels.of(key)):
            message = f"`{key}` has no place next to `url`"
            complaints.add((*where, key), message, "take it out: a URL is one disk", at_key=True)


def _check_place(name: str, system: SystemSpec, factors: Factors, complaints: Complaints) -> None:
    """QEMU stands in the network of its system, which may lead to no server."""
    if system.platform != _FROM_A_NETWORK:
        return
    own = (SharedSettings.of(system.settings).network,)
    if any(network != "user" for network in factors.get("system.network", own)):
        message = f"no server is reached from the lab network of `{name}`"
        hint = "add `network: user`, to what it is compared with as well"
        complaints.add(("systems", name, "disks"), message, hint, at_key=True)
    if any(int(n) > 1 for n in factors.get("system.instances", (system.instances,))):
        message = f"all instances of `{name}` would write to one disk of a server"
        hint = "take one instance, or disks that are made"
        complaints.add(("systems", name), message, hint, at_key=True)
