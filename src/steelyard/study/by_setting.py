"""What a service's or a workload's file makes depend on a setting, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.study.file.complaints import choice_hint
from steelyard.study.file.source import Where
from steelyard.study.mistake import Mistake
from steelyard.study.service.entry import When
from steelyard.study.setting import Setting

Settings = Mapping[str, Setting]


def values_of(setting: Setting) -> tuple[str, ...]:
    """Every value that a setting can have, as texts; none where they cannot be counted."""
    return ("true", "false") if setting.kind == "flag" else setting.choices


def no_setting(where: Where, name: str, settings: Settings) -> Mistake:
    """That a file has no such setting."""
    hint = choice_hint(name, settings, "settings")
    return Mistake(where, f"there is no setting `{name}`", hint)


def condition_mistakes(where: Where, when: When, settings: Settings) -> Iterator[Mistake]:
    """Settings of a condition that are not there, and values that they never have."""
    for name, values in when.items():
        if name not in settings:
            yield no_setting((*where, name), name, settings)
            continue
        known = values_of(settings[name])
        for i, value in enumerate(values):
            if value not in known:
                hint = choice_hint(value, known, f"values of {name}")
                yield Mistake((*where, name, i), f"`{name}` is never `{value}`", hint)
