"""Words of the kernel's command line: a platform boots with them, here it is seen that it did."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.study.declared.setting import OFF
from steelyard.study.model import Level
from steelyard.systems.settings.applied import Applied
from steelyard.systems.settings.changes import Changes

_COMMAND_LINE = "/proc/cmdline"


def boot_arguments(settings: Mapping[str, Level]) -> str:
    """What a platform that boots a kernel itself is to add to its command line; may be empty."""
    words = settings.get("command_line", OFF)
    return "" if words == OFF else str(words)


def change_command_line(changes: Changes, name: str, levels: Mapping[str, Level]) -> list[Applied]:
    """Nothing is changed in a running kernel.

    Raises:
        SystemFailure: ``not_supported``: it was not booted with these words.
    """
    level = levels[""]
    line = changes.value(name, _COMMAND_LINE).strip()
    _refuse_missing(changes.host, line, boot_arguments({name: level}))
    return [Applied(name, level, facts={name: line}, watched={name: (_COMMAND_LINE,)})]


def refuse_missing_words(host: Host, words: str) -> None:
    """Looks at the command line of the kernel that runs.

    Raises:
        SystemFailure: ``not_supported``: it was not booted with all of these words.
    """
    _refuse_missing(host, host.read_file(_COMMAND_LINE).strip(), words)


def _refuse_missing(host: Host, line: str, words: str) -> None:
    missing = [word for word in words.split() if word not in line.split()]
    if missing:
        raise SystemFailure(
            "not_supported",
            f"on {host.name}: the kernel was booted without `{' '.join(missing)}`: {line}",
            "only a platform that boots the kernel itself can do this, with `reset: boot`",
        )
