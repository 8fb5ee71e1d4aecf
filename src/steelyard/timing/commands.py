"""Commands as subjects: what runs before, between and after their executions."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from steelyard.records.results.timing import Execution, Quantity, TimedVisit
from steelyard.timing.execution import (
    CleanupFailedError,
    CommandFailedError,
    Shell,
    Streams,
    execute,
    held,
)

WALL = Quantity("wall", "wall time", "s", "lower")
USER = Quantity("user", "user time", "s", "lower")
SYSTEM = Quantity("system", "system time", "s", "lower")
MEMORY = Quantity("memory", "peak memory", "B", "lower")


@dataclass(frozen=True)
class Beside:
    """Command lines around the executions of one subject, each empty or run by the shell.

    ``setup`` once before all, ``prepare`` before each execution and ``conclude`` after it,
    ``cleanup`` once after all. None of them is measured.
    """

    setup: str = ""
    prepare: str = ""
    conclude: str = ""
    cleanup: str = ""


@dataclass(frozen=True)
class Command:
    """One subject: a command line, and how it is run."""

    name: str
    line: str
    shell: Shell
    beside: Beside = field(default_factory=Beside)
    streams: Streams = field(default_factory=Streams)
    ignored: frozenset[int] | None = frozenset()
    """Exit codes that count as success besides 0; ``None``: all."""
    most_s: float | None = None
    """How long an execution may take, without what is run beside it; ``None``: no limit."""
    until_cleanup: ExitStack = field(default_factory=ExitStack, compare=False)
    """Holds what the setup started in the background."""

    def set_up(self) -> None:
        """The setup; what it starts in the background, as a server, runs until the cleanup.

        Raises:
            CommandFailedError: it ended with another code than 0.
        """
        self.until_cleanup.enter_context(self._beside(self.beside.setup, "setup"))

    def clean_up(self) -> None:
        """The cleanup, then what the setup had started; raises as :meth:`set_up`."""
        with self.until_cleanup, self._beside(self.beside.cleanup, "cleanup"):
            pass

    @contextmanager
    def _beside(self, line: str, what: str) -> Iterator[None]:
        """A line beside the executions; what it leaves in the background ends with the context."""
        if not line:
            yield
            return
        with held(["/bin/sh", "-c", line]) as done:
            if done.exit_code:
                raise CommandFailedError(
                    f"the {what} command `{line}` of {self.name} ended with {done.ending}",
                    f"run it by hand; nothing of {self.name} can be measured without it",
                )
            yield

    def execute(self) -> Execution:
        """One execution, with what belongs before and after it.

        Raises:
            CommandFailedError: it failed, and that is not to be ignored.
        """
        with self._beside(self.beside.prepare, "prepare"):
            done = execute(self.shell.argv(self.line), self.streams, self.most_s)
        if done.exit_code and self.ignored is not None and done.exit_code not in self.ignored:
            raise CommandFailedError(
                f"{self.name} ended with {done.ending}",
                "--show-output shows what it says; --ignore-failure counts it all the same",
            )
        with self._beside(self.beside.conclude, "conclude"):
            return done


def clean_up(commands: Iterable[Command]) -> None:
    """The cleanup of each, whatever it did, and whatever became of the one before.

    Raises:
        CleanupFailedError: some failed, each of which is named; all others were run.
    """
    failed = []
    for command in commands:
        try:
            command.clean_up()
        except CommandFailedError as error:
            failed.append(error.message)
    if failed:
        raise CleanupFailedError(failed, "run it by hand: what was set before is set still")


class Commands:
    """Several commands, measured by their executions."""

    def __init__(self, commands: Sequence[Command], printed: Quantity | None) -> None:
        self._commands = {command.name: command for command in commands}
        self._begun = list[Command]()
        self.subjects = {command.name: command.line for command in commands}
        self.responses = (WALL, USER, SYSTEM, MEMORY, *([printed] if printed else ()))
        self._printed = printed
        self.executions_per_visit = 1

    def prepare(self, warmups: int, visit_s: float) -> float:
        """Setup, warm-up, and one execution of each that is not judged; seconds of a visit then.

        Short commands are executed several times in a visit: as often as the slowest needs for
        ``visit_s``, with what is run before and after it, the same number for all.
        """
        for command in self._commands.values():
            self._begun.append(command)
            command.set_up()
        slowest_s = max(_took_s(command, warmups) for command in self._commands.values())
        self.executions_per_visit = max(1, round(visit_s / slowest_s)) if slowest_s else 1
        return slowest_s * self.executions_per_visit

    def visit(self, name: str) -> TimedVisit:
        command = self._commands[name]
        done = tuple(_executed(command, self.executions_per_visit))
        values = {
            WALL.name: statistics.fmean(each.wall_s for each in done),
            USER.name: statistics.fmean(each.user_s for each in done),
            SYSTEM.name: statistics.fmean(each.system_s for each in done),
            MEMORY.name: max(each.rss_bytes for each in done),
        }
        if self._printed is not None:
            values[self._printed.name] = _printed(name, done)
        return TimedVisit(name, values, done)

    def end(self) -> None:
        """The cleanup of all whose setup was begun; raises as :func:`clean_up`."""
        clean_up(self._begun)


def _executed(command: Command, times: int) -> Iterator[Execution]:
    """Raises as `Command.execute`, and says which of several executions it was."""
    for number in range(1, times + 1):
        try:
            yield command.execute()
        except CommandFailedError as error:
            if times == 1:
                raise
            which = f"execution {number} of {times}: {error.message}"
            raise CommandFailedError(which, error.hint or "") from error


def _took_s(command: Command, warmups: int) -> float:
    """The last of one execution more than the warm-ups, with what is run before and after it.

    Without what starting it takes, which the engine's clock leaves out.
    """
    for _ in range(warmups):
        command.execute()
    began = time.monotonic()
    wall_s = command.execute().wall_s
    is_alone = not (command.beside.prepare or command.beside.conclude)
    return wall_s if is_alone else time.monotonic() - began


def _printed(name: str, done: Sequence[Execution]) -> float:
    """The mean of the numbers that executions of one visit printed."""
    found = [each.printed for each in done if each.printed is not None]
    if not found:
        raise CommandFailedError(
            f"no execution of {name} in a visit printed a number: {done[-1].ending}",
            "--show-output shows what it says; a failure without a number cannot be counted",
        )
    return statistics.fmean(found)
