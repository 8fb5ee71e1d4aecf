"""``steelyard judge``: verdicts on trials that were measured elsewhere."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.options import FailIfOption
from steelyard.errors import ExitCode


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
        help="CSV with columns order, system, a response, and maybe block, load, covariate, "
        "machine; "
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
    from steelyard.cli.own_numbers import own_trials
    from steelyard.judge.own_trials.arguments import Declared
    from steelyard.judge.own_trials.rows import MOST_VISITS, TrialsError
    from steelyard.judge.own_trials.verdicts import judge_machines
    from steelyard.records.own_files.separated_file import STANDARD_INPUT
    from steelyard.records.own_files.trials_file import read_trials

    margin_ratio = own_trials.share(margin)
    trials = read_trials(path, response, MOST_VISITS)
    if design is not _Design.NONE:
        trials.refuse_gaps()
    machines = trials.by_machine().items()
    rows = {machine: own_trials.rows_of(own, response) for machine, own in machines}
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
        found = judge_machines(rows, declared)
    except TrialsError as error:
        if error.argument is not None:
            raise own_trials.of_the_command_line(error, error.argument) from error
        raise own_trials.placed(error, trials, response) from error
    source = "standard input" if path == STANDARD_INPUT else path.name
    own_trials.printed(found, f"{source}: {response}", json=json)
    wanted = {verdict.word for verdict in found.verdicts} & set(fail_if or [])
    return ExitCode.VERDICT_NOT_MET if wanted else ExitCode.DONE
