"""From a study to its jobs: everything is checked before the first is queued."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import typer

from steelyard.cli.console import say, say_json, shown, tell
from steelyard.cli.planning.plan import plan_study, plans_of
from steelyard.cli.queue.submit import Asked
from steelyard.cli.runs.queue_states import document_of, words_of
from steelyard.cli.session.new_run import new_machines_run, new_run
from steelyard.engine.locate import check_version, find_engine
from steelyard.errors import ExitCode, HostError, RecordError
from steelyard.hosts.secrets import refuse_missing_secrets
from steelyard.plan.budget import time_s
from steelyard.plan.model import Plan
from steelyard.queue import eligibility
from steelyard.queue.batch import BatchJob, script_of, time_limit_s
from steelyard.queue.slurm import Slurm
from steelyard.queue.submitting import Queued, queued, submit
from steelyard.records.archive import Run, open_run, runs_of
from steelyard.records.deletion import delete_whole
from steelyard.records.files.durable import make_folders
from steelyard.records.planned_study import study_of_run
from steelyard.records.submission import (
    COMMENT,
    Placement,
    Submission,
    comment_of,
    folder_of,
    last_submission,
)
from steelyard.study.model import Study
from steelyard.units import UnitError, format_duration, parse

_COMMAND = (sys.executable, "-m", "steelyard")
"""As the nodes have it, too: the same installation, or one at the same place."""


@dataclass(frozen=True)
class _Checked:
    """What the queue would take: one placement for each run, and how long a job may last."""

    study: Study
    placements: tuple[Placement, ...]
    nodes_count: int
    time_limit_s: int

    def job(self, placement: Placement, comment: str, folder: Path) -> BatchJob:
        name = f"steelyard-{re.sub(r'[^A-Za-z0-9.-]', '-', self.study.name)}"
        return BatchJob(name, comment, placement, self.nodes_count, self.time_limit_s, folder)


@dataclass
class _Told:
    """What was queued now, and what had been queued before."""

    as_json: bool
    new: list[dict[str, Any]] = field(default_factory=list)
    before: list[dict[str, Any]] = field(default_factory=list)

    def add(self, run: Run, found: Queued, *, is_new: bool) -> None:
        (self.new if is_new else self.before).append(
            {"run": run.key, "path": str(run.path.absolute()), **document_of(run, found)}
        )
        limit = format_duration(found.submission.time_limit_s)
        line = f"{shown(run.path)}: job {words_of(found)}, for {limit} at most"
        if not is_new:
            tell(f"queued before: {line}")
        elif not self.as_json:
            say(line)

    def end(self) -> ExitCode:
        """Raises:
        HostError: all of it had been queued before.
        """
        if self.as_json:
            say_json({"queued": self.new, "queued_before": self.before})
        if not self.new:
            raise HostError(
                "the same was queued before and has not ended; nothing was queued",
                hint="`steelyard runs` shows it, `steelyard runs cancel RUN` takes it off; for "
                "another run say --again",
                slug="already-queued",
            )
        return ExitCode.DONE


def submit_new(  # noqa: PLR0917 - what was asked for
    path: Path,
    variant: str | None,
    seed: int | None,
    budget: str | None,
    results: Path,
    asked: Asked,
    *,
    as_json: bool,
) -> int:
    """A new run of a study, or one on each node; the exit code."""
    study, plan = plan_study(path, variant, seed, budget)
    slurm = Slurm()
    checked = _checked(study, _forecast_s(study, plan), time_s(study, plan), asked, slurm)
    if asked.dry_run:
        _print_jobs(checked, results.absolute() / study.name / "RUN")
        return ExitCode.DONE
    told = _Told(as_json)
    for placement in checked.placements:
        digest = _digest(study.sha256, seed, budget, placement)
        with _alone_in(results / study.name):
            found = None if asked.again else _same(results / study.name, digest, slurm)
            if found is not None and found[1].is_live:
                told.add(*found, is_new=False)
                continue
            run = _new_run(path, study, plan, results) if found is None else found[0]
            number = 1 if found is None else found[1].submission.number + 1
            kept = _submission(number, digest, placement, checked.time_limit_s)
            told.add(run, _queue(run, checked, kept, slurm, is_new=True), is_new=True)
        if seed is None:
            _, plan = plan_study(path, variant, None, budget)  # each run has an order of its own
    return told.end()


def submit_again(path: Path, asked: Asked, *, as_json: bool) -> int:
    """The next submission of a run whose last one has ended; the exit code."""
    run = open_run(path)
    last = last_submission(run)
    if last is None:
        raise RecordError(
            f"{run.path} was given to no queue",
            hint="go on with it here: steelyard resume",
            slug="not-queued",
        )
    study = study_of_run(run)
    slurm = Slurm()
    told = _Told(as_json)
    with _alone_in(run.path.parent):
        found = queued([run], slurm)[str(run.path)]
        plans = [part.plan() for part in run.parts()]
        forecast_s = sum(plan.forecast.total_s for plan in plans)
        placed = _where_it_was(found, asked)
        checked = _checked(study, forecast_s, time_s(study, plans[0]), asked, slurm, placed)
        (placement,) = checked.placements
        kept = _submission(last.number + 1, last.asked, placement, checked.time_limit_s)
        if asked.dry_run:
            _print_jobs(checked, run.path.absolute(), kept.number)
            return ExitCode.DONE
        if found.is_live:
            told.add(run, found, is_new=False)
        else:
            told.add(run, _queue(run, checked, kept, slurm, is_new=False), is_new=True)
    return told.end()


def _where_it_was(found: Queued, asked: Asked) -> tuple[str, ...]:
    """What was measured on one machine goes on there, unless the user names another."""
    if asked.nodelist is not None or found.started is None:
        return ()
    return found.submission.placement.nodes or (found.started.node,)


def _forecast_s(study: Study, plan: Plan) -> float:
    parts = plans_of(study, plan)
    return sum(each.plan.forecast.total_s for each in parts.values()) or plan.forecast.total_s


def _checked(  # noqa: PLR0917 - what is checked
    study: Study,
    forecast_s: float,
    budget_s: float | None,
    asked: Asked,
    slurm: Slurm,
    nodes_before: tuple[str, ...] = (),
) -> _Checked:
    """Everything that can be found wrong here, and by asking the queue.

    Raises:
        SteelyardError: what it is.
        typer.BadParameter: options do not go together.
    """
    refuse_missing_secrets(study)
    check_version(find_engine())
    limit_s = time_limit_s(forecast_s, budget_s, _seconds(asked.time))
    if limit_s < forecast_s:
        tell(f"--time ends the run before its forecast of {format_duration(forecast_s)}")
    eligibility.refuse_other_clock(time.time(), slurm.clock_unix_s())
    nodes = slurm.nodes()
    names = slurm.host_names(asked.nodelist) if asked.nodelist else nodes_before
    machines = eligibility.nodes_of_machines(study.machines, nodes)
    if machines and asked.each_node:
        raise typer.BadParameter("the study names its machines", param_hint="--each-node")
    own = ("partition", "constraint", "gres", "account", "reservation")
    placement = Placement(
        nodes=tuple(dict.fromkeys([*machines, *names])),
        **{name: getattr(asked, name) for name in own},
    )
    left = eligibility.eligible(placement, limit_s, nodes)
    placements: tuple[Placement, ...] = (placement,)
    if asked.each_node:
        eligibility.refuse_other_kinds(left)
        placements = tuple(placement.model_copy(update={"nodes": (n.name,)}) for n in left)
    count = 1 if asked.each_node else max(len(placement.nodes), 1)
    checked = _Checked(study, placements, count, limit_s)
    for each in placements:
        job = checked.job(each, COMMENT, Path("/"))
        slurm.refuse_impossible(job.options(), script_of(_COMMAND, Path("/"), 1))
    return checked


def _seconds(written: str | None) -> float | None:
    if written is None:
        return None
    try:
        return float(parse(written, "duration"))
    except UnitError as error:
        raise typer.BadParameter(f"{error.message}; {error.hint}", param_hint="--time") from error


def _new_run(path: Path, study: Study, plan: Plan, results: Path) -> Run:
    parts = plans_of(study, plan)
    if not parts:
        return new_run(path, study, plan, results)
    plans = {name: part.plan for name, part in parts.items()}
    return new_machines_run(path, study, plans, plan.seed, results)


def _submission(number: int, asked: str, placement: Placement, limit_s: int) -> Submission:
    return Submission(
        number=number,
        asked=asked,
        placement=placement,
        time_limit_s=limit_s,
        submitted_unix_ns=time.time_ns(),
    )


def _queue(run: Run, checked: _Checked, kept: Submission, slurm: Slurm, *, is_new: bool) -> Queued:
    folder = folder_of(run, kept.number).absolute()
    job = checked.job(kept.placement, comment_of(run, kept.number), folder)
    try:
        return Queued(submit(run, job, kept, _COMMAND, slurm), "pending")
    except HostError as error:
        if is_new and error.slug != "queue-is-away":
            delete_whole(run)  # refused for certain
        raise


def _same(study: Path, digest: str, slurm: Slurm) -> tuple[Run, Queued] | None:
    """What was submitted in the same words, and is in the queue; or began never, and is not there.

    The latter is submitted again under its next number: should the queue find the job after all,
    that may not start any more.
    """
    found = {run: last_submission(run) for run in runs_of(study)}
    same = [run for run, last in found.items() if last is not None and last.asked == digest]
    standing = queued(same, slurm)
    for run in reversed(same):
        now = standing[str(run.path)]
        if now.is_live or (now.state == "unknown" and now.started is None):
            return run, now
    return None


def _digest(sha256: str, seed: int | None, budget: str | None, placement: Placement) -> str:
    words = json.dumps([sha256, seed, budget, placement.model_dump(mode="json")])
    return hashlib.sha256(words.encode()).hexdigest()


@contextmanager
def _alone_in(study: Path) -> Iterator[None]:
    """While no one else submits runs of this study from here: who comes second sees the first."""
    make_folders(study)
    held = os.open(study, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def _print_jobs(checked: _Checked, run: Path, number: int = 1) -> None:
    script = script_of(_COMMAND, run, number)
    for placement in checked.placements:
        job = checked.job(placement, COMMENT, run / "queue" / str(number))
        say(shlex.join(["sbatch", *job.options()]))
    say()
    say(script.rstrip("\n"))
