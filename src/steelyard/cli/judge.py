"""``steelyard judge``: verdicts on trials that were measured elsewhere."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import typer

from steelyard.cli.console import say
from steelyard.cli.run import FailIfOption
from steelyard.errors import ExitCode, StudyError
from steelyard.judge import TrialsVerdict
from steelyard.judge.own_trials.arguments import Declared
from steelyard.judge.own_trials.rows import MOST_VISITS, TrialRows, TrialsError
from steelyard.judge.own_trials.verdicts import judge_rows
from steelyard.records.separated_values import Field
from steelyard.records.trials_file import STANDARD_INPUT, TrialsFile, read_trials
from steelyard.report.notes import json_text
from steelyard.report.sentences.trials import trials_lines
from steelyard.study.labels import Labels
from steelyard.units import UnitError, parse


class _Design(StrEnum):
    BIGSTICK = "bigstick"
    PAIRS = "pairs"
    BLOCKS = "blocks"
    NONE = "none"


class _Direction(StrEnum):
    HIGHER = "higher"
    LOWER = "lower"


PathArgument = Annotated[
    Path,
    typer.Argument(
        help="CSV with columns order, system, a response, and maybe block, load, covariate; "
        "- reads standard input.",
        show_default=False,
    ),
]
BaselineOption = Annotated[
    str, typer.Option(help="The system that the others are compared with.", show_default=False)
]
MarginOption = Annotated[
    str, typer.Option(help="The smallest difference that matters, fixed before trial 1.")
]
DesignOption = Annotated[
    _Design, typer.Option(help="How the order was drawn; `none` says what is lost.")
]
DirectionOption = Annotated[_Direction, typer.Option(help="Which responses are better.")]
ResponseOption = Annotated[str, typer.Option(help="The column that holds what was measured.")]
UnitOption = Annotated[
    str, typer.Option(help="Its unit: of a time or a speed, verdicts say slower and faster.")
]
BudgetOption = Annotated[
    int | None,
    typer.Option(min=8, help="The most visits, fixed before trial 1.", show_default=False),
]
SeedOption = Annotated[int, typer.Option(min=0, help="What further orders are drawn from.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")]


def judge(  # noqa: PLR0917 - typer reads options from the parameters
    path: PathArgument,
    baseline: BaselineOption,
    margin: MarginOption = "2%",
    design: DesignOption = _Design.BIGSTICK,
    direction: DirectionOption = _Direction.HIGHER,
    response: ResponseOption = "response",
    unit: UnitOption = "",
    budget: BudgetOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
    fail_if: FailIfOption = None,
) -> int:
    """Judge trials that were measured elsewhere, as a study would be judged."""
    margin_ratio = _share(margin)
    trials = read_trials(path, response, MOST_VISITS)
    if design is not _Design.NONE:
        trials.refuse_gaps()
    rows = _rows(trials, response)
    try:
        declared = Declared(
            baseline,
            margin_ratio,
            design.value,
            direction.value,
            budget=budget,
            seed=seed,
            name=response,
            unit=unit,
        )
        found = judge_rows(rows, declared)
    except TrialsError as error:
        if error.argument is not None:
            raise _of_the_command_line(error, error.argument) from error
        raise _placed(error, trials, response) from error
    source = "standard input" if path == STANDARD_INPUT else path.name
    _print(found, f"{source}: {response}", json=json)
    wanted = {verdict.word for verdict in found.verdicts} & set(fail_if or [])
    return ExitCode.VERDICT_NOT_MET if wanted else ExitCode.DONE


def _rows(trials: TrialsFile, response: str) -> TrialRows:
    """Columns of the file as the judge takes them.

    Raises:
        StudyError: a field cannot be used.
    """
    return TrialRows(
        system=trials.texts("system"),
        response=trials.numbers(response),
        load=trials.levels("load") if trials.has("load") else None,
        visit=_visits(trials),
        block=_whole(trials, "block"),
        covariate=trials.numbers("covariate") if trials.has("covariate") else None,
    )


def _print(found: TrialsVerdict, title: str, *, json: bool) -> None:
    for line in [json_text(found, Labels())] if json else trials_lines(found, title):
        say(line)


def _share(margin: str) -> float:
    try:
        return float(parse(margin, "share"))
    except UnitError as error:
        raise typer.BadParameter(f"{error.message}; {error.hint}") from error


def _whole(trials: TrialsFile, name: Literal["block"]) -> list[int] | None:
    """A column of numbers of groups: only whether they are equal counts."""
    if not trials.has(name):
        return None
    numbers = trials.levels(name)
    known = {number: index for index, number in enumerate(dict.fromkeys(numbers))}
    return [known[number] for number in numbers]


def _visits(trials: TrialsFile) -> list[int] | None:
    """Rows of one order are one visit; ``None`` when each has its own."""
    order = trials.order
    if len(set(order)) == len(order):
        return None
    known = {number: index for index, number in enumerate(dict.fromkeys(order))}
    return [known[number] for number in order]


def _of_the_command_line(error: TrialsError, argument: str) -> typer.BadParameter:
    return typer.BadParameter(f"{error.message}; {error.hint}", param_hint=f"--{argument}")


def _placed(error: TrialsError, trials: TrialsFile, response: str) -> StudyError:
    """The refusal with its line and column in the file."""
    column = response if error.column == "response" else error.column
    header = trials.header.get(column) or Field(column, 1, 1)
    field = header if error.row is None else trials.rows[error.row - 1].get(column, header)
    complaint = trials.complaint(error.message, error.hint, field)
    return StudyError([complaint], slug="trials-file-is-wrong")
