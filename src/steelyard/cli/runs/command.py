"""``steelyard runs``, ``runs delete`` and ``runs cancel``: what each takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.ending import exit_code, with_exit_code, with_quiet
from steelyard.cli.loading import PLAIN
from steelyard.cli.options import RESULTS, FailIf, ResultsOption

SORTS = ("time", "study", "state", "trials", "verdict", "size")
_ENDS = ("decided", "budget_visits", "budget_time", "interrupted", "failures", "error", "open")
_OF_A_JOB = ("pending", "running", "ended", "failed", "cancelled", "unknown")
STATES = (*_ENDS, "imported", *_OF_A_JOB)
"""Of a run by its ledger, and of its job; a running run holds its ledger."""

app = typer.Typer(name="runs", invoke_without_command=True, **PLAIN)

StudyOption = Annotated[
    list[str] | None, typer.Option("--study", help="Runs of this study; may be repeated.")
]
StateOption = Annotated[
    list[str] | None,
    typer.Option(
        "--state",
        help="Runs in this state: running, open (interrupted by a crash), interrupted, decided, "
        "budget_visits, budget_time, failures, error, imported; or whose job is pending, running, "
        "ended, failed, cancelled, unknown; may be repeated.",
    ),
]
VerdictOption = Annotated[
    list[FailIf] | None,
    typer.Option("--verdict", help="Runs with this word in a comparison; may be repeated."),
]
OlderOption = Annotated[
    str | None, typer.Option("--older", help="Runs begun longer ago than this, as `30 d`.")
]
NewerOption = Annotated[
    str | None, typer.Option("--newer", help="Runs begun within this time, as `12 h`.")
]
SortOption = Annotated[str, typer.Option("--sort", help=f"By {', '.join(SORTS)}.")]
ReverseOption = Annotated[
    bool, typer.Option("--reverse", "-r", help="The newest, largest or last in the alphabet last.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, nothing else.")]
RunsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="RUN...", help="Folder of a run, or STUDY/RUN as the list names it.",
        show_default=False,
    ),
]  # fmt: skip
WholeOption = Annotated[
    bool, typer.Option("--all", help="Delete the run with all its records, not only spare files.")
]
YesOption = Annotated[
    bool, typer.Option("--yes", "-y", help="Do not ask. Needed where no terminal can answer.")
]


@app.callback()
@with_quiet
def runs(  # noqa: PLR0917 - typer reads options from the parameters
    ctx: typer.Context,
    study: StudyOption = None,
    state: StateOption = None,
    verdict: VerdictOption = None,
    older: OlderOption = None,
    newer: NewerOption = None,
    sort: SortOption = "time",
    reverse: ReverseOption = False,
    results: ResultsOption = RESULTS,
    json: JsonOption = False,
) -> None:
    """List runs with their state, verdicts and size on disk; `runs delete` makes room."""
    if ctx.invoked_subcommand is not None:
        ctx.obj = results
        return
    _refuse_unknown([sort], SORTS, "--sort")
    _refuse_unknown(state or (), STATES, "--state")

    def listing() -> int:
        from steelyard.cli.runs.listed import Wanted, print_runs

        wanted = Wanted.of(study, state, verdict, older=older, newer=newer)
        return print_runs(results, wanted, sort, reverse=reverse, as_json=json)

    raise typer.Exit(exit_code(listing))


@app.command()
@with_exit_code
def delete(  # noqa: PLR0917
    ctx: typer.Context,
    names: RunsArgument,
    whole: WholeOption = False,
    yes: YesOption = False,
    results: ResultsOption = RESULTS,
    json: JsonOption = False,
) -> int:
    """Delete what verdicts do not read, samples above all; with --all the whole run."""
    from steelyard.cli.runs.deleting import delete_runs

    folder: Path = ctx.obj if results == RESULTS and ctx.obj is not None else results
    return delete_runs(names, folder, whole=whole, yes=yes, as_json=json)


@app.command()
@with_exit_code
def cancel(
    ctx: typer.Context,
    names: RunsArgument,
    results: ResultsOption = RESULTS,
    json: JsonOption = False,
) -> int:
    """Take runs off the queue; one that runs undoes what it changed, and `resume` may go on."""
    from steelyard.cli.runs.cancelling import cancel_runs

    folder: Path = ctx.obj if results == RESULTS and ctx.obj is not None else results
    return cancel_runs(names, folder, as_json=json)


def _refuse_unknown(given: Iterable[str], known: Sequence[str], option: str) -> None:
    """Raises ``typer.BadParameter`` for a word that is none of those an option knows."""
    for word in given:
        if word not in known:
            raise typer.BadParameter(f"`{word}` is none of {', '.join(known)}", param_hint=option)
