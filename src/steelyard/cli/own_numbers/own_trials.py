"""A file of trials that were measured elsewhere, on its way to the judge and back."""

from __future__ import annotations

from typing import Literal

import typer

from steelyard.cli.console import say
from steelyard.errors import StudyError
from steelyard.judge import TrialsVerdict
from steelyard.judge.own_trials.rows import TrialRows, TrialsError
from steelyard.records.own_files.separated_values import Field
from steelyard.records.own_files.trials_file import TrialsFile
from steelyard.report.notes import json_text
from steelyard.report.sentences.terminal.trials import trials_lines
from steelyard.study.labels import Labels
from steelyard.units import UnitError, parse


def rows_of(trials: TrialsFile, response: str) -> TrialRows:
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


def printed(found: TrialsVerdict, title: str, *, json: bool) -> None:
    for line in [json_text(found, Labels())] if json else trials_lines(found, title):
        say(line)


def share(margin: str) -> float:
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


def of_the_command_line(error: TrialsError, argument: str) -> typer.BadParameter:
    return typer.BadParameter(f"{error.message}; {error.hint}", param_hint=f"--{argument}")


def placed(error: TrialsError, trials: TrialsFile, response: str) -> StudyError:
    """The refusal with its line and column in the file."""
    if error.machine is not None:
        trials = trials.by_machine()[error.machine]
    column = response if error.column == "response" else error.column
    header = trials.header.get(column) or Field(column, 1, 1)
    field = header if error.row is None else trials.rows[error.row - 1].get(column, header)
    complaint = trials.complaint(error.message, error.hint, field)
    return StudyError([complaint], slug="trials-file-is-wrong")
