"""The commands of a platform's file with all their placeholders filled: pure."""

from __future__ import annotations

import re
import uuid
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace

from steelyard.hosts.calls import Call, Identity
from steelyard.hosts.site import filled
from steelyard.hosts.undo.actions.command_line import TakeDown
from steelyard.study.catalogue import Platform
from steelyard.study.declared.placeholders import (
    Quote,
    Value,
    as_it_is,
    chosen_words,
    placeholders,
    spliced,
)
from steelyard.study.declared.setting import is_plain
from steelyard.study.platform.entry import Command, Commands, Reading, Step, Verb
from steelyard.systems.command_line.shells import FAR_WORDS, QUOTES, far_script
from steelyard.systems.platform import InstanceContext, RawDisk

_NAMESPACE = uuid.UUID("7b1c6a52-8f0e-5d9c-9a54-3f0b6a7b9e21")
_FIRST_NUMBER = 100_000
_NUMBERS = 899_999_999


def mark_of(label: str, folder: str) -> str:
    """A UUID that no one else gives to a thing of this name: it says that the thing is ours."""
    return str(uuid.uuid5(_NAMESPACE, f"{label} {folder}"))


def number_of(mark: str) -> int:
    """A number from it, for tools that know things by number."""
    return _FIRST_NUMBER + zlib.crc32(mark.encode()) % _NUMBERS


def values_of(context: InstanceContext, platform: Platform) -> dict[str, Value]:
    """What stands in the placeholders that are always there."""
    mark = mark_of(context.label, context.folder)
    given = {name: context.spec.settings.get(name) for name in platform.settings}
    return {
        **{n: _of_instance(v, context.instance) for n, v in given.items() if is_plain(v)},
        "label": context.label,
        "mark": mark,
        "number": number_of(mark),
        "instance": context.instance,
        "folder": context.folder,
    }


def _of_instance(value: Value, instance: int) -> Value:
    """A text in which ``{instance}`` is the number: addresses must differ among equal systems."""
    return value.replace("{instance}", str(instance)) if isinstance(value, str) else value


def disk_values(disk: RawDisk, number: int) -> dict[str, Value]:
    """What fills the placeholders of a disk; the first that is attached has number 1, letter b."""
    return {
        "disk.name": disk.name,
        "disk.size": disk.size_bytes,
        "disk.cache": disk.cache,
        "disk.bus": disk.bus,
        "disk.number": number,
        "disk.letter": chr(ord("a") + number),
    }


class _Filled(str):
    """Words of a setting: they stand as written, only the values in them are quoted."""

    __slots__ = ()


def _unless_filled(quote: Quote) -> Quote:
    return lambda value, text: text if isinstance(value, _Filled) else quote(value, text)


@dataclass(frozen=True)
class Renderer:
    """Fills placeholders; one that cannot be filled is a ``not_supported`` failure."""

    commands: Commands
    values: Mapping[str, Value]

    def knowing(self, **more: Value) -> Renderer:
        """The same with further values."""
        return replace(self, values={**self.values, **more})

    def with_disk(self, disk: RawDisk, number: int) -> Renderer:
        return replace(self, values={**self.values, **disk_values(disk, number)})

    def call(self, command: Command, verb: Verb) -> Call:
        """The command in full."""
        timeout_s = self.commands.deadline_s(verb)
        if not isinstance(command, Step):
            return Call(self.argv(command), timeout_s)
        stdin = None if command.stdin is None else self.text(command.stdin, command.escape)
        timeout_s = command.within or timeout_s
        argv, until, every_s = self.argv(command), command.until, command.every
        return Call(argv, timeout_s, stdin, command.fine, until, every_s)

    def argv(self, command: Command) -> tuple[str, ...]:
        if not command.through:
            return self.words(command.run)
        shell = self.commands.shell
        if command.script is not None:
            far = far_script(shell, self.text(command.script, shell))
        else:
            far = FAR_WORDS[shell](self.words(command.run))
        return (*self.words(self.commands.through), *far)

    def inside(self, words: list[str] | tuple[str, ...]) -> tuple[str, ...]:
        """Words that run others inside, from the machine that carries the system."""
        way = self.commands.inside
        inner = FAR_WORDS[way.quoting](words)
        entering = (*self.words(way.pipe), *inner)
        if not way.through:
            return entering
        return (*self.words(self.commands.through), *FAR_WORDS[self.commands.shell](entering))

    def reading(self, reading: Reading) -> Call:
        """The command of a reading that is not answered by the agent."""
        return self.call(reading, "read")

    def identity(self) -> Identity:
        exists = self.commands.exists
        ours = self._filled(exists.ours, lambda _value, text: re.escape(text))
        return Identity(self.call(exists, "exists"), exists.absent, ours)

    def text(self, text: str, escape: str = "none") -> str:
        """A text with its placeholders filled and escaped."""
        return self._filled(text, QUOTES[escape])

    def words(self, words: list[str]) -> tuple[str, ...]:
        """Words with placeholders filled; ``{words.NAME}`` alone becomes as many as it has."""
        return spliced(words, self.text, self._setting_words)

    def _setting_words(self, name: str, quote: Quote = as_it_is) -> tuple[str, ...]:
        chosen = chosen_words(name, self.values.get(name), self.commands.words)
        return tuple(self._filled(word, quote) for word in chosen)

    def _filled(self, text: str, quote: Quote) -> str:
        named = {p.name.removeprefix("words.") for p in placeholders(text) if "words." in p.name}
        one = {
            f"words.{name}": _Filled(" ".join(self._setting_words(name, quote))) for name in named
        }
        return filled(text, {**self.values, **one}, _unless_filled(quote))


def inverse_of(context: InstanceContext, renderer: Renderer) -> TakeDown:
    """How the instance is taken down; it needs neither the platform's file nor the study."""
    identity, commands = renderer.identity(), renderer.commands
    return TakeDown(
        label=context.label,
        platform=context.spec.platform,
        call=asdict(identity.call),
        absent=identity.absent,
        ours=identity.ours,
        down=tuple(asdict(renderer.call(step, "down")) for step in commands.down),
        clean=tuple(asdict(renderer.call(step, "down")) for step in commands.clean),
    )
