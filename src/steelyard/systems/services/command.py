"""The words that start a service: its command with every placeholder filled, then its options."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.hosts.site import filled
from steelyard.study.declared.setting import Setting
from steelyard.study.lookup import service_of
from steelyard.study.model import ServiceSpec


def command_line(spec: ServiceSpec, values: Mapping[str, str]) -> list[str]:
    """The command with its placeholders filled by ``values``, then its options."""
    entry = service_of(spec)
    words = [filled(word, values) for word in entry.command]
    for name, setting in entry.settings.items():
        value = spec.settings.get(name)
        words += [filled(word, values) for word in setting.options.get(str(value), ())]
        if setting.option is not None and value is not None:
            words += [setting.option, _word(setting, value)]
    return words


def _word(setting: Setting, value: object) -> str:
    match setting.kind:
        case "duration":
            return f"{value:.9f}s"
        case "word":
            return str(value).replace(" ", "-")
        case _:
            return str(value)
