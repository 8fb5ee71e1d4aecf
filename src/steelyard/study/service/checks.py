"""What is wrong in a service file besides its grammar: placeholders, settings, programs.

Pure. Every text is checked when the catalogue is read, so that no trial is the first to see a
placeholder that nothing fills.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard import units
from steelyard.study.declared.conditions import condition_mistakes, no_setting
from steelyard.study.declared.placeholders import placeholders
from steelyard.study.declared.setting import When
from steelyard.study.declared.text_checks import (
    placeholder_mistakes,
    value_mistakes,
    version_mistakes,
)
from steelyard.study.declared.value import default_of
from steelyard.study.file.complaints import Mistake, choice_hint
from steelyard.study.file.source import Where
from steelyard.study.service.entry import FilesBySize, Maildirs, OneFile, Service
from steelyard.study.service.placeholders import GIVEN, texts_of

Partner = Mapping[str, Service]


def mistakes(entry: Service, others: Partner) -> Iterator[Mistake]:
    """All that is wrong with a service. ``others`` are those it can be made of, by name."""
    yield from _settings(entry)
    yield from _starts(entry)
    yield from _ports(entry)
    yield from _choices(entry)
    yield from _content(entry)
    yield from _processes(entry, others)
    yield from _texts(entry, others)


_OF_THE_STUDY = ("use", "ready_timeout")
"""Keys that a study writes beside the settings."""


def _settings(entry: Service) -> Iterator[Mistake]:
    for name, setting in entry.settings.items():
        if name in _OF_THE_STUDY:
            message = f"a study says `{name}` of every service: it can be no setting"
            yield Mistake(("settings", name), message, "give the setting another name")
        try:
            default_of(setting)
        except units.UnitError as error:
            yield Mistake(("settings", name, "default"), error.message, error.hint)
    for name in entry.limits:
        if name not in entry.settings:
            yield no_setting(("limits", name), name, entry.settings)
    for name in entry.load_limits:
        if name not in entry.limits:
            hint = "say under `limits` what is refused beyond it"
            yield Mistake(("load_limits", name), f"`{name}` is no limit of this service", hint)


def _starts(entry: Service) -> Iterator[Mistake]:
    if entry.started and entry.runs and not entry.command:
        hint = "add `command: [PROGRAM, ...]`, or `started: false` for one that runs already"
        yield Mistake(("summary",), "nothing says how the service is started", hint)
    if entry.version is not None:
        yield from version_mistakes(entry.version.pattern, "nginx/(\\S+)")


def _ports(entry: Service) -> Iterator[Mistake]:
    if (entry.ready == "command") != bool(entry.ready_command):
        hint = "write both `ready: command` and `ready_command: [...]`, or neither"
        yield Mistake(("ready",), "one of `ready` and `ready_command` is missing", hint)
    if entry.ready == "listening" and not entry.listeners:
        hint = "add `listeners: {PROTOCOL: port}`: what is waited for"
        yield Mistake(("ready",), "nothing listens that could be waited for", hint)
    for protocol, port in entry.listeners.items():
        setting = entry.settings.get(port)
        if setting is None or setting.kind != "port":
            hint = f"declare it: `settings: {{{port}: {{kind: port, meaning: ...}}}}`"
            message = f"`{port}` is no setting of kind `port`"
            yield Mistake(("listeners", protocol), message, hint)
    if entry.ready != "announced" and entry.started:
        for i, protocol in enumerate(entry.speaks):
            if protocol not in entry.listeners:
                hint = f"add `{protocol}: port` to `listeners`"
                message = f"nothing says where `{protocol}` is listened for"
                yield Mistake(("speaks", i), message, hint)


def _choices(entry: Service) -> Iterator[Mistake]:
    for name, place in entry.placeholders.items():
        setting = entry.settings.get(place.by)
        if setting is None:
            yield no_setting(("placeholders", name, "by"), place.by, entry.settings)
            continue
        yield from value_mistakes(
            ("placeholders", name, "texts"), place.by, setting, set(place.texts)
        )
    for where, when in _conditions(entry):
        yield from condition_mistakes(where, when, entry.settings)
    if entry.certificate is not None:
        setting = entry.settings.get(entry.certificate)
        if setting is None or "none" not in setting.choices:
            hint = "name a setting of kind `word` that can be `none`"
            message = f"`{entry.certificate}` cannot ask for a certificate"
            yield Mistake(("certificate",), message, hint)


def _conditions(entry: Service) -> Iterator[tuple[Where, When]]:
    for i, file in enumerate(entry.files):
        yield ("files", i, "when"), file.when
    for i, step in enumerate(entry.prepare):
        yield ("prepare", i, "when"), step.when
    for name, process in entry.processes.items():
        yield ("processes", name, "when"), process.when


_KINDS = {"bytes": "size", "sizes": "sizes", "mailboxes": "count", "messages": "count"}


def _content(entry: Service) -> Iterator[Mistake]:
    for i, made in enumerate(entry.content):
        for key, name in _named(made).items():
            setting = entry.settings.get(name)
            if setting is None or setting.kind != _KINDS[key]:
                hint = f"declare it: `settings: {{{name}: {{kind: {_KINDS[key]}, meaning: ...}}}}`"
                message = f"`{name}` is no setting of kind `{_KINDS[key]}`"
                yield Mistake(("content", i, key), message, hint)
    if entry.content and "seed" not in entry.settings:
        hint = "add `seed: {kind: count, default: 1, meaning: ...}` to `settings`"
        yield Mistake(("content",), "test content is made of a setting `seed`", hint)


def _named(made: OneFile | FilesBySize | Maildirs) -> dict[str, str]:
    return {key: str(value) for key, value in made.model_dump().items() if key in _KINDS}


def _processes(entry: Service, others: Partner) -> Iterator[Mistake]:
    for name, process in entry.processes.items():
        other = others.get(process.use)
        if other is None:
            hint = choice_hint(process.use, others, "services")
            message = f"there is no service `{process.use}`"
            yield Mistake(("processes", name, "use"), message, hint)
            continue
        for key in process.settings:
            if key not in other.settings:
                hint = choice_hint(key, other.settings, f"settings of {process.use}")
                where: Where = ("processes", name, "settings", key)
                yield Mistake(where, f"`{process.use}` has no setting `{key}`", hint)


def _texts(entry: Service, others: Partner) -> Iterator[Mistake]:
    known = known_placeholders(entry, others)
    for where, text in texts_of(entry):
        yield from placeholder_mistakes(where, text, known)
        for placeholder in placeholders(text):
            if _may_be_empty(placeholder.name, entry):
                name = placeholder.name
                hint = f"add `required: true`, a default, or `unset: {{{name}: TEXT}}`"
                message = f"`{name}` may be left out, and then its placeholder has no value"
                yield Mistake(where, message, hint)


def known_placeholders(entry: Service, others: Partner) -> dict[str, str | None]:
    """Names of all placeholders that the texts of a service may hold, with their kinds."""
    made = [
        f"{name}_{protocol}"
        for name, process in entry.processes.items()
        if process.use in others
        for protocol in others[process.use].listeners
    ]
    known: dict[str, str | None] = dict.fromkeys(
        (*GIVEN, *entry.accounts, *entry.placeholders, *made)
    )
    return known | {name: setting.kind for name, setting in entry.settings.items()}


def _may_be_empty(place: str, entry: Service) -> bool:
    setting = entry.settings.get(place)
    if (
        setting is None
        or place in entry.placeholders
        or place in entry.unset
        or setting.kind == "port"
    ):
        return False
    return setting.default is None and not setting.required and entry.ready != "announced"
