"""How each setting is done, by the first part of its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from steelyard.study.model import Level
from steelyard.systems.settings.applied import Applied
from steelyard.systems.settings.cgroup import change_cgroup
from steelyard.systems.settings.changes import Changes
from steelyard.systems.settings.command_line import change_command_line
from steelyard.systems.settings.module import change_module
from steelyard.systems.settings.remount import change_mount
from steelyard.systems.settings.tuned import change_tuned
from steelyard.systems.settings.values import change_sysctl, change_value

SETTINGS: dict[str, Callable[[Changes, str, Mapping[str, Level]], list[Applied]]] = {
    "cgroup": change_cgroup,
    "command_line": change_command_line,
    "governor": change_value,
    "module": change_module,
    "mount": change_mount,
    "read_ahead": change_value,
    "scheduler": change_value,
    "sysctl": change_sysctl,
    "thp": change_value,
    "tuned": change_tuned,
    "turbo": change_value,
}
