"""What is wrong in a workload file besides its grammar: placeholders, settings, patterns, metrics.

Pure. Every text is checked when the file is read, so that no trial is the first to see a
placeholder that nothing fills or a pattern that cannot be.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from steelyard import units
from steelyard.study.declared.conditions import condition_mistakes, no_setting, values_of
from steelyard.study.declared.placeholders import placeholders
from steelyard.study.declared.responses import Response
from steelyard.study.declared.setting import When
from steelyard.study.declared.text_checks import (
    placeholder_mistakes,
    value_mistakes,
    version_mistakes,
    words_in,
    words_mistakes,
)
from steelyard.study.declared.value import default_of
from steelyard.study.file.complaints import Mistake, choice_hint
from steelyard.study.file.source import Where
from steelyard.study.workload.entry import Workload, is_version
from steelyard.study.workload.output_checks import output_mistakes
from steelyard.study.workload.placeholders import (
    commands_of,
    known_placeholders,
    texts_of,
    words_of,
)

_NAME = re.compile(r"[a-z][a-z0-9_-]*(\.[a-z0-9_+-]+)+")


def mistakes(entry: Workload, standard: Mapping[str, Response]) -> Iterator[Mistake]:
    """All that is wrong with a workload; ``standard`` are the responses that are always there."""
    yield from setting_mistakes(entry)
    if not entry.is_tool:
        yield from _no_tool(entry)
        return
    yield from _duration(entry)
    yield from _version(entry)
    yield from _placeholders(entry)
    yield from _texts(entry)
    yield from _metrics(entry, standard)
    yield from output_mistakes(entry)


def setting_mistakes(entry: Workload) -> Iterator[Mistake]:
    """What is wrong whether the workload is a tool or not."""
    yield from _settings(entry)
    yield from _conditions(entry)


def _settings(entry: Workload) -> Iterator[Mistake]:
    for name, setting in entry.settings.items():
        try:
            default_of(setting)
        except units.UnitError as error:
            yield Mistake(("settings", name, "default"), error.message, error.hint)
    said = entry.speaks_by
    if said is not None and (said not in entry.settings or entry.settings[said].kind != "word"):
        hint = "name a setting of kind `word` whose choices are protocols"
        yield Mistake(("speaks_by",), f"`{said}` is no setting of this file that is a word", hint)


_OF_TOOLS = (
    "words", "placeholders", "files", "prepare", "then", "cleanup", "writes", "metrics", "tables",
    "refuses", "ends", "requires", "packages", "version",
)  # fmt: skip


def _no_tool(entry: Workload) -> Iterator[Mistake]:
    for key in _OF_TOOLS:
        if getattr(entry, key):
            hint = "add `command: [PROGRAM, ...]`: the words that are measured"
            yield Mistake((key,), f"`{key}` is of a tool, and there is no command", hint)


def _conditions(entry: Workload) -> Iterator[Mistake]:
    conditions: list[tuple[Where, When]] = [
        (("files", i, "when"), file.when) for i, file in enumerate(entry.files)
    ]
    for key in ("prepare", "cleanup"):
        steps = enumerate(getattr(entry, key))
        conditions += [((key, i, "when"), step.when) for i, step in steps]
    conditions += [(("expects", i, "when"), one.when) for i, one in enumerate(entry.expects)]
    conditions += [(("metrics", name, "when"), m.when) for name, m in entry.metrics.items()]
    for where, when in conditions:
        yield from condition_mistakes(where, when, entry.settings)


def _duration(entry: Workload) -> Iterator[Mistake]:
    if entry.ends is None:
        hint = "write `ends: window` where it is given how long to run, or `ends: by itself`"
        yield Mistake(("command",), "nothing says when the tool ends", hint)
    asked = _names_in(entry)
    told = {name for name in ("window", "warmup") if name in asked}
    if entry.ends == "window" and "window" not in told:
        hint = "put `{window}` or `{window:ms}` where the tool takes its duration"
        yield Mistake(("ends",), "the command never says how long the window is", hint)
    if entry.ends == "by itself" and told:
        hint = "write `ends: window`, or take the placeholder out"
        yield Mistake(("ends",), "a tool that ends by itself is given how long to run", hint)
    if (entry.warmup == "itself") != ("warmup" in told):
        hint = "write both `warmup: itself` and a placeholder `{warmup}`, or neither"
        yield Mistake(("command",), "the command does not fit `warmup`", hint)
    if entry.warmup == "beforehand" and entry.ends != "window":
        hint = "write `ends: window`, or take it out"
        yield Mistake(("warmup",), "only what runs for a time can run shorter beforehand", hint)


def _names_in(entry: Workload) -> set[str]:
    """Placeholders of the command, those of the words it may hold included."""
    texts = [text for where, text in commands_of(entry) if where[0] == "command"]
    texts += [text for _, text in words_of(entry)]
    texts += [text for place in entry.placeholders.values() for text in place.texts.values()]
    texts += [file.content for file in entry.files]
    return {place.name for text in texts for place in placeholders(text)}


def _version(entry: Workload) -> Iterator[Mistake]:
    version = entry.version
    if version is None:
        return
    yield from version_mistakes(version.pattern, "fio-([0-9.]+)")
    for key in ("least", "before"):
        written = getattr(version, key)
        if written is not None and not is_version(written):
            hint = 'numbers with dots between, in quotes, as "3.10"'
            yield Mistake(("version", key), f"`{written}` is no version", hint)


def _placeholders(entry: Workload) -> Iterator[Mistake]:
    for name, place in entry.placeholders.items():
        if place.by not in entry.settings:
            yield no_setting(("placeholders", name, "by"), place.by, entry.settings)
            continue
        yield from _by_value(("placeholders", name, "texts"), place.by, set(place.texts), entry)
    for name, words in entry.words.items():
        if name not in entry.settings:
            yield no_setting(("words", name), name, entry.settings)
        elif isinstance(words, dict):
            yield from _by_value(("words", name), name, set(words), entry)


def _by_value(where: Where, name: str, given: set[str], entry: Workload) -> Iterator[Mistake]:
    setting = entry.settings[name]
    yield from value_mistakes(where, name, setting, given)
    may_be_empty = setting.default is None and not setting.required
    if values_of(setting) and may_be_empty and where[0] == "placeholders":
        hint = f"give `{name}` a default, or add `required: true`"
        yield Mistake(where, f"`{name}` may be left out, and then nothing stands here", hint)


def _texts(entry: Workload) -> Iterator[Mistake]:
    known = known_placeholders(entry)
    listed = {where for where, _ in commands_of(entry)}
    own = dict(words_of(entry))
    for where, text in texts_of(entry):
        asked = words_in(text)
        yield from words_mistakes(where, text, entry.words, listed=where in listed)
        yield from placeholder_mistakes(where, text, known | {f"words.{n}": None for n in asked})
        for placeholder in placeholders(text):
            name = placeholder.name
            if _may_be_empty(name, entry) and not (where in own and where[1] == name):
                hint = f"add `required: true`, a default, or use `words: {{{name}: [...]}}`"
                message = f"`{name}` may be left out, and then its placeholder has no value"
                yield Mistake(where, message, hint)


def _may_be_empty(name: str, entry: Workload) -> bool:
    setting = entry.settings.get(name)
    if setting is None or name in entry.placeholders:
        return False
    return setting.default is None and not setting.required


def _metrics(entry: Workload, standard: Mapping[str, Response]) -> Iterator[Mistake]:
    families = {name.partition(".")[0] for name in standard if "." in name}
    for name, metric in entry.metrics.items():
        where: Where = ("metrics", name)
        said = [k for k in ("label", "unit", "direction", "meaning") if getattr(metric, k) is None]
        if name in standard:
            if len(said) < 4 or metric.instances is not None or metric.may_be_zero is not None:
                hint = "take out label, unit, direction, meaning, instances and may_be_zero"
                yield Mistake(where, f"`{name}` is a standard response and says this itself", hint)
        elif _NAME.fullmatch(name) is None or name.partition(".")[0] in families:
            hint = "begin with the name of the tool, as `fio.iops`"
            yield Mistake(where, f"`{name}` cannot be the name of a metric", hint)
        else:
            for key in said:
                hint = f"add `{key}: ...`, or take the name of a standard response"
                yield Mistake(where, f"`{key}` of `{name}` is missing", hint)
    if entry.primary not in entry.metrics and entry.primary != "run_time":
        hint = choice_hint(entry.primary, [*entry.metrics, "run_time"], "metrics")
        yield Mistake(("primary",), f"the tool does not measure `{entry.primary}`", hint)
