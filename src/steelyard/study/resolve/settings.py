"""Settings as written against settings as declared: values in base units, lists as levels."""

from __future__ import annotations

import re
from collections.abc import Mapping

from steelyard import units
from steelyard.study.declared.setting import Plain, Setting, SettingValue, is_plain
from steelyard.study.declared.value import (
    QUANTITIES,
    default_of,
    read_level,
    read_value,
    within_limits,
)
from steelyard.study.file.complaints import Complaints
from steelyard.study.file.kinds import shown
from steelyard.study.file.source import Where
from steelyard.study.model import Level

_SEVERAL = re.compile(r"[0-9]+(\s+[0-9]+)+", re.ASCII)
LISTS = ("texts", "sizes", "words")

Values = dict[str, SettingValue]
Factors = dict[str, tuple[Level, ...]]


def read_settings(
    written: Mapping[str, object],
    declared: Mapping[str, Setting],
    where: Where,
    complaints: Complaints,
    *,
    noun: str,
) -> tuple[Values, Factors]:
    """Every declared setting by name, and the levels of those that were written as lists.

    A setting with levels holds the first of them; one that is neither written nor has a default
    is ``None``.
    """
    for key in written:
        if key not in declared:
            complaints.unknown_key((*where, key), declared, noun)
    values: Values = {}
    factors: Factors = {}
    for name, setting in declared.items():
        if name not in written or written[name] is None:
            values[name] = default_of(setting)
        elif setting.kind == "group":
            values[name] = _group(written[name], setting, (*where, name), complaints)
        elif _has_levels(written[name], setting):
            levels = read_levels(written[name], setting, (*where, name), complaints)
            values[name] = levels[0] if levels else None
            factors[name] = levels
        else:
            values[name] = _one(written[name], setting, (*where, name), complaints)
    return values, factors


def single_settings(
    written: Mapping[str, object],
    declared: Mapping[str, Setting],
    where: Where,
    complaints: Complaints,
    *,
    of: tuple[str, str],
    instead: str,
) -> Values:
    """Every setting of a thing that has no levels, ``of`` a kind and a name; ``instead`` says what
    to do for another value. What is required is there.
    """
    kind, name = of
    values, levels = read_settings(written, declared, where, complaints, noun=f"settings of {name}")
    for key in levels:
        complaints.add((*where, key), f"`{key}` of a {kind} cannot be a list", instead)
    for key, setting in declared.items():
        if setting.required and not written.get(key):
            hint = f"add `{key}: ...`: {setting.meaning}"
            complaints.add(where, f"`{where[-1]}` needs `{key}`", hint)
    return values


def read_levels(
    written: object, setting: Setting, where: Where, complaints: Complaints
) -> tuple[Level, ...]:
    """All levels of a list, of a range, or of a list that holds ranges."""
    if setting.kind in LISTS:
        hint = "vary a setting of single values; `steelyard time 'A' 'B'` compares commands"
        message = f"`{_name(where)}`: what takes a list has no levels"
        complaints.add(where, message, hint, at_key=True)
        return ()
    items: list[tuple[Where, object]] = [(where, written)]
    if isinstance(written, list):
        items = [((*where, i), item) for i, item in enumerate(written)]
    if not items:
        complaints.add(where, "an empty list has no levels", "name at least one level")
    levels: list[Level] = []
    for place, item in items:
        for level in _expanded(item, setting, place, complaints):
            if any(level == other and type(level) is type(other) for other in levels):
                complaints.add(place, f"level {shown(level)} is given twice", "keep one of them")
            else:
                levels.append(level)
    return tuple(levels)


def _expanded(
    item: object, setting: Setting, where: Where, complaints: Complaints
) -> tuple[Level, ...]:
    try:
        if setting.kind in QUANTITIES and units.is_range(item):
            return tuple(
                within_limits(value, setting, item)
                for value in units.parse_range(item, setting.kind)  # type: ignore[arg-type]
            )
        return (read_level(item, setting),)
    except units.UnitError as error:
        several = isinstance(item, str) and _SEVERAL.fullmatch(item.strip())
        hint = "separate levels by commas" if several else error.hint
        complaints.add(where, f"`{_name(where)}`: {error.message}", hint)
        return ()


def _has_levels(written: object, setting: Setting) -> bool:
    if setting.kind in LISTS:
        return False
    return isinstance(written, list) or (setting.kind in QUANTITIES and units.is_range(written))


def _one(written: object, setting: Setting, where: Where, complaints: Complaints) -> SettingValue:
    try:
        return read_value(written, setting)
    except units.UnitError as error:
        complaints.add(where, f"`{_name(where)}`: {error.message}", error.hint)
        return None


def _group(
    written: object, setting: Setting, where: Where, complaints: Complaints
) -> dict[str, Plain] | None:
    if not isinstance(written, dict):
        hint = f"{setting.meaning}: {', '.join(setting.settings)}"
        complaints.add(where, f"`{_name(where)}` must be a mapping, not {shown(written)}", hint)
        return None
    values, _ = read_settings(written, setting.settings, where, complaints, noun="known keys")
    return {name: value for name, value in values.items() if is_plain(value)}


def _name(where: Where) -> str:
    return ".".join(str(part) for part in where if isinstance(part, str))
