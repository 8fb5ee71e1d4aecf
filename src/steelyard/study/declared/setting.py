"""Settings: as declared, with kind, limits, default and meaning; and the values that they have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeGuard

from pydantic import BaseModel, ConfigDict

SettingKind = Literal[
    "size",
    "duration",
    "rate",
    "share",
    "count",
    "port",
    "number",
    "word",
    "text",
    "texts",
    "sizes",
    "words",
    "addresses",
    "network disk",
    "flag",
    "per user",
    "group",
]
BASE_UNITS: dict[str, str] = {"size": "bytes", "duration": "s", "rate": "bit/s", "share": "ratio"}

OFF = "off"

Plain = str | int | float | bool | None
SettingValue = Plain | tuple[str, ...] | tuple[int, ...] | Mapping[str, Plain]
"""A value as read, in its base unit; ``None`` where a setting is not set."""
Settings = Mapping[str, SettingValue]

Words = tuple[str, ...]
When = dict[str, Words]
"""Values of settings, by their names, for which a part of a file holds."""


def is_plain(value: SettingValue) -> TypeGuard[Plain]:
    """Whether a value is a single one."""
    return not isinstance(value, tuple | Mapping)


class Entry(BaseModel):
    """Something that is declared in a file; keys it does not have are mistakes."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Setting(Entry):
    """One setting as declared. ``default`` is as an author would write it; ``None`` is unset.

    ``least`` and ``most`` are limits in the base unit, ``pattern`` is what a text must match and
    ``example`` one that does. ``option`` is the word of the service's command line that takes the
    value, ``options`` the words that each choice becomes; a flag's option stands alone. ``off``
    says what the level ``off`` means; without it there is none. What is ``required`` has no default
    that could be right. What ``differs`` is a text that each instance of a system must have for
    itself. What ``holds_placeholders`` is a text whose own placeholders are filled, too.
    """

    option: str | None = None
    options: dict[str, tuple[str, ...]] = {}
    kind: SettingKind
    default: object = None
    required: bool = False
    differs: bool = False
    holds_placeholders: bool = False
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    pattern: str | None = None
    example: str | None = None
    meaning: str
    runs: bool = True
    off: str | None = None
    settings: dict[str, Setting] = {}

    @property
    def unit(self) -> str | None:
        """Base unit of the resolved value."""
        return BASE_UNITS.get(self.kind)
