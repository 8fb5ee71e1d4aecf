"""From a run to its verdict and report: what ``run`` and ``resume`` have in common."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from steelyard.cli.archive.reading import chosen_formats, print_answer, write
from steelyard.cli.console import command, shown, tell
from steelyard.cli.options import FailIf
from steelyard.cli.planning.committing import read_commitment, refuse_another_plan, tell_commitment
from steelyard.cli.planning.plan import (
    lines_of,
    plan_study,
    plans_of,
    refuse_committing,
)
from steelyard.cli.session.display import tell_at_once, watch
from steelyard.cli.session.extending import (
    extend_budget,
    may_be_extended,
    retry_what_was_stopped,
    stopped_systems,
)
from steelyard.cli.session.new_run import NOT_FREE, discard, new_machines_run, new_run
from steelyard.cli.session.rounds import watch_machines
from steelyard.cli.session.stream import EventStream
from steelyard.engine.locate import check_version, find_engine
from steelyard.errors import ExitCode, HostError, RecordError
from steelyard.hosts.lease import Busy
from steelyard.hosts.secrets import refuse_missing_secrets
from steelyard.judge.findings import RunFindings, WorkloadFindings
from steelyard.judge.kinds.caveats import CleanupIncomplete
from steelyard.plan.make import Planned
from steelyard.records.archive import Run, open_run
from steelyard.records.events import AttemptStarted
from steelyard.records.planned_study import study_of_run
from steelyard.records.stream import RunJudged
from steelyard.report.formats.registry import named_files
from steelyard.report.from_run import find_each
from steelyard.report.notes import json_text
from steelyard.report.origin import made_of, still
from steelyard.report.view import View, views
from steelyard.study.model import Study
from steelyard.trial.machines import RoundsEnd, run_machines
from steelyard.trial.session import run_session
from steelyard.trial.session_state.interrupt import Interrupt


@dataclass(frozen=True)
class Wanted:
    """What is written and said when a run has ended, what of it is a failure, and what to do about
    a machine that another session uses.
    """

    formats: tuple[str, ...]
    json: bool
    fail_if: tuple[FailIf, ...]
    busy: Busy = Busy.REFUSE

    @classmethod
    def of(
        cls,
        formats: str,
        *,
        json: bool,
        fail_if: Sequence[FailIf] | None,
        wait: bool,
        take_over: bool,
    ) -> Wanted:
        """As it was asked on the command line.

        Raises:
            typer.BadParameter: there is no such form, or two options exclude each other.
        """
        if wait and take_over:
            raise typer.BadParameter("--wait and --take-over exclude each other")
        busy = Busy.WAIT if wait else Busy.TAKE_OVER if take_over else Busy.REFUSE
        return cls(chosen_formats(formats), json, tuple(fail_if or ()), busy)


def begun(
    path: Path,
    variant: str | None,
    seed: int | None,
    results: Path,
    wanted: Wanted,
    *,
    budget: str | None = None,
    committed: Path | None = None,
) -> int:
    """A new run of a study, of its plan that was ``committed`` to, if one was; the exit code."""
    commitment = None if committed is None else read_commitment(committed, seed)
    drawn = seed if commitment is None else commitment.seed
    study, planned = plan_study(path, variant, drawn, budget)
    if commitment is not None:
        refuse_committing(study, "--commitment")
        refuse_another_plan(commitment, study.sha256, planned)
    refuse_missing_secrets(study)
    check_version(find_engine())
    parts = plans_of(study, planned)
    for line in lines_of(planned, parts or {"": Planned(study, planned)}):
        tell(line)
    if parts:
        plans = {name: part.plan for name, part in parts.items()}
        opened = new_machines_run(path, study, plans, planned.seed, results)
    else:
        opened = new_run(path, study, planned, results, commitment)
    for part in opened.parts():
        tell_commitment(part)
    try:
        return _measured(study, opened, wanted)
    except HostError as error:
        if error.slug in NOT_FREE and not _was_tried(opened):
            discard(opened)
            tell(f"nothing was measured; {shown(opened.path)} was removed again")
        raise


def _was_tried(run: Run) -> bool:
    return any(isinstance(each, AttemptStarted) for part in run.parts() for each in part.events())


def resumed(path: Path, wanted: Wanted, *, extend: bool, retry_stopped: bool = False) -> int:
    """A run that was interrupted, whose budget ended, or whose systems failed; the exit code."""
    opened = open_run(path)
    if opened.is_import:
        raise RecordError(
            f"{opened.path} was imported: there is nothing that could go on",
            hint="import it again with more files",
            slug="cannot-be-extended",
        )
    study = study_of_run(opened)
    if extend:
        extend_budget(opened)
    if retry_stopped:
        retry_what_was_stopped(opened)
    return _measured(study, opened, wanted)


def _measured(study: Study, opened: Run, wanted: Wanted) -> int:
    tell(f"records: {shown(opened.path)}")
    stream = EventStream(study, opened, shown(opened.path)) if wanted.json else None
    interrupt = Interrupt(tell_at_once)
    further = f"go on with: {command('resume', opened.path)}"
    try:
        with interrupt.installed():
            ended = _session(study, opened, wanted, interrupt, stream)
    except HostError as error:
        if error.slug == "machine-was-taken-over":
            tell(further)
        raise
    try:
        if ended.reason == "interrupted":
            code = _interrupted(opened, further)
        else:
            code = _reported(opened, wanted, stream, failed=bool(ended.failed))
    except KeyboardInterrupt:
        code = _interrupted(opened, "the run itself had ended")
    for failed in ended.failed.values():
        raise failed
    return code


def _session(
    study: Study, opened: Run, wanted: Wanted, interrupt: Interrupt, stream: EventStream | None
) -> RoundsEnd:
    """One session of the run, or of the runs of all machines; how it ended."""
    if opened.has_machines:
        with watch_machines(study, opened, stream) as (on, rounds):
            return run_machines(study, on, interrupt, wanted.busy, rounds)
    with watch(study, stream) as watcher:
        return RoundsEnd(run_session(study, opened, watcher, interrupt, wanted.busy), {})


def _interrupted(opened: Run, further: str) -> int:
    """No report any more: its charts take seconds of processor, on a busy machine half a minute."""
    tell(f"interrupted; {further}")
    tell(f"for a report of what was measured: {command('report', opened.path)}")
    return ExitCode.INTERRUPTED


def _reported(opened: Run, wanted: Wanted, stream: EventStream | None, *, failed: bool) -> int:
    """Writes and prints what was found; ``failed``: on a machine that has left, by an error."""
    findings = write_reports(opened, wanted.formats)
    reports = [shown(opened.report_path / file) for file in named_files(wanted.formats)]
    code = ExitCode.OPERATOR if failed else _exit_code(findings, wanted.fail_if)
    if stream is not None:
        document = json.loads(json_text(findings, findings.labels))
        stream.write(RunJudged(exit_code=code, reports=tuple(reports), findings=document))
        return code
    print_answer(findings, reports, _further(opened, findings))
    return code


def write_reports(opened: Run, formats: tuple[str, ...]) -> RunFindings:
    """What was found; the reports of all machines of the run that it is, or is of, are written."""
    whole = Run(opened.of_machines or opened.path)
    before = made_of(whole)
    each = find_each(whole)
    written = tuple(dict.fromkeys((*formats, "json")))  # findings.json always lies beside
    for run, own in each.items():
        write(run, own, written, made_of=still(whole, before) if run == whole else None)
    return each[opened]


def _further(opened: Run, findings: RunFindings) -> list[str]:
    """What the user may do next with this run."""
    resume = command("resume", opened.path)
    found = (system for part in opened.parts() for system in stopped_systems(part.events()))
    stopped = ", ".join(dict.fromkeys(found))
    said = [f"to measure {stopped} again, once the cause is removed: {resume} --retry-stopped"]
    more = [f"for as many visits again: {resume} --extend"]
    return (said if stopped else []) + (more if may_be_extended(opened, findings) else [])


def _words_of(own: WorkloadFindings) -> set[str]:
    """What is said of the primary response and of the claims."""
    primary = {response.name for response in own.responses if response.primary}
    verdicts = {v.word.value for v in own.verdicts if v.response in primary}
    return verdicts | {claim.word.value for claim in own.claims}


def _exit_code(findings: RunFindings, fail_if: Sequence[FailIf]) -> int:
    found = {word for own in findings.workloads for word in _words_of(own)}
    if found & {word.value for word in fail_if}:
        return ExitCode.VERDICT_NOT_MET
    measured = {attempt.trial for attempt in findings.attempts if attempt.outcome == "ok"}
    tried = {attempt.trial for attempt in findings.attempts}
    if any(isinstance(each, CleanupIncomplete) and each.pending for each in findings.caveats):
        return ExitCode.OPERATOR
    missing = findings.stop.reason == "failures" or any(map(_missing, views(findings)))
    missing = missing or any(each.damaged for each in findings.disks)
    return ExitCode.TRIALS_FAILED if tried - measured or missing else ExitCode.DONE


def _missing(view: View) -> bool:
    """Whether the primary response of a system was never measured, although it was tried."""
    primary = {response.name for response in view.own.responses if response.primary}
    tried = {attempt.cell.system for attempt in view.attempts}
    own = [cell for cell in view.own.cells if cell.response in primary]
    measured = {cell.cell.system for cell in own if cell.values}
    return bool(tried & {cell.cell.system for cell in own} - measured)
