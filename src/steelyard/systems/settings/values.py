"""Settings that are no more than values of the kernel: the catalogue says where they lie."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.kernel_values import shown
from steelyard.hosts.tool import tell
from steelyard.hosts.undo.actions.files import value_inverse
from steelyard.hosts.undo.actions.inverse import Inverse
from steelyard.study.declared.machine import ValueFile, declared_settings
from steelyard.study.declared.setting import OFF
from steelyard.study.model import Level
from steelyard.systems.settings.applied import Applied
from steelyard.systems.settings.changes import Changes

_CPUS = "/sys/devices/system/cpu"
_TWINS = {
    "vm.dirty_bytes": "vm.dirty_ratio",
    "vm.dirty_background_bytes": "vm.dirty_background_ratio",
    "vm.dirty_ratio": "vm.dirty_bytes",
    "vm.dirty_background_ratio": "vm.dirty_background_bytes",
}
"""Writing one of a pair makes the other 0, and 0 cannot be written: the other takes it back."""


def change_value(changes: Changes, name: str, levels: Mapping[str, Level]) -> list[Applied]:
    """A value that lies in one or several files of ``/sys``."""
    level = levels[""]
    file, paths = _found(changes, name)
    word = written_word(file, name, level)
    if word is None:
        return [Applied(name, level)]
    first = len(changes.made)
    for path in paths:
        changes.write(name, path, word)
    facts = {name: _joined(changes.host, paths)}
    return [Applied(name, level, tuple(changes.made[first:]), facts, {name: tuple(paths)})]


def change_sysctl(changes: Changes, name: str, levels: Mapping[str, Level]) -> list[Applied]:
    """Parameters of the kernel, in the order of the study."""
    return [_sysctl(changes, f"{name}.{key}", key, level) for key, level in levels.items()]


def _sysctl(changes: Changes, name: str, key: str, level: Level) -> Applied:
    if level == OFF:
        return Applied(name, level)
    path, first = sysctl_path(key), len(changes.made)
    changes.write(name, path, str(level), _inverse_by_twin(changes, name, key))
    facts = {name: _joined(changes.host, [path])}
    return Applied(name, level, tuple(changes.made[first:]), facts, {name: (path,)})


def _inverse_by_twin(changes: Changes, name: str, key: str) -> Inverse | None:
    twin = _TWINS.get(key)
    if twin is None or shown(changes.value(name, sysctl_path(key))) != "0":
        return None
    path = sysctl_path(twin)
    return value_inverse(changes.host, path, shown(changes.value(name, path)))


def sysctl_path(key: str) -> str:
    """Where a parameter lies; dots part its name, and a slash stands for a dot (sysctl(8))."""
    return "/proc/sys/" + key.translate(str.maketrans("./", "/."))


def _found(changes: Changes, name: str) -> tuple[ValueFile, list[str]]:
    """The first of the declared files that this machine has, spelt out for each cpu or disk."""
    files = declared_settings()[name].files
    for file in files:
        paths = [path for path in _spelt(changes, file.path) if _there(changes.host, path)]
        if paths:
            return file, paths
    places = " nor ".join(file.path for file in files)
    raise SystemFailure(
        "not_supported",
        f"on {changes.host.name}: `{name}` is not available here: the kernel has no {places}",
        f"take `settings.{name}` out of the study",
    )


def _spelt(changes: Changes, path: str) -> list[str]:
    if "{cpu}" in path:
        names = tell(changes.host, ["find", _CPUS, "-maxdepth", "1", "-name", "cpu[0-9]*"])
        return sorted(path.replace("{cpu}", n.rpartition("/")[2]) for n in names.splitlines())
    if "{device}" in path:
        return [path.replace("{device}", name) for name in _devices(changes)]
    return [path]


def _devices(changes: Changes) -> list[str]:
    """The attached disks, or all that are devices: no loop, no disk in memory, no array."""
    if changes.place.devices:
        return [device.removeprefix("/dev/") for device in changes.place.devices]
    names = tell(changes.host, ["find", "/sys/block", "-mindepth", "1", "-maxdepth", "1"])
    disks = sorted(name.rpartition("/")[2] for name in names.splitlines())
    return [disk for disk in disks if _there(changes.host, f"/sys/block/{disk}/device")]


def written_word(file: ValueFile, name: str, level: Level) -> str | None:
    """What is written for a level; ``None`` leaves the value as it was found."""
    if str(level) in file.words:
        return file.words[str(level)]
    if level == OFF:
        return None
    if file.unit_bytes == 1:
        return str(level)
    units, rest = divmod(int(level), file.unit_bytes)
    if rest:
        message = f"`{name}` is a multiple of {file.unit_bytes} bytes, and {level} is none"
        raise SystemFailure("not_supported", message, "round it")
    return str(units)


def _there(host: Host, path: str) -> bool:
    return host.path_facts(path).exists


def _joined(host: Host, paths: list[str]) -> str:
    """What files of one value say; with commas where they differ."""
    return ",".join(dict.fromkeys(shown(host.read_file(path)) for path in paths))
