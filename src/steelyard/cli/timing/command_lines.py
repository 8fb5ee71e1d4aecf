"""What the words of ``steelyard time`` mean: command lines, their names, the number to look for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import typer

from steelyard.records.results.timing import Quantity
from steelyard.report.figures import counted
from steelyard.timing.commands import MEMORY, SYSTEM, USER, WALL, Beside

_RESPONSES = (WALL, USER, SYSTEM, MEMORY)
_PRINTED = "printed"


@dataclass(frozen=True)
class Line:
    """A command line with the values of its parameters filled in."""

    name: str
    line: str
    values: dict[str, str]

    def filled(self, beside: Beside) -> Beside:
        """The command lines beside it, with the same values."""
        lines = (beside.setup, beside.prepare, beside.conclude, beside.cleanup)
        return Beside(*(fill(line, self.values) for line in lines))


@dataclass(frozen=True)
class Found:
    """The number that is looked for in what commands print; both ``None`` without one."""

    expression: re.Pattern[str] | None = None
    quantity: Quantity | None = None

    @classmethod
    def of(cls, number: str | None, unit: str, *, higher: bool) -> Found:
        """Raises ``typer.BadParameter`` for what is no expression with one group."""
        if number is None:
            return cls()
        try:
            expression = re.compile(number)
        except re.error as error:
            raise typer.BadParameter(f"{error}", param_hint="--number") from error
        if expression.groups != 1:
            raise typer.BadParameter(
                f"it has {expression.groups} groups; one is needed, around the digits",
                param_hint="--number",
            )
        better: Literal["higher", "lower"] = "higher" if higher else "lower"
        return cls(expression, Quantity(_PRINTED, "printed number", unit, better))


def lines_of(commands: list[str], names: list[str], parameters: list[str]) -> Iterator[Line]:
    """One for each command and combination of values; no name comes twice."""
    grid = [parameter_values(parameter) for parameter in parameters]
    filled = [
        (fill(command, dict(values)), dict(values))
        for command in commands
        for values in itertools.product(*grid)
    ]
    if len(filled) < 2:
        raise typer.BadParameter(
            "a comparison needs two commands, or a list of values", param_hint="COMMAND"
        )
    if any(not line.strip() for line, _ in filled):
        raise typer.BadParameter("a command is empty", param_hint="COMMAND")
    if names and len(names) != len(filled):
        raise typer.BadParameter(
            f"{counted(len(names), 'name')} for {len(filled)} commands", param_hint="--command-name"
        )
    given = names or [line.strip() for line, _ in filled]
    for index, (name, (line, values)) in enumerate(zip(given, filled, strict=True)):
        before = given[:index].count(name)
        yield Line(f"{name} #{before + 1}" if before else name, line, values)


def refuse_unused(parameters: list[str], texts: Iterable[str]) -> None:
    """A parameter that stands nowhere would compare a command with itself."""
    whole = "\n".join(texts)
    for name in (parameter.partition("=")[0] for parameter in parameters):
        if f"{{{name}}}" not in whole:
            raise typer.BadParameter(f"no command holds {{{name}}}", param_hint="--parameter-list")


def parameter_values(parameter: str) -> list[tuple[str, str]]:
    name, separator, values = parameter.partition("=")
    if not (name and separator and values):
        raise typer.BadParameter(
            f"{parameter!r} is not NAME=VALUE,VALUE", param_hint="--parameter-list"
        )
    return [(name, value) for value in values.split(",")]


def fill(line: str, values: dict[str, str]) -> str:
    """A command line with values in place of their names in braces."""
    for key, value in values.items():
        line = line.replace(f"{{{key}}}", value)
    return line


def primary_of(response: str | None, printed: Quantity | None) -> str:
    """The name of what is judged: what was asked for, else the printed number, else wall.

    Raises:
        typer.BadParameter: there is no such response, or no number is looked for.
    """
    known: list[str] = [each.name for each in (*_RESPONSES, *([printed] if printed else ()))]
    if response is None:
        return known[-1] if printed else known[0]
    if response not in known:
        more = "; `printed` needs --number" if response == _PRINTED else ""
        raise typer.BadParameter(
            f"{response!r} is none of {', '.join(known)}{more}", param_hint="--response"
        )
    return response
