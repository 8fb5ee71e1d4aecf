"""The text of each placeholder of a workload file, for one trial. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.hosts.site import filled
from steelyard.study.declared.placeholders import Value, as_word, chosen_words, fill_known, spliced
from steelyard.study.declared.setting import Setting, Settings, Words
from steelyard.study.service.placeholders import text_of
from steelyard.study.workload.entry import Workload

Values = dict[str, Value]


def tool_values(entry: Workload, settings: Settings, given: Mapping[str, Value]) -> Values:
    """Every placeholder with its text; ``given`` are those that no setting gives.

    Raises:
        SystemFailure: ``not_supported``: a placeholder has no value.
    """
    values: Values = dict(given)
    for name, setting in entry.settings.items():
        value = settings.get(name)
        if value is not None:
            values[name] = _text(setting, value, given)
    for name, place in entry.placeholders.items():
        values[name] = filled(place.texts[as_word(settings.get(place.by))], values)
    for name, path in entry.writes.items():
        values[name] = filled(path, values)
    return values


def command_words(
    templates: Words, entry: Workload, settings: Settings, values: Mapping[str, Value]
) -> list[str]:
    """The words of a command with every placeholder filled.

    ``{words.NAME}`` becomes the words of a setting, once for each of its items where it is a list.
    """

    def several(name: str) -> list[str]:
        value = settings.get(name)
        items = value if isinstance(value, tuple) else (value,)
        return [
            filled(word, {**values, name: _text(entry.settings[name], item, values)})
            for item in items
            if item is not None
            for word in chosen_words(name, item, entry.words)
        ]

    return list(spliced(templates, lambda text: filled(text, values), several))


def _text(setting: Setting, value: object, values: Mapping[str, Value]) -> str:
    if isinstance(value, tuple) or setting.kind not in ("text", "texts"):
        return text_of(setting, value)
    return fill_known(str(value), values) if setting.holds_placeholders else str(value)
