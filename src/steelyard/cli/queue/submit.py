"""``steelyard submit``: what it takes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.options import (
    RESULTS,
    BudgetOption,
    JsonOption,
    ResultsOption,
    SeedOption,
    VariantOption,
    with_fields_of,
)


@dataclass(frozen=True)
class Asked:
    """Options that are Slurm's, in its words; ``time`` is a duration as in a study."""

    partition: Annotated[
        str | None, typer.Option("--partition", help="Partition; without it the default one.")
    ] = None
    nodelist: Annotated[
        str | None,
        typer.Option(
            "--nodelist", help="These nodes, as `n1` or `n[1-4]`: all of them, for itself."
        ),
    ] = None
    constraint: Annotated[
        str | None, typer.Option("--constraint", help="Features that a node has, as `epyc&nvme`.")
    ] = None
    gres: Annotated[
        str | None, typer.Option("--gres", help="Generic resources of a node, as `board:1`.")
    ] = None
    time: Annotated[
        str | None,
        typer.Option(
            "--time",
            help="The longest time of the job, as `2 h`; without it that of the forecast, with a "
            "reserve.",
        ),
    ] = None
    account: Annotated[
        str | None, typer.Option("--account", help="Account that the time is charged to.")
    ] = None
    reservation: Annotated[
        str | None, typer.Option("--reservation", help="Nodes that are reserved under this name.")
    ] = None
    each_node: Annotated[
        bool,
        typer.Option(
            "--each-node",
            help="A run of its own on each of these nodes, which must be of one kind.",
        ),
    ] = False
    again: Annotated[
        bool,
        typer.Option(
            "--again", help="Another run, although the same was queued and has not ended."
        ),
    ] = False
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Check everything, print the call of sbatch and the script, queue none.",
        ),
    ] = False


@with_fields_of(Asked)
def submit(
    *,
    study: Annotated[
        Path,
        typer.Argument(help="Study file, or a folder that holds study.yaml.", show_default=False),
    ],
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Go on with a run that ended early: name its folder instead."
        ),
    ] = False,
    variant: VariantOption = None,
    seed: SeedOption = None,
    budget: BudgetOption = None,
    results: ResultsOption = RESULTS,
    json: JsonOption = False,
    asked: Asked,
) -> int:
    """Put a run on the queue of a laboratory (Slurm), once; nothing is started twice."""
    from steelyard.cli.queue import submission

    if resume:
        if variant is not None or seed is not None or budget is not None or asked.each_node:
            raise typer.BadParameter(
                "--variant, --seed, --budget and --each-node are of a new run",
                param_hint="--resume",
            )
        return submission.submit_again(study, asked, as_json=json)
    return submission.submit_new(study, variant, seed, budget, results, asked, as_json=json)
