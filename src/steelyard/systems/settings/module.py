"""Modules of the kernel that are loaded for a trial."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import attempt
from steelyard.hosts.undo.actions.command import Command
from steelyard.study.declared.setting import OFF
from steelyard.study.model import Level
from steelyard.systems.settings.applied import Applied
from steelyard.systems.settings.changes import Changes


def change_module(changes: Changes, name: str, levels: Mapping[str, Level]) -> list[Applied]:
    """Each module that is to be loaded."""
    return [
        load_module(changes, f"{name}.{module}", module)
        for module, level in levels.items()
        if level != OFF
    ]


def load_module(changes: Changes, setting: str, module: str) -> Applied:
    """A module, unless it is there already; removed afterwards only if it was not.

    Raises:
        SystemFailure: ``not_supported``: the kernel has no such module.
    """
    if is_loaded(changes.host, module):
        return Applied(setting, "loaded", facts={setting: "loaded before"})
    first = len(changes.made)
    unless = ("test", "!", "-e", f"/sys/module/{_in_sysfs(module)}")
    changes.plan(Command(("modprobe", "-r", module), f"remove the module {module}", unless=unless))
    ran = attempt(changes.host, ["modprobe", module])
    if not ran.succeeded:  # one that is built in needs no loading, and modprobe says yes to it
        message = f"on {changes.host.name}: the module {module} is not available here"
        said = ran.stderr.strip().splitlines()
        hint = said[-1] if said else "modprobe said nothing"
        raise SystemFailure("not_supported", message, hint, last_words=ran.stderr)
    return Applied(setting, "loaded", tuple(changes.made[first:]), {setting: "loaded"})


def is_loaded(host: Host, module: str) -> bool:
    """Whether the kernel has it, as a module or built in with something to set."""
    return host.path_facts(f"/sys/module/{_in_sysfs(module)}").exists


def _in_sysfs(module: str) -> str:
    return module.replace("-", "_")
