"""``steelyard plan``: what would run, before anything is touched."""

from __future__ import annotations

from collections.abc import Mapping
from json import dumps
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli.console import print_notice, say
from steelyard.cli.options import (
    RESULTS,
    BudgetOption,
    SeedOption,
    StudyArgument,
    VariantOption,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from steelyard.cli.planning.changes import Changes
    from steelyard.plan.make import Planned
    from steelyard.plan.model import Plan
    from steelyard.study.model import Study

ALL_CHANGES = "`steelyard plan --changes {}` lists all that it would start, write and set"


NoiseOption = Annotated[
    Path | None,
    typer.Option(
        "--noise",
        help="What is known of the noise: an earlier run, or a recording (`steelyard trace`). "
        "Forecast what the budget can find from it.",
    ),
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print the whole plan as JSON.")]
TimedOption = Annotated[
    bool,
    typer.Option(
        "--timed",
        help="Measure two short trials of each system, undo them, and forecast from them.",
    ),
]
CommitOption = Annotated[
    Path | None,
    typer.Option(
        "--commit",
        help="Write a commitment to study, plan and seed to this file, for `run --commitment`; "
        "print its digest, to be posted before the run.",
    ),
]
ChangesOption = Annotated[
    bool,
    typer.Option(
        "--changes",
        help="Also: all that the run would start, write or set, per machine, and what the "
        "machines lack; looks at them, and does none of it.",
    ),
]
ResultsOption = Annotated[
    Path,
    typer.Option(
        "--results",
        envvar="STEELYARD_RESULTS",
        help="The folder that would keep the run; with --timed its trials meanwhile.",
    ),
]


def plan(  # noqa: PLR0917 - typer reads options from the parameters
    study: StudyArgument,
    variant: VariantOption = None,
    seed: SeedOption = None,
    budget: BudgetOption = None,
    noise: NoiseOption = None,
    json: JsonOption = False,
    timed: TimedOption = False,
    commit: CommitOption = None,
    changes: ChangesOption = False,
    results: ResultsOption = RESULTS,
) -> None:
    """Show cells, order and forecast of a study; without --timed it starts nothing."""
    from steelyard.plan.make import Planned
    from steelyard.plan.words import other_order

    read, whole = plan_study(study, variant, seed, budget)
    if commit is not None:
        refuse_committing(read, "--commit")
        from steelyard.cli.planning.committing import write_commitment

        write_commitment(commit, read.sha256, whole)
    parts = plans_of(read, whole) or {"": Planned(read, whole)}
    if timed:
        from steelyard.cli.planning import pilot

        parts = {
            name: Planned(part, pilot.timed(study, part, plan, results))
            for name, (part, plan) in parts.items()
        }
    found: Mapping[str, Changes] = {}
    if changes:
        from steelyard.cli.planning.changes import changes_of_parts

        found = changes_of_parts(study, parts, results)
    if json:
        say(_as_json(parts, found))
        return
    order_is_new = seed is None and read.trials.seed is None
    for line in (
        *lines_of(whole, parts, _noises_log(noise)),
        *([other_order(whole)] if order_is_new else []),
        *(_changes_lines(found) or [ALL_CHANGES.format(quote(str(study)))]),
    ):
        say(line)


def _changes_lines(found: Mapping[str, Changes]) -> list[str]:
    if not found:
        return []
    from steelyard.cli.planning.changes import kinds_lines

    return [*(line for each in found.values() for line in each.lines()), *kinds_lines(found)]


def lines_of(
    whole: Plan, parts: Mapping[str, Planned], known: Sequence[float] | None = None
) -> list[str]:
    """The plan in words, of each machine where there are several; ``known`` noise of a visit."""
    from steelyard.judge.analyses.planning.reachable import NOISES_LOG, reaches
    from steelyard.plan.machine_words import machines_lines
    from steelyard.plan.words import plan_lines

    known = NOISES_LOG if known is None else known
    each = {n: plan_lines(*part, reaches(*part, known)) for n, part in parts.items()}
    return machines_lines(whole, parts, each) if len(each) > 1 else next(iter(each.values()))


def plans_of(study: Study, whole: Plan) -> dict[str, Planned]:
    """The plan of each machine; none of a study without machines."""
    from steelyard.plan.make import planned

    return planned(study, whole)


def refuse_committing(study: Study, option: str) -> None:
    """Each machine has a plan, and so a commitment, of its own: the run makes them.

    Raises:
        typer.BadParameter: the study has several machines.
    """
    if study.machines:
        message = "the study has several machines, and each run of one makes its own commitment"
        raise typer.BadParameter(message, param_hint=option)


def _as_json(parts: Mapping[str, Planned], found: Mapping[str, Changes]) -> str:
    """The plan as it is kept, or those of all machines by their names."""
    documents = {
        name: part.plan.model_dump(mode="json") | (found[name].document() if name in found else {})
        for name, part in parts.items()
    }
    several = len(documents) > 1
    document = {"machines": documents} if several else next(iter(documents.values()))
    return dumps(document, indent=2, ensure_ascii=False)


def _noises_log(path: Path | None) -> Sequence[float]:
    """Of a visit, as logarithms: what the path tells, or several that are usual."""
    if path is not None:
        from steelyard.cli.planning.noise import noise_log

        return (noise_log(path),)
    from steelyard.judge.analyses.planning.reachable import NOISES_LOG

    return NOISES_LOG


def plan_study(
    path: Path, variant: str | None, seed: int | None, budget: str | None = None
) -> tuple[Study, Plan]:
    """The study and its whole plan; nothing is touched, keys with new names are reported.

    ``budget``: so much time instead of the study's budget.

    Raises:
        StudyError: every mistake, or everything this version cannot run yet.
        HostError: a reference to a secret is of no known kind.
        typer.BadParameter: the budget is no time, or too short for any verdict.
    """
    from steelyard.hosts.secrets import refuse_wrong_references
    from steelyard.plan.make import make_plan, seed_of
    from steelyard.study.lookup import renamed_in_own_files
    from steelyard.study.read import read_runnable_study, renamed_keys

    for notice in renamed_keys(path):
        print_notice(notice)
    study = read_runnable_study(path, variant=variant)
    for notice in renamed_in_own_files(study, path):
        print_notice(notice)
    refuse_wrong_references(study)
    given_s = None if budget is None else _seconds(budget)
    if given_s is not None:
        study = _within(study, given_s, path)
    planned = make_plan(study, seed_of(study) if seed is None else seed)
    return study, planned.model_copy(update={"budget_time_s": given_s})


def _seconds(budget: str) -> float:
    from steelyard.units import UnitError, parse

    try:
        return float(parse(budget, "duration"))
    except UnitError as error:
        raise typer.BadParameter(f"{error.message}; {error.hint}", param_hint="--budget") from error


def _within(study: Study, time_s: float, path: Path) -> Study:
    from steelyard.plan.budget import with_time
    from steelyard.study.checks.budget import check_budget
    from steelyard.study.file.complaints import Complaints
    from steelyard.study.file.source import read_source
    from steelyard.study.machines import parts_of

    changed = with_time(study, time_s)
    complaints = Complaints(read_source(path))
    check_budget(next(iter(parts_of(changed).values()), changed), complaints)
    for first in complaints.ordered():
        raise typer.BadParameter(f"{first.message}; {first.hint}", param_hint="--budget")
    return changed
