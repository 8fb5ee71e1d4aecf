"""A value as written against its setting as declared: in the base unit, within the limits."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeVar, get_args

from steelyard import units
from steelyard.study.declared.network_disks import read_network_disk
from steelyard.study.declared.setting import OFF, Setting, SettingValue
from steelyard.study.file.complaints import choice_hint
from steelyard.study.file.kinds import shown
from steelyard.study.model import Level

QUANTITIES: frozenset[str] = frozenset(get_args(units.Kind))
"""Kinds of settings that have a unit."""
_PER_USER = re.compile(r"([1-9]\d{0,8})\s+per\s+user", re.ASCII)
_ADDRESS = re.compile(r"[^\s/@]+:[0-9]{1,5}", re.ASCII)
_PORTS = Setting(kind="count", least=1, most=65535, meaning="a port")

Number = TypeVar("Number", int, float)


def default_of(setting: Setting) -> SettingValue:
    """The default in its base unit; ``None`` when there is none."""
    if setting.kind == "group" or setting.default is None:
        return None
    return read_value(setting.default, setting)


def defaults_of(declared: Mapping[str, Setting]) -> dict[str, SettingValue]:
    """Every setting with its default."""
    return {name: default_of(setting) for name, setting in declared.items()}


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
    if setting.kind in QUANTITIES:
        return within_limits(units.parse(written, setting.kind), setting, written)  # type: ignore[arg-type]
    if setting.kind not in _READERS:
        hint = f"name a single one of: {', '.join(setting.settings)}"
        raise units.UnitError("a group of settings has no levels", hint)
    return _READERS[setting.kind](written, setting)


def within_limits(value: Number, setting: Setting, written: object) -> Number:
    """The value. Raises ``UnitError`` beyond ``least`` or ``most``."""
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
    return tuple(int(within_limits(units.parse(item, "size"), setting, item)) for item in written)


def _words(written: object, setting: Setting) -> tuple[str, ...]:
    """One word stands for a list of one."""
    items = written if isinstance(written, list) else [written]
    return tuple(_word(item, setting) for item in items)


def _port(written: object, _setting: Setting) -> int:
    return int(within_limits(units.parse(written, "count"), _PORTS, written))


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


def _network_disk(written: object, _setting: Setting) -> str:
    return read_network_disk(str(written)).url


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
    "network disk": _network_disk,
    "flag": _flag,
    "per user": _per_user,
}
