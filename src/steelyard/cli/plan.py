"""``steelyard plan``: what would run, before anything is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.console import say
from steelyard.cli.prepare import plan_study
from steelyard.judge.analyses.planning.reachable import reaches
from steelyard.plan.words import plan_lines

StudyArgument = Annotated[
    Path, typer.Argument(help="Study file, or a folder that holds study.yaml.", show_default=False)
]
VariantOption = Annotated[
    str | None, typer.Option("--variant", "-v", help="Use the overrides of this variant.")
]
SeedOption = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Repeat an order; without it the study's, or a fresh one."),
]


def plan(
    study: StudyArgument,
    variant: VariantOption = None,
    seed: SeedOption = None,
    json: Annotated[bool, typer.Option("--json", help="Print the whole plan as JSON.")] = False,
) -> None:
    """Show cells, order and forecast of a study; nothing is started."""
    read, planned = plan_study(study, variant, seed)
    if json:
        say(planned.model_dump_json(indent=2))
        return
    for line in plan_lines(read, planned, reaches(read, planned)):
        say(line)
