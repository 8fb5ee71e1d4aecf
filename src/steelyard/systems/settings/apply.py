"""Applies the settings of a system in the order of the catalogue, and undoes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.kernel_values import shown
from steelyard.hosts.undo.log import UndoLog
from steelyard.study.declared.machine import declared_setting, declared_settings
from steelyard.study.model import Level
from steelyard.systems.settings.applied import Applied, Place
from steelyard.systems.settings.cgroup import change_cgroup
from steelyard.systems.settings.changes import Changes
from steelyard.systems.settings.command_line import change_command_line
from steelyard.systems.settings.line import change_line
from steelyard.systems.settings.module import change_module
from steelyard.systems.settings.remount import change_mount
from steelyard.systems.settings.tuned import change_tuned
from steelyard.systems.settings.values import change_sysctl, change_value

SETTINGS: dict[str, Callable[[Changes, str, Mapping[str, Level]], list[Applied]]] = {
    "cgroup": change_cgroup,
    "command_line": change_command_line,
    "governor": change_value,
    "line": change_line,
    "module": change_module,
    "mount": change_mount,
    "read_ahead": change_value,
    "scheduler": change_value,
    "sysctl": change_sysctl,
    "thp": change_value,
    "tuned": change_tuned,
    "turbo": change_value,
}
"""How each setting is changed, by the first part of its name."""


def apply_settings(
    host: Host, settings: Mapping[str, Level], undo: UndoLog, place: Place
) -> list[Applied]:
    """All ``settings``, by dotted name, one after the other as the catalogue orders them.

    When one fails, those before it are undone.

    Raises:
        SystemFailure: ``not_supported``, ``no_rights``, ``tool_missing``: what the kernel or a
            tool says of the setting that did not take.
        AgentRefusal: the machine refused something else.
        EngineError: its agent has ended; what was done is in the ledger.
    """
    changes = Changes(host, undo, place)
    try:
        return [
            applied
            for family, levels in _ordered(settings).items()
            for applied in SETTINGS[family](changes, family, levels)
        ]
    except Exception:
        changes.undo()
        raise


def revert_settings(host: Host, applied: Sequence[Applied], undo: UndoLog) -> None:
    """Undoes settings, newest first, each verified; after a failure the others go on.

    Raises:
        AgentRefusal: the first that could not be undone; it stays in the ledger.
        EngineError: the agent has ended.
    """
    refusals = []
    for pending in [pending for one in applied for pending in one.undos][::-1]:
        try:
            undo.apply(host, pending)
        except AgentRefusal as refusal:
            refusals.append(refusal)
    if refusals:
        raise refusals[0]


def setting_facts(host: Host, applied: Sequence[Applied]) -> dict[str, str | None]:
    """What holds now, read again, as ``setting.NAME``; ``None`` where it is gone."""
    facts: dict[str, str | None] = {}
    for one in applied:
        facts |= {f"setting.{name}": value for name, value in one.facts.items()}
        facts |= {f"setting.{name}": _now(host, paths) for name, paths in one.watched.items()}
    return facts


def held_values(host: Host, applied: Sequence[Applied]) -> dict[str, str | None]:
    """What the kernel shows now of all that was set, to be compared with what it shows later."""
    held: dict[str, str | None] = {}
    for one in applied:
        held |= {name: _now(host, paths) for name, paths in one.watched.items()}
        held |= {f"{one.setting} ({path})": _now(host, (path,)) for path in one.also_set}
    return held


def _now(host: Host, paths: tuple[str, ...]) -> str | None:
    try:
        return ",".join(dict.fromkeys(shown(host.read_file(path)) for path in paths))
    except AgentRefusal:
        return None


def _ordered(flat: Mapping[str, Level]) -> dict[str, dict[str, Level]]:
    """Levels by the function that applies them, in the order of the catalogue."""
    order = list(dict.fromkeys(name.partition(".")[0] for name in declared_settings()))
    families: dict[str, dict[str, Level]] = {}
    for name in sorted(flat, key=lambda name: order.index(_head(name, order))):
        family, _, key = name.partition(".")
        families.setdefault(family, {})[key] = flat[name]
    return families


def _head(name: str, order: list[str]) -> str:
    if declared_setting(name) is None:
        hint = f"settings: {', '.join(order)}"
        raise SystemFailure("not_supported", f"there is no setting `{name}`", hint)
    return name.partition(".")[0]
