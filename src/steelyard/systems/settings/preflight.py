"""Which settings a machine cannot have, as far as can be seen before any of them is changed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.kernel_values import same, shown
from steelyard.hosts.looks import looking
from steelyard.hosts.site import look_around
from steelyard.hosts.tool import attempt, tell
from steelyard.study.declared.machine import MachineSetting, declared_setting
from steelyard.study.declared.setting import OFF
from steelyard.study.declared.tuned_profiles import is_own
from steelyard.study.model import Level
from steelyard.systems.settings.command_line import boot_arguments, refuse_missing_words
from steelyard.systems.settings.line import refuse_unavailable_line
from steelyard.systems.settings.module import is_loaded
from steelyard.systems.settings.profiles import profile_text, with_included
from steelyard.systems.settings.values import sysctl_path, written_word

_MODULE, _SYSCTL, _LINE, _TUNED, _WORDS = "module", "sysctl", "line", "tuned", "command_line"
_SCHEDULER = "scheduler"
_SCHEDULERS = looking("cat /sys/block/*/queue/scheduler 2>/dev/null; true")
_NUMBER = re.compile(r"[0-9A-Fa-fx,-]+")
"""Also masks, ranges and lists of them."""


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
        _look_at_files(host, name, level, setting, loads=loads)
    elif level == OFF:
        return
    elif family == _SYSCTL:
        _look_at_parameter(host, name, sysctl_path(key), str(level), loads=loads)
    elif family == _WORDS:
        refuse_missing_words(host, boot_arguments({name: level}))
    elif family == _MODULE:
        refuse_unknown_module(host, key)
    elif family == _LINE:
        needs = ("unshare", "ip", *setting.needs)
        look_around(host, f"`{name}`", needs, setting.packages, root=True)
        refuse_unavailable_line(host, key)
    else:
        look_around(host, f"`{name}`", setting.needs, setting.packages, root=False)
        if family == _TUNED and not is_own(level):
            with_included(host, profile_text(host, str(level)))


def _look_at_parameter(host: Host, name: str, path: str, word: str, *, loads: bool) -> None:
    seen = host.path_facts(path)
    if seen.kind == "folder":
        message = f"on {host.name}: {path} is a folder of parameters"
        hint = f"name one of them; `sysctl {name.partition('.')[2]}` lists them"
        raise SystemFailure("not_supported", message, hint)
    if seen.exists:
        _refuse_no_number(host, name, path, word)
        _look_at_value(host, name, path, word)
    elif not loads:
        raise _unknown_parameter(host, name, path)


def _refuse_no_number(host: Host, name: str, path: str, word: str) -> None:
    """A parameter that is numbers now takes no words."""
    try:
        now = host.read_file(path).split()
    except AgentRefusal:
        return  # some can be written only
    if now and _are_numbers(now) and not _are_numbers(word.split()):
        message = f"on {host.name}: `{name}` is {' '.join(now)}, and cannot be {word!r}"
        raise SystemFailure("not_supported", message, "write a number")


def _are_numbers(words: list[str]) -> bool:
    return all(_NUMBER.fullmatch(word) for word in words)


def _look_at_files(
    host: Host, name: str, level: Level, setting: MachineSetting, *, loads: bool
) -> None:
    """Where each disk has its own, the disks may not be there yet: their trial says it."""
    if any("{device}" in file.path for file in setting.files):
        if name == _SCHEDULER and level != OFF and not loads:
            _look_at_schedulers(host, name, str(level))
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


def _look_at_schedulers(host: Host, name: str, level: str) -> None:
    """A kernel has the same for all disks, those that are not there yet included."""
    shown_by_all = attempt(host, ["sh", "-c", _SCHEDULERS]).stdout
    known = shown_by_all.replace("[", "").replace("]", "").split()
    if known and level not in known:
        message = f"on {host.name}: `{name}` cannot be {level!r}"
        raise SystemFailure("not_supported", message, f"it can be: {', '.join(sorted(set(known)))}")


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
