"""Settings as written against settings as declared: values in base units, lists as levels."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar, get_args

from steelyard import units
from steelyard.study.declared.setting import OFF, Plain, Setting, SettingValue, is_plain
from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.kinds import shown
from steelyard.study.file.source import Where
from steelyard.study.model import Level

_QUANTITIES: frozenset[str] = frozenset(get_args(units.Kind))
_SEVERAL = re.compile(r"[0-9]+(\s+[0-9]+)+", re.ASCII)
_PER_USER = re.compile(r"([1-9]\d{0,8})\s+per\s+user", re.ASCII)

_LISTS = ("texts", "sizes", "words")
_ADDRESS = re.compile(r"[^\s/@]+:[0-9]{1,5}", re.ASCII)
_PORTS = Setting(kind="count", least=1, most=65535, meaning="a port")

Values = dict[str, SettingValue]
Number = TypeVar("Number", int, float)
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


def default_of(setting: Setting) -> SettingValue:
    """The default in its base unit; ``None`` when there is none."""
    if setting.kind == "group" or setting.default is None:
        return None
    return read_value(setting.default, setting)


def defaults_of(declared: Mapping[str, Setting]) -> Values:
    """Every setting with its default."""
    return {name: default_of(setting) for name, setting in declared.items()}


def read_levels(
    written: object, setting: Setting, where: Where, complaints: Complaints
) -> tuple[Level, ...]:
    """All levels of a list, of a range, or of a list that holds ranges."""
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
        if setting.kind in _QUANTITIES and units.is_range(item):
            return tuple(
                _within(value, setting, item)
                for value in units.parse_range(item, setting.kind)  # type: ignore[arg-type]
            )
        return (read_level(item, setting),)
    except units.UnitError as error:
        several = isinstance(item, str) and _SEVERAL.fullmatch(item.strip())
        hint = "separate levels by commas" if several else error.hint
        complaints.add(where, f"`{_name(where)}`: {error.message}", hint)
        return ()


def _has_levels(written: object, setting: Setting) -> bool:
    if setting.kind in _LISTS:
        return False
    return isinstance(written, list) or (setting.kind in _QUANTITIES and units.is_range(written))


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


def read_level(written: object, setting: Setting) -> Level:
    """One value that a factor could have. Raises ``UnitError``."""
    value = read_value(written, setting)
    if isinstance(value, str | int | float | bool):
        return value
    raise units.UnitError(f"{shown(written)} is not a single value", f"expected: {setting.meaning}")


def read_value(written: object, setting: Setting) -> SettingValue:
    """One value in its base unit. Raises ``UnitError``."""
    if setting.off is not None and (written == OFF or written is False):
        return OFF
    if setting.kind in _QUANTITIES:
        return _within(units.parse(written, setting.kind), setting, written)  # type: ignore[arg-type]
    if setting.kind not in _READERS:
        hint = f"name a single one of: {', '.join(setting.settings)}"
        raise units.UnitError("a group of settings has no levels", hint)
    return _READERS[setting.kind](written, setting)


def _within(value: Number, setting: Setting, written: object) -> Number:
    if setting.least is not None and value < setting.least:
        least = units.format_level(setting.least, setting.kind).removesuffix(".0")
        raise units.UnitError(f"{shown(written)} is too small", f"the minimum is {least}")
    if setting.most is not None and value > setting.most:
        most = units.format_level(setting.most, setting.kind).removesuffix(".0")
        raise units.UnitError(f"{shown(written)} is too large", f"the maximum is {most}")
    return value


def _word(written: object, setting: Setting) -> str:
    word = str(written).lower() if isinstance(written, bool) else written
    if word not in setting.choices:
        off = () if setting.off is None or OFF in setting.choices else (OFF,)
        hint = choice_hint(str(written), (*off, *setting.choices), "choices")
        raise units.UnitError(f"{shown(written)} is not one of the choices", hint)
    return str(word)


def _text(written: object, setting: Setting) -> str:
    if isinstance(written, bool | list | dict):
        raise units.UnitError(f"{shown(written)} is not a text", f"expected: {setting.meaning}")
    if setting.pattern is not None and re.fullmatch(setting.pattern, str(written)) is None:
        hint = f"write it like `{setting.example}`: {setting.meaning}"
        raise units.UnitError(f"{shown(written)} cannot be read", hint)
    return str(written)


def _texts(written: object, setting: Setting) -> tuple[str, ...]:
    if not isinstance(written, list):
        raise units.UnitError(f"{shown(written)} is not a list", f"expected: {setting.meaning}")
    return tuple(_text(item, setting) for item in written)


def _sizes(written: object, setting: Setting) -> tuple[int, ...]:
    if not isinstance(written, list):
        raise units.UnitError(f"{shown(written)} is not a list", f"expected: {setting.meaning}")
    return tuple(int(_within(units.parse(item, "size"), setting, item)) for item in written)


def _words(written: object, setting: Setting) -> tuple[str, ...]:
    """One word stands for a list of one."""
    items = written if isinstance(written, list) else [written]
    return tuple(_word(item, setting) for item in items)


def _port(written: object, _setting: Setting) -> int:
    return int(_within(units.parse(written, "count"), _PORTS, written))


def _addresses(written: object, setting: Setting) -> dict[str, str]:
    if not isinstance(written, dict) or not written:
        hint = "write `{imap: mail.example.org:143}`"
        raise units.UnitError(f"{shown(written)} is not a mapping of protocols", hint)
    for protocol, address in written.items():
        if setting.choices and protocol not in setting.choices:
            hint = choice_hint(protocol, setting.choices, "protocols")
            raise units.UnitError(f"there is no protocol `{protocol}`", hint)
        if not isinstance(address, str) or _ADDRESS.fullmatch(address) is None:
            raise units.UnitError(f"{shown(address)} is no address", "write it like `HOST:143`")
    return {str(protocol): str(address) for protocol, address in written.items()}


def _flag(written: object, setting: Setting) -> bool:
    if not isinstance(written, bool):
        hint = f"write `true` or `false`: {setting.meaning}"
        raise units.UnitError(f"{shown(written)} is neither true nor false", hint)
    return written


def _per_user(written: object, _setting: Setting) -> int:
    match = _PER_USER.fullmatch(str(written).strip())
    if match is None:
        raise units.UnitError(f"{shown(written)} is not a number per user", "write `100 per user`")
    return int(match[1])


_READERS: dict[str, Callable[[object, Setting], SettingValue]] = {
    "word": _word,
    "text": _text,
    "texts": _texts,
    "sizes": _sizes,
    "words": _words,
    "port": _port,
    "addresses": _addresses,
    "flag": _flag,
    "per user": _per_user,
}
