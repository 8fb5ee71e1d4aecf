"""``steelyard run`` and ``resume``: the measuring side."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.options import (
    RESULTS,
    BudgetOption,
    EventsOption,
    FailIfOption,
    FormatOption,
    ResultsOption,
    RunArgument,
    SeedOption,
    StudyArgument,
    VariantOption,
)

WaitOption = Annotated[
    bool,
    typer.Option("--wait", help="Wait while another session measures on a machine of the study."),
]
TakeOverOption = Annotated[
    bool,
    typer.Option(
        "--take-over",
        help="End the agents of another session that measures on a machine of the study.",
    ),
]
CommitmentOption = Annotated[
    Path | None,
    typer.Option(
        "--commitment",
        help="Run the plan that `steelyard plan --commit FILE` committed to, with its seed.",
    ),
]
ExtendOption = Annotated[
    bool,
    typer.Option(
        "--extend",
        help="Allow as many visits again, once: their order was drawn before the first trial.",
    ),
]
RetryStoppedOption = Annotated[
    bool,
    typer.Option(
        "--retry-stopped",
        help="Measure systems again that were stopped because they failed: their cause is removed.",
    ),
]
QueuedOption = Annotated[
    int | None,
    typer.Option("--queued", min=1, hidden=True, help="The submission whose job this is."),
]
"""Written into the script of a job by ``steelyard submit``."""


def run(  # noqa: PLR0917 - typer reads options from the parameters
    study: StudyArgument,
    variant: VariantOption = None,
    seed: SeedOption = None,
    commitment: CommitmentOption = None,
    budget: BudgetOption = None,
    results: ResultsOption = RESULTS,
    as_json: EventsOption = False,
    fail_if: FailIfOption = None,
    formats: FormatOption = "html",
    wait: WaitOption = False,
    take_over: TakeOverOption = False,
) -> int:
    """Run a study to its verdict and write the report."""
    from steelyard.cli.session import measure

    wanted = measure.Wanted.of(
        formats, json=as_json, fail_if=fail_if, wait=wait, take_over=take_over
    )
    return measure.begun(study, variant, seed, results, wanted, budget=budget, committed=commitment)


def resume(  # noqa: PLR0917 - the same
    path: RunArgument,
    extend: ExtendOption = False,
    retry_stopped: RetryStoppedOption = False,
    as_json: EventsOption = False,
    fail_if: FailIfOption = None,
    formats: FormatOption = "html",
    wait: WaitOption = False,
    take_over: TakeOverOption = False,
    queued: QueuedOption = None,
) -> int:
    """Go on with a run that was interrupted; no finished trial is lost or repeated."""
    from steelyard.cli.session import measure

    if queued is not None:
        from steelyard.cli.queue.starting import claim_queued

        claim_queued(path, queued)
    wanted = measure.Wanted.of(
        formats, json=as_json, fail_if=fail_if, wait=wait or queued is not None, take_over=take_over
    )
    return measure.resumed(path, wanted, extend=extend, retry_stopped=retry_stopped)
