"""What stands in the places of a service file, and when a part of it applies."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.study.setting import Setting

GIVEN = ("folder", "data", "address", "threads")
"""Places that every service has."""


def holds(when: Mapping[str, tuple[str, ...]], settings: Mapping[str, object]) -> bool:
    """Whether every setting that a condition names has one of the values it names."""
    return all(as_word(settings.get(name)) in values for name, values in when.items())


def as_word(value: object) -> str:
    """A value as conditions and texts of a service file name it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def text_of(setting: Setting, value: object) -> str:
    """A value of a setting as it stands in a text: sizes in bytes, durations in seconds."""
    match setting.kind:
        case "flag":
            return "true" if value else "false"
        case "duration":
            return f"{value:g}"
        case "texts":
            return " ".join(str(item) for item in value) if isinstance(value, tuple) else ""
        case _:
            return str(value)
