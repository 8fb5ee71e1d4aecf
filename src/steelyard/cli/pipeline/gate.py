"""``steelyard gate``: base and candidate built, measured against each other, and reported."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from steelyard.cli.console import shown, tell, warn
from steelyard.cli.options import (
    RESULTS,
    BudgetOption,
    EventsOption,
    FailIf,
    FailIfOption,
    FormatOption,
    ResultsOption,
    SeedOption,
    StudyArgument,
    VariantOption,
)

BASE_FOLDER = Path(".steelyard/base")
REPORT = Path("steelyard-report")
_FORMATS = "html,md,junit"


def gate(  # noqa: PLR0917 - typer reads options from the parameters
    study: StudyArgument,
    base: Annotated[
        str,
        typer.Option(
            "--base",
            help="What the candidate is measured against: a branch, tag or commit, checked out "
            "into --base-folder. Without it nothing is.",
        ),
    ] = "",
    base_folder: Annotated[
        Path, typer.Option("--base-folder", help="Where, below the root of the repository.")
    ] = BASE_FOLDER,
    build: Annotated[
        str,
        typer.Option("--build", help="Command that builds, run in the base and in the candidate."),
    ] = "",
    variant: VariantOption = None,
    budget: BudgetOption = None,
    seed: SeedOption = None,
    fail_if: FailIfOption = None,
    results: ResultsOption = RESULTS,
    to: Annotated[
        Path, typer.Option("--to", help="Folder for the report; findings.json is always there.")
    ] = REPORT,
    formats: FormatOption = _FORMATS,
    comments: Annotated[
        bool,
        typer.Option("--comment", help="Comment on the pull request (see `steelyard comment`)."),
    ] = False,
    as_json: EventsOption = False,
) -> int:
    """Measure a change against its base, both built here; slower or contradicted: exit code 5."""
    from steelyard.cli.pipeline import base as bases
    from steelyard.cli.planning.plan import plan_study
    from steelyard.cli.session import measure

    plan_study(study, variant, seed, budget)  # its mistakes come before anything is built
    if base:
        root = bases.root_of(study)
        bases.check_out(base, root, root / base_folder)
    if build:
        root = bases.root_of(study)
        for folder in ([root / base_folder] if base else []) + [root]:
            bases.build(build, folder)
    words = fail_if or [FailIf.SLOWER, FailIf.CONTRADICTED]
    wanted = measure.Wanted.of(formats, json=as_json, fail_if=words, wait=True, take_over=False)
    before = _runs(results)
    code = measure.begun(study, variant, seed, results, wanted, budget=budget)
    for run in sorted(_runs(results) - before):
        _publish(run / "report", to, comments=comments)
    return code


def _runs(results: Path) -> set[Path]:
    return {path.parent for path in results.glob("*/*/plan.json")}


def _publish(report: Path, to: Path, *, comments: bool) -> None:
    """The report where a pipeline looks for it; a refused comment does not change the gate."""
    from steelyard.cli.pipeline.comment import comment
    from steelyard.errors import HostError

    findings = report / "findings.json"
    if not findings.exists():
        return  # interrupted
    shutil.copytree(report, to, dirs_exist_ok=True)
    tell(f"report: {shown(to)}")
    summary, text = os.environ.get("GITHUB_STEP_SUMMARY"), report / "report.md"
    if summary and text.exists():
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(text.read_text(encoding="utf-8"))
    if comments:
        try:
            comment(findings)
        except HostError as error:
            warn(f"no comment: {error.message}; {error.hint}")
