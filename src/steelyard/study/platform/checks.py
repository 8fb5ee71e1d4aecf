"""Whether a platform's file makes sense: placeholders, patterns and verbs, each with its line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from steelyard.study.catalogue import Platform
from steelyard.study.declared.placeholders import placeholders
from steelyard.study.declared.setting import Setting
from steelyard.study.declared.text_checks import placeholder_mistakes, words_in, words_mistakes
from steelyard.study.file.complaints import Complaints, choice_hint
from steelyard.study.file.source import Where
from steelyard.study.platform.entry import STEP_VERBS, Command, Commands, Reading, Step
from steelyard.study.platform.placeholders import Text, texts

_PLAIN_RESETS = ("service", "process")
_ROOT: Where = ("commands",)


def check(platform: Platform, complaints: Complaints) -> None:
    """Adds every mistake of a file whose keys and kinds of values are right already."""
    if platform.commands is None:
        if platform.driver == "command_line":
            hint = "add `commands:`; docs/guide/add-a-platform.md begins with an example"
            complaints.add(("driver",), "the driver `command_line` needs `commands`", hint)
        return
    if platform.driver != "command_line":
        hint = "add `driver: command_line`"
        complaints.add(_ROOT, "`commands` need the driver `command_line`", hint, at_key=True)
    commands = platform.commands
    _words(platform, commands, complaints)
    for text in texts(platform, commands, complaints.source):
        _check_text(text, platform, commands, complaints)
    for where, command in _commands(commands):
        _one_source(where, command, commands, complaints)
    for where, pattern, needs_group in _patterns(commands):
        _pattern(where, pattern, needs_group, complaints)
    _ways(commands, complaints)
    _resets(platform, commands, complaints)
    check_apart(platform, complaints)


def _check_text(text: Text, platform: Platform, commands: Commands, complaints: Complaints) -> None:
    asked = words_in(text.text)
    single = {name for name in asked if name in commands.words and _always_one(commands, name)}
    if not single.issuperset(asked):
        mistakes = words_mistakes(text.where, text.text, commands.words, listed=text.splices)
        complaints.add_all(mistakes)
    known = {name: _kind(name, platform) for name in text.known}
    known |= {f"words.{name}": None for name in asked}
    complaints.add_all(placeholder_mistakes(text.where, text.text, known))


def _always_one(commands: Commands, name: str) -> bool:
    words = commands.words[name]
    choices = list(words.values()) if isinstance(words, dict) else [words]
    return all(len(choice) == 1 for choice in choices)


def _kind(name: str, platform: Platform) -> str | None:
    setting = platform.settings.get(name)
    return "size" if name == "disk.size" else None if setting is None else setting.kind


def _words(platform: Platform, commands: Commands, complaints: Complaints) -> None:
    for name, words in commands.words.items():
        where: Where = (*_ROOT, "words", name)
        setting = platform.settings.get(name)
        if setting is None:
            hint = choice_hint(name, platform.settings, "settings")
            complaints.add(where, f"there is no setting `{name}`", hint, at_key=True)
        elif isinstance(words, dict) and set(words) != set(setting.choices):
            hint = f"name each choice once: {', '.join(setting.choices) or 'it has none'}"
            message = f"the words of `{name}` are not those of its choices"
            complaints.add(where, message, hint, at_key=True)


def _commands(commands: Commands) -> Iterator[tuple[Where, Command]]:
    yield (*_ROOT, "exists"), commands.exists
    for verb in (*STEP_VERBS, "ready", "clean"):
        for i, step in enumerate(getattr(commands, verb)):
            yield (*_ROOT, verb, i), step
    for place, reading in commands.readings():
        yield (*_ROOT, *place), reading
    for strength, reset in commands.reset.items():
        where = (*_ROOT, "reset", strength)
        for i, step in enumerate(reset.steps):
            yield (*where, "steps", i), step
        for name, proof in reset.prove.items():
            yield (*where, "prove", name), proof


def _one_source(where: Where, command: Command, commands: Commands, complaints: Complaints) -> None:
    sources = ["run", "script"] + (["inside", "agent"] if isinstance(command, Reading) else [])
    given = [source for source in sources if getattr(command, source)]
    if len(given) != 1:
        listed = " or ".join(f"`{source}`" for source in sources)
        complaints.add(
            where, f"a command needs {listed}, exactly one of them", "see platform-file.md"
        )
    elif given == ["script"] and commands.shell == "none":
        hint = "write `run: [...]`, or say with `shell` who reads the script"
        complaints.add(where, "a script needs a shell", hint)
    elif given == ["run"] and commands.shell == "powershell" and command.through:
        hint = "write `script: ...`; placeholders in it are quoted for PowerShell"
        complaints.add(where, "PowerShell reads scripts, not words", hint)
    if isinstance(command, Reading) and command.json_path and command.pattern:
        complaints.add(where, "a value is read by `json` or by `pattern`", "take one of them out")


def _patterns(commands: Commands) -> Iterator[tuple[Where, str, bool]]:
    """Every regular expression, and whether it must have a group."""
    yield (*_ROOT, "exists", "absent"), commands.exists.absent, False
    yield (*_ROOT, "exists", "ours"), commands.exists.ours, False
    for i, rule in enumerate(commands.failures):
        yield (*_ROOT, "failures", i, "when"), rule.when, False
    for where, command in _commands(commands):
        if isinstance(command, Reading) and command.pattern is not None:
            yield (*where, "pattern"), command.pattern, True
        for key in ("fine", "until"):
            pattern = getattr(command, key, None) if isinstance(command, Step) else None
            if pattern is not None:
                yield (*where, key), pattern, False


def _pattern(where: Where, pattern: str, needs_group: bool, complaints: Complaints) -> None:
    try:
        groups = re.compile(pattern).groups
    except re.error as error:
        message = f"not a regular expression: {error.msg}"
        complaints.add(where, message, "see the syntax of Python's `re`")
        return
    if needs_group and groups < 1:
        hint = "put parentheses around the part that is the value"
        complaints.add(where, "the pattern has no group", hint)


def _ways(commands: Commands, complaints: Complaints) -> None:
    if bool(commands.inside.pipe) == bool(commands.inside.join):
        hint = "write `inside: {pipe: [TOOL, exec, ...]}` or `inside: {join: [...]}`"
        complaints.add((*_ROOT, "inside"), "the agent is reached by `pipe` or by `join`", hint)
    if "{mark}" not in commands.exists.ours:
        hint = "put `{mark}` into what `up` makes, and look for it here"
        message = "without `{mark}` a thing of somebody else could pass for ours"
        complaints.add((*_ROOT, "exists", "ours"), message, hint)
    for name, file in commands.files.items():
        if not file.path.startswith("{folder}/"):
            hint = "begin with `{folder}/`: that folder is removed with the system"
            message = "a file outside the folder of the system would be left over"
            complaints.add((*_ROOT, "files", name, "path"), message, hint)
    if bool(commands.attach) != bool(commands.detach):
        given = "attach" if commands.attach else "detach"
        other = "detach" if commands.attach else "attach"
        message = f"`{given}` needs `{other}`"
        complaints.add((*_ROOT, given), message, f"add `{other}`", at_key=True)


def _resets(platform: Platform, commands: Commands, complaints: Complaints) -> None:
    for i, strength in enumerate(platform.resets):
        if strength not in _PLAIN_RESETS and strength not in commands.reset:
            hint = f"add `{strength}` below `commands.reset`, or take it out here"
            complaints.add(("resets", i), f"no commands say how to reset `{strength}`", hint)
    for strength, reset in commands.reset.items():
        where: Where = (*_ROOT, "reset", strength)
        if strength not in platform.resets:
            hint = f"add `{strength}` to `resets`"
            complaints.add(where, f"reset `{strength}` is not declared", hint, at_key=True)
        if bool(reset.steps) == reset.remake:
            complaints.add(where, "a reset has `steps` or `remake`", "write one of them")
        if not reset.prove:
            complaints.add(where, "nothing proves this reset", "add `prove`")
        for name, proof in reset.prove.items():
            if (proof.expect is None) == (proof.equals is None):
                hint = "write `expect: changed`, `expect: same` or `equals: TEXT`"
                complaints.add((*where, "prove", name), "what must the value be?", hint)


INSTANCE = "{instance}"
_OWN = ("label", "mark", "number", "instance", "folder")
"""Placeholders that are another text for each instance."""


def shared(declared: Mapping[str, Setting], given: Mapping[str, object]) -> list[str]:
    """Names of the settings that would be the same for all instances, and must not be."""
    return [
        name
        for name, setting in declared.items()
        if setting.differs and given.get(name) is not None and INSTANCE not in str(given[name])
    ]


def check_apart(platform: Platform, complaints: Complaints) -> None:
    """Adds what a file says of an address that several instances would have alike."""
    for name, setting in platform.settings.items():
        if setting.differs and setting.kind != "text":
            message = f"only a text can hold `{INSTANCE}`, and `{name}` is a {setting.kind}"
            hint = "make its kind `text`, or take `differs` out"
            complaints.add(("settings", name, "differs"), message, hint)
    reading = None if platform.commands is None else platform.commands.address
    if reading is None:
        return
    text = " ".join([*reading.run, reading.script or "", *reading.inside])
    names = [place.name for place in placeholders(text)]
    fixed = [name for name in names if name in platform.settings]
    apart = any(name in _OWN or _differs(platform, name) for name in names)
    if fixed and not apart and not reading.inside:
        hint = f"say `differs: true` of `{fixed[0]}`: a study then writes `{INSTANCE}` into it"
        message = f"by `{fixed[0]}` alone, all instances would have one address"
        complaints.add(("commands", "address"), message, hint, at_key=True)


def _differs(platform: Platform, name: str) -> bool:
    setting = platform.settings.get(name)
    return setting is not None and setting.differs
