"""One execution of a command, held and accounted for by the engine.

The engine is a small process: what the kernel calls the peak of memory of a child includes that of
the process it was forked from, and Python's would hide that of most commands.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import socket
import statistics
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from steelyard.engine.locate import check_version, find_engine
from steelyard.errors import HostError
from steelyard.records.results.timing import Execution

_CONTROL = 3
_SEPARATED = re.compile(r"[-+]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?(e[-+]?\d+)?", re.IGNORECASE)
_NOTHING = Path(os.devnull)
_LAST_WORDS = 400
_SHELL_STARTS = 11
_INTERPRETED = frozenset("|&;<>()$`\\\"'*?[]#~=%{}!\n")
"""What a shell may interpret, as POSIX lists the characters that need quotes."""


class CommandFailedError(HostError):
    """A command cannot be started, or ended with another exit code than 0."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint=hint, slug="command-failed")


class CleanupFailedError(CommandFailedError):
    """Cleanups failed; ``before`` is the failure that ended the measurement, if one did."""

    def __init__(self, failed: Sequence[str], hint: str, before: HostError | None = None) -> None:
        self.failed, self.before = tuple(failed), before
        first = [] if before is None else [before.message]
        super().__init__("\n".join([*first, *failed]), hint)


@dataclass(frozen=True)
class Shell:
    """How a command line becomes a process: ``words`` before it, or none for no shell."""

    words: tuple[str, ...]

    @classmethod
    def chosen(cls, asked: str, command: str) -> Shell:
        """``default`` takes a shell for a command that holds anything that one would interpret."""
        if asked == "none" or (asked == "default" and not set(command) & _INTERPRETED):
            return cls(())
        return cls(("/bin/sh", "-c") if asked == "default" else (*shlex.split(asked), "-c"))

    def argv(self, command: str) -> list[str]:
        if self.words:
            return [*self.words, command]
        try:
            return shlex.split(command)
        except ValueError as error:
            raise CommandFailedError(
                f"`{command}` cannot be split into words: {error}", "close its quotes"
            ) from error

    def start_s(self) -> float | None:
        """The median time of an empty command; ``None`` without a shell."""
        if not self.words:
            return None
        argv = self.argv(":")
        return statistics.median(execute(argv).wall_s for _ in range(_SHELL_STARTS))


@dataclass(frozen=True)
class Streams:
    """Where a command reads from and writes to.

    ``shown`` passes its output on to standard error, beside the progress. ``number``
    finds the last number that the output holds, by its first group.
    """

    input: Path | None = None
    shown: bool = False
    number: re.Pattern[str] | None = None


def execute(
    argv: Sequence[str], streams: Streams | None = None, most_s: float | None = None
) -> Execution:
    """Runs a command to its end, and ends every process that it started; raises as `held`."""
    with held(argv, streams, most_s) as done:
        return done


@contextmanager
def held(
    argv: Sequence[str], streams: Streams | None = None, most_s: float | None = None
) -> Iterator[Execution]:
    """Runs a command to its end; processes that it has left are ended with the context.

    The clock runs from before the process is made until it has been waited for. Its input is
    empty unless there is one. A command that runs for longer than ``most_s`` is ended.

    Raises:
        CommandFailedError: it cannot be started, did not end, or its output holds no number.
    """
    chosen = streams or Streams()
    with TemporaryFile() as output:
        with (chosen.input or _NOTHING).open("rb") as source:
            ours, holder = _held(argv, source, output, chosen)
        try:
            with ours, ours.makefile("rb") as lines:
                ours.settimeout(most_s)
                try:
                    how = _until_it_ends(argv, map(json.loads, lines))
                except TimeoutError as error:
                    raise _unended(argv, most_s) from error
                yield replace(how, printed=_printed(argv, output, chosen.number, how))
        finally:
            os.waitpid(holder, 0)


def _unended(argv: Sequence[str], most_s: float | None) -> CommandFailedError:
    return CommandFailedError(
        f"`{shlex.join(argv)}` did not end within {most_s:g} s, the budget of all executions",
        "run it by hand to see how long it takes; --budget allows more",
    )


def _until_it_ends(argv: Sequence[str], words: Iterator[dict[str, Any]]) -> Execution:
    first = next(words)
    if "refused" in first:
        raise CommandFailedError(
            f"cannot start `{shlex.join(argv)}`: {first['refused']['message']}",
            "give a program that is on the PATH; --shell sh runs what a shell has built in",
        )
    started, ended = first["started"], next(words)["ended"]["how"]
    return Execution(
        wall_s=(ended["monotonic_ns"] - started["monotonic_ns"]) / 1e9,
        user_s=ended["user_ns"] / 1e9,
        system_s=ended["system_ns"] / 1e9,
        rss_bytes=ended["max_rss_bytes"],
        exit_code=ended["exit_code"] if ended["signal"] is None else -int(ended["signal"]),
    )


@cache
def _engine() -> str:
    engine = find_engine()
    check_version(engine)
    return str(engine)


def _held(
    argv: Sequence[str], source: IO[bytes], output: IO[bytes], streams: Streams
) -> tuple[socket.socket, int]:
    """Starts the engine as the holder of the command: the socket that it reports to, its number.

    Nothing is captured that is not asked for. The engine ends the command when the socket closes.
    """
    ours, control = socket.socketpair()
    holder = [_engine(), "hold", "--control", str(_CONTROL), "--", *argv]
    with _NOTHING.open("wb") as nothing, control:
        out = output.fileno() if streams.number else 2 if streams.shown else nothing.fileno()
        actions = [
            (os.POSIX_SPAWN_DUP2, source.fileno(), 0),
            (os.POSIX_SPAWN_DUP2, out, 1),
            (os.POSIX_SPAWN_DUP2, 2 if streams.shown else nothing.fileno(), 2),
            (os.POSIX_SPAWN_DUP2, control.fileno(), _CONTROL),  # last: 3 may be one of the others
        ]
        return ours, os.posix_spawn(holder[0], holder, os.environ, file_actions=actions)


def _printed(
    argv: Sequence[str], output: IO[bytes], pattern: re.Pattern[str] | None, how: Execution
) -> float | None:
    """``None`` where no number is looked for, and where one that failed printed none."""
    if pattern is None:
        return None
    try:
        return _number(argv, output, pattern)
    except CommandFailedError:
        if how.exit_code:
            return None
        raise


def _number(argv: Sequence[str], output: IO[bytes], pattern: re.Pattern[str]) -> float:
    output.seek(0)
    text = output.read().decode("utf-8", "replace")
    found = pattern.findall(text)
    try:
        return float(_without_separators(found[-1]))
    except (IndexError, ValueError) as error:
        raise CommandFailedError(
            f"the output of `{shlex.join(argv)}` holds no number where `{pattern.pattern}` looks "
            f"for it: {text.strip()[-_LAST_WORDS:]!r}",
            "give an expression with one group that matches the digits; a decimal point, no comma",
        ) from error


def _without_separators(text: str) -> str:
    """``12,345.6`` without its comma; ``12,3`` may be a decimal comma and stays as it is."""
    return text.replace(",", "") if _SEPARATED.fullmatch(text) else text
