"""From the folder of a run to findings and a report; needs nothing but the records."""

from __future__ import annotations

from pathlib import Path

from steelyard.judge.findings import Findings
from steelyard.judge.verdict import judge_study
from steelyard.records.archive import Run
from steelyard.report.tables import write_report
from steelyard.study.read import read_study


def find(run: Run) -> Findings:
    """All that the records of a run say.

    Raises:
        RecordError: the run is damaged.
        StudyError: its study file was changed by hand.
    """
    study = read_study(run.study_path, variant=run.facts().variant)
    plan, records = run.plan(), run.records()
    name = f"{run.path.parent.name}/{run.name}"
    return judge_study(
        study, plan, records, run=name, events=run.events(), courses=dict(run.courses())
    )


def write(run: Run, findings: Findings, formats: tuple[str, ...]) -> list[Path]:
    """Writes the report in these formats into the run's folder."""
    return write_report(findings, dict(run.series()), run.report_path, formats)
