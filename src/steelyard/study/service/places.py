"""What stands in the places of a service file, and when a part of it applies."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from steelyard.study.places import as_word
from steelyard.study.setting import Setting

GIVEN = ("folder", "sockets", "data", "address", "threads")
"""Places that every service has."""


def holds(when: Mapping[str, tuple[str, ...]], settings: Mapping[str, object]) -> bool:
    """Whether every setting that a condition names has one of the values it names."""
    return all(as_word(settings.get(name)) in values for name, values in when.items())


def text_of(setting: Setting, value: object) -> str:
    """A value of a setting as it stands in a text: sizes in bytes, durations in seconds."""
    match setting.kind:
        case "flag":
            return "true" if value else "false"
        case "duration" | "rate" | "number" | "share":
            return _plain(value)
        case "texts":
            return " ".join(str(item) for item in value) if isinstance(value, tuple) else ""
        case _:
            return str(value)


def _plain(value: object) -> str:
    """A number without an exponent, and without decimals that are none."""
    exact = Decimal(str(value))
    whole = exact == exact.to_integral_value()
    return str(int(exact)) if whole else format(exact.normalize(), "f")
