"""From the folder of a run to findings and a report; needs nothing but the records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.judge.findings import RunFindings
from steelyard.judge.verdict import judge_study
from steelyard.records.archive import Run
from steelyard.records.author_notes import FOLDER, name_of_note, read_notes
from steelyard.report.anonymous import anonymous
from steelyard.report.formats.registry import FORMATS, write_report
from steelyard.study.read import read_study

FormatOption = Annotated[
    str,
    typer.Option(
        "--format", "-f", help=f"Forms of the report, comma-separated: {', '.join(FORMATS)}."
    ),
]


def chosen_formats(text: str) -> tuple[str, ...]:
    """The forms that were asked for, each once.

    Raises ``typer.BadParameter`` for one that there is not.
    """
    chosen = dict.fromkeys(word.strip() for word in text.split(","))
    unknown = [word for word in chosen if word not in FORMATS]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]!r} is none of {', '.join(FORMATS)}")
    return tuple(chosen)


def find(run: Run) -> RunFindings:
    """All that the records of a run say.

    Raises:
        RecordError: the run is damaged, or a note of its author cannot be read.
        StudyError: its study file was changed by hand.
    """
    study = read_study(run.study_path, variant=run.facts().variant)
    plan, records = run.plan(), run.records()
    name = f"{run.path.parent.name}/{run.name}"
    found = judge_study(
        study, plan, records, run=name, events=run.events(), courses=dict(run.courses())
    )
    return found.model_copy(update={"author_notes": _notes_of(run, found)})


def _notes_of(run: Run, findings: RunFindings) -> dict[str, str]:
    """The author's words by level, of the sections that the report has."""
    written = read_notes(run.path / FOLDER)
    sections = [section for own in findings.workloads for section in own.sections]
    levels = [(s.level, s.by) for s in sections if s.level is not None and s.by is not None]
    named = {findings.labels.level(level, by): name_of_note(level) for level, by in levels}
    return {level: written[name] for level, name in named.items() if name in written}


def write(
    run: Run, findings: RunFindings, formats: tuple[str, ...], folder: Path | None = None
) -> list[Path]:
    """Writes the report in these formats into ``folder``, or the run's own."""
    series, own = dict(run.series()), folder is None
    return write_report(findings, series, folder or run.report_path, formats, beside_records=own)


def for_strangers(run: Run, findings: RunFindings) -> RunFindings:
    """The same without host names, paths and addresses of the machines that it came from."""
    facts = (facts for record in run.records() for facts in record.facts.values())
    return anonymous(findings, {name for each in facts if (name := each.get("hostname"))})
