"""Parts of a file that depend on a setting: when they apply, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.study.declared.placeholders import as_word
from steelyard.study.declared.setting import Setting, When
from steelyard.study.file.complaints import Mistake, choice_hint
from steelyard.study.file.source import Where

Settings = Mapping[str, Setting]


def values_of(setting: Setting) -> tuple[str, ...]:
    """Every value that a setting can have, as texts; none where they cannot be counted."""
    return ("true", "false") if setting.kind == "flag" else setting.choices


def holds(when: Mapping[str, tuple[str, ...]], settings: Mapping[str, object]) -> bool:
    """Whether every setting that a condition names has one of the values it names."""
    return all(as_word(settings.get(name)) in values for name, values in when.items())


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
