"""``steelyard run`` and ``resume``: the measuring side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.console import shown, tell
from steelyard.cli.extending import extend_budget, may_be_extended
from steelyard.cli.new_run import new_run
from steelyard.cli.plan import SeedOption, StudyArgument, VariantOption, plan_study
from steelyard.cli.reading import FormatOption, chosen_formats, print_answer, write
from steelyard.cli.session.display import tell_at_once, watch
from steelyard.cli.session.stream import EventStream
from steelyard.engine.locate import check_version, find_engine
from steelyard.errors import ExitCode
from steelyard.hosts.lease import Busy
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.claims.findings import ClaimWord
from steelyard.judge.analyses.planning.reachable import reaches
from steelyard.judge.findings import RunFindings, WorkloadFindings
from steelyard.plan.words import plan_lines
from steelyard.records.archive import Run, open_run
from steelyard.records.events import RunJudged
from steelyard.report.from_run import find
from steelyard.report.notes import json_text
from steelyard.report.view import View, views
from steelyard.study.model import Study
from steelyard.study.read import read_study
from steelyard.trial.session import run_session
from steelyard.trial.session_state.interrupt import Interrupt

ResultsOption = Annotated[
    Path,
    typer.Option("--results", help="Folder that keeps the runs; also says which disk is used."),
]
JsonOption = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print every event as a line of JSON when it happens; the last has the findings.",
    ),
]
QuietOption = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Show no plan and no progress: the answer and errors only."),
]


class FailIf(StrEnum):
    """Words of a verdict or of a claim that a caller may take for a failure."""

    FASTER = VerdictWord.FASTER.value
    SLOWER = VerdictWord.SLOWER.value
    EQUIVALENT = VerdictWord.EQUIVALENT.value
    UNDECIDED = VerdictWord.UNDECIDED.value
    TRADE_OFF = VerdictWord.TRADE_OFF.value
    NOT_JUDGED = VerdictWord.NOT_JUDGED.value
    CONTRADICTED = ClaimWord.CONTRADICTED.value


@dataclass(frozen=True)
class Wanted:
    """What is written and said when a run has ended, what of it is a failure, and what to do about
    a machine that another session uses.
    """

    formats: tuple[str, ...]
    json: bool
    quiet: bool
    fail_if: tuple[FailIf, ...]
    busy: Busy = Busy.REFUSE


FailIfOption = Annotated[
    list[FailIf] | None,
    typer.Option(
        "--fail-if",
        help="Exit 5 if a primary verdict, or what is said of a claim, is this word; may be "
        "repeated.",
    ),
]
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
ExtendOption = Annotated[
    bool,
    typer.Option(
        "--extend",
        help="Allow as many visits again, once: their order was drawn before the first trial.",
    ),
]
RunArgument = Annotated[
    Path,
    typer.Argument(help="Folder of a run, or of a study's runs: the newest.", show_default=False),
]


def run(  # noqa: PLR0917 - typer reads options from the parameters
    study: StudyArgument,
    variant: VariantOption = None,
    seed: SeedOption = None,
    results: ResultsOption = Path("results"),
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    fail_if: FailIfOption = None,
    formats: FormatOption = "html",
    wait: WaitOption = False,
    take_over: TakeOverOption = False,
) -> int:
    """Run a study to its verdict and write the report."""
    wanted = Wanted(
        chosen_formats(formats), as_json, quiet, tuple(fail_if or ()), _busy(wait, take_over)
    )
    read, planned = plan_study(study, variant, seed)
    check_version(find_engine())
    for line in () if quiet else plan_lines(read, planned, reaches(read, planned)):
        tell(line)
    return _measure(read, new_run(study, read, planned, results), wanted)


def resume(  # noqa: PLR0917 - the same
    path: RunArgument,
    extend: ExtendOption = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    fail_if: FailIfOption = None,
    formats: FormatOption = "html",
    wait: WaitOption = False,
    take_over: TakeOverOption = False,
) -> int:
    """Go on with a run that was interrupted; no finished trial is lost or repeated."""
    wanted = Wanted(
        chosen_formats(formats), as_json, quiet, tuple(fail_if or ()), _busy(wait, take_over)
    )
    opened = open_run(path)
    study = read_study(opened.study_path, variant=opened.facts().variant)
    if extend:
        extend_budget(opened)
    return _measure(study, opened, wanted)


def _busy(wait: bool, take_over: bool) -> Busy:
    if wait and take_over:
        raise typer.BadParameter("--wait and --take-over exclude each other")
    return Busy.WAIT if wait else Busy.TAKE_OVER if take_over else Busy.REFUSE


def _measure(study: Study, opened: Run, wanted: Wanted) -> int:
    if not wanted.quiet:
        tell(f"records: {shown(opened.path)}")
    stream = EventStream(study, opened, shown(opened.path)) if wanted.json else None
    interrupt = Interrupt(tell_at_once)
    with interrupt.installed():
        with watch(study, stream, quiet=wanted.quiet) as watcher:
            reason = run_session(study, opened, watcher, interrupt, wanted.busy)
        if reason == "interrupted":
            return _interrupted(opened, f"go on with: steelyard resume {shown(opened.path)}")
    try:
        return _reported(opened, wanted, stream)
    except KeyboardInterrupt:
        return _interrupted(opened, "the run itself had ended")


def _interrupted(opened: Run, further: str) -> int:
    """No report any more: its charts take seconds of processor, on a busy machine half a minute."""
    tell(f"interrupted; {further}")
    tell(f"for a report of what was measured: steelyard report {shown(opened.path)}")
    return ExitCode.INTERRUPTED


def _reported(opened: Run, wanted: Wanted, stream: EventStream | None) -> int:
    findings = find(opened)
    written = dict.fromkeys((*wanted.formats, "json"))  # findings.json always lies beside them
    paths = write(opened, findings, tuple(written))
    reports = [shown(path) for path in paths[: len(wanted.formats)]]
    code = _exit_code(findings, wanted.fail_if)
    if stream is not None:
        document = json.loads(json_text(findings, findings.labels))
        stream.write(RunJudged(exit_code=code, reports=tuple(reports), findings=document))
        return code
    further = f"steelyard resume {shown(opened.path)} --extend"
    print_answer(findings, reports, further if may_be_extended(opened, findings) else None)
    return code


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
    missing = findings.stop.reason == "failures" or any(map(_missing, views(findings)))
    return ExitCode.TRIALS_FAILED if tried - measured or missing else ExitCode.DONE


def _missing(view: View) -> bool:
    """Whether the primary response of a system was never measured, although it was tried."""
    primary = {response.name for response in view.own.responses if response.primary}
    tried = {attempt.cell.system for attempt in view.attempts}
    own = [cell for cell in view.own.cells if cell.response in primary]
    measured = {cell.cell.system for cell in own if cell.values}
    return bool(tried & {cell.cell.system for cell in own} - measured)
