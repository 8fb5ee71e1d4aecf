"""Which settings a machine cannot have, as far as can be seen before any of them is changed."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.kernel_values import same, shown
from steelyard.hosts.site import look_around
from steelyard.hosts.tool import attempt, tell
from steelyard.study.declared.machine import MachineSetting, declared_setting
from steelyard.study.declared.setting import OFF
from steelyard.study.model import Level
from steelyard.systems.settings.line import refuse_unavailable_line
from steelyard.systems.settings.module import is_loaded
from steelyard.systems.settings.values import sysctl_path, written_word

_MODULE, _SYSCTL, _LINE = "module", "sysctl", "line"


def unavailable(host: Host, levels: Mapping[str, Level]) -> Iterator[tuple[str, SystemFailure]]:
    """Settings by dotted name, with why the machine cannot have the level.

    A module that is to be loaded may bring parameters with it: then none is called missing.
    """
    loads = any(name.startswith(f"{_MODULE}.") for name in levels)
    for name, level in levels.items():
        setting = declared_setting(name)
        if setting is None:
            continue
        try:
            _look(host, name, level, setting, loads=loads)
        except SystemFailure as failure:
            yield name, failure


def _look(host: Host, name: str, level: Level, setting: MachineSetting, *, loads: bool) -> None:
    family, _, key = name.partition(".")
    if setting.files:
        _look_at_files(host, name, level, setting)
    elif level == OFF:
        return
    elif family == _SYSCTL:
        if host.path_facts(sysctl_path(key)).exists:
            _look_at_value(host, name, sysctl_path(key), str(level))
        elif not loads:
            raise _unknown_parameter(host, name, sysctl_path(key))
    elif family == _MODULE:
        refuse_unknown_module(host, key)
    elif family == _LINE:
        needs = ("unshare", "ip", *setting.needs)
        look_around(host, f"`{name}`", needs, setting.packages, root=True)
        refuse_unavailable_line(host, key)
    else:
        look_around(host, f"`{name}`", setting.needs, setting.packages, root=False)


def _look_at_files(host: Host, name: str, level: Level, setting: MachineSetting) -> None:
    """Where each disk has its own, the disks may not be there yet: their trial says it."""
    if any("{device}" in file.path for file in setting.files):
        return
    for file in setting.files:
        path = file.path.replace("{cpu}", "cpu0")
        if host.path_facts(path).exists:
            word = written_word(file, name, level)
            if word is not None:
                _look_at_value(host, name, path, word)
            return
    if level != OFF or all(OFF in file.words for file in setting.files):
        places = " nor ".join(file.path for file in setting.files)
        message = f"on {host.name}: `{name}` is not available here: the kernel has no {places}"
        raise SystemFailure("not_supported", message, f"take `settings.{name}` out of the study")


def _look_at_value(host: Host, name: str, path: str, word: str) -> None:
    try:
        now = host.read_file(path)
    except AgentRefusal:
        return  # some can be written only
    if same(now, word):
        return
    choices = now.replace("[", "").replace("]", "").split()
    if "[" in now and word not in choices:
        message = f"on {host.name}: `{name}` cannot be {word!r}"
        raise SystemFailure("not_supported", message, f"it can be: {' '.join(choices)}")
    if not attempt(host, ["test", "-w", path]).succeeded:
        message = f"on {host.name}: `{name}` cannot be changed from {shown(now)!r} to {word!r}"
        hint = "run steelyard as root, on a machine whose kernel is its own"
        raise SystemFailure("no_rights", f"{message}: {path} is not writable", hint)


def _unknown_parameter(host: Host, name: str, path: str) -> SystemFailure:
    folder, _, last = path.rpartition("/")
    names: list[str] = []
    if host.path_facts(folder).exists:
        listed = tell(host, ["find", folder, "-mindepth", "1", "-maxdepth", "1"])
        names = [line.rpartition("/")[2] for line in listed.splitlines()]
    near = difflib.get_close_matches(last, names, n=1)
    hint = f"did you mean `{name.removesuffix(last)}{near[0]}`?" if near else "see `sysctl -a`"
    return SystemFailure("not_supported", f"on {host.name}: the kernel has no {path}", hint)


def refuse_unknown_module(host: Host, module: str) -> None:
    """Asks without loading it whether the kernel has a module.

    Raises:
        SystemFailure: ``not_supported``; ``tool_missing``: there is no ``modprobe``.
    """
    if is_loaded(host, module) or attempt(host, ["modprobe", "-n", "-q", module]).succeeded:
        return
    message = f"on {host.name}: the kernel has no module {module}"
    raise SystemFailure(
        "not_supported", message, "take a guest whose kernel has it, or install it there"
    )
