"""A bisection from words to an answer: levels, commands, progress, what is printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace

import typer

from steelyard.cli.console import say, tell
from steelyard.cli.timing.command_lines import Found, fill, primary_of
from steelyard.cli.timing.options import Searched
from steelyard.cli.timing.outcome import declaration_of
from steelyard.errors import ExitCode, HostError
from steelyard.records.note import Note
from steelyard.records.results.bisection import Bisection, Outcome, Step
from steelyard.report.notes import json_text
from steelyard.report.sentences.terminal.bisection import bisection_lines, step_line
from steelyard.study.labels import Labels
from steelyard.timing.bisection import LevelSkipped, bisected
from steelyard.timing.commands import Beside, Command
from steelyard.timing.commits import Commits
from steelyard.timing.execution import Shell, Streams
from steelyard.timing.levels import Levels

_PLACES = ("{level}", "{folder}")
_FEWEST = 2
_SHOWN = 5


@dataclass(frozen=True)
class Lines:
    """What is run for each level, with places for it."""

    command: str
    setup: str
    prepare: str

    def __post_init__(self) -> None:
        if not any(place in self.command for place in _PLACES):
            raise typer.BadParameter("it names no {level}: all would be the same")

    def of(self, values: dict[str, str], shell: str, found: Found) -> Command:
        """The command of one level."""
        line, setup, prepare = (fill(x, values) for x in (self.command, self.setup, self.prepare))
        return Command(
            values["level"], line, Shell.chosen(shell, line), Beside(setup, prepare),
            Streams(number=found.expression),
        )  # fmt: skip


def searched(
    lines: Lines,
    levels: str | None,
    git: str | None,
    ends: tuple[str | None, str | None],
    shared: Searched,
) -> int:
    """Measures, prints; exit code 7 where no level is named."""
    found = Found.of(shared.number, shared.number_unit, higher=shared.number_higher)
    declared = declaration_of(
        primary_of(shared.response, found.quantity), shared.margin, shared.budget or "5 min",
        shared.seed, shared.warmup,
    )  # fmt: skip
    with Commits(git) if git is not None else nullcontext() as commits:
        known = commits.levels if commits else _split(levels or "")
        chosen = _between(known, *ends)

        def command(level: str) -> Command:
            folder = {} if commits is None else {"folder": str(commits.folder(level))}
            made = lines.of({"level": level, **folder}, shared.shell, found)
            return replace(made, most_s=declared.budget_s)

        measure = Levels(command, declared, found.quantity, lambda _: None)
        result = _searched(chosen, _followed(measure, tells=not shared.as_json))
    if shared.as_json:
        document = {**asdict(result), "candidates": result.candidates}
        say(json.dumps(document, indent=1, default=noted))
    else:
        for line in bisection_lines(result):
            say(line)
    return ExitCode.DONE if result.outcome is Outcome.FOUND else ExitCode.NOT_FOUND


def noted(note: Note) -> object:
    """The document of a note, with its sentence."""
    return json.loads(json_text(note, Labels()))


def _searched(levels: list[str], measure: Callable[..., Step]) -> Bisection:
    try:
        return bisected(levels, measure)
    except LevelSkipped as skipped:
        raise HostError(
            f"{skipped.level}, an end of the search, cannot be prepared: {skipped.__cause__}",
            hint="run its setup by hand, or name another level as --good or --bad",
            slug="command-failed",
        ) from skipped


def _followed(measure: Levels, *, tells: bool) -> Callable[..., Step]:
    """Says a line after each step."""

    def step(*asked: object) -> Step:
        try:
            done = measure.measure(*asked)  # type: ignore[arg-type]
        except LevelSkipped as skipped:
            if tells:
                tell(f"skipped {skipped.level}: {skipped.__cause__}")
            raise
        if tells:
            tell(step_line(done))
        return done

    return step


def _split(levels: str) -> list[str]:
    words = [word.strip() for word in levels.split(",")]
    if not all(words) or len(set(words)) != len(words):
        raise typer.BadParameter("a level is empty or there twice", param_hint="--levels")
    return words


def _between(levels: list[str], good: str | None, bad: str | None) -> list[str]:
    """The levels of the search.

    Raises:
        typer.BadParameter: an end is no level, or there are not two of them in this order.
    """
    if len(levels) < _FEWEST:
        raise typer.BadParameter(
            f"a search needs {_FEWEST} levels or more, in their order; there is {len(levels)}",
            param_hint="--levels or --git",
        )
    places = {}
    for option, word, usual in (("--good", good, levels[0]), ("--bad", bad, levels[-1])):
        matching = [i for i, level in enumerate(levels) if level == (word or usual)]
        if not matching:
            shown = ", ".join([*levels[:_SHOWN], *["..."] * (len(levels) > _SHOWN)])
            raise typer.BadParameter(f"{word!r} is no level: {shown}", param_hint=option)
        places[option] = matching[0]
    if places["--good"] >= places["--bad"]:
        raise typer.BadParameter("it must come after --good", param_hint="--bad")
    return levels[places["--good"] : places["--bad"] + 1]
