"""All that the records of a run say, from its folder alone."""

from __future__ import annotations

from steelyard.judge.findings import RunFindings
from steelyard.judge.verdict import judge_study
from steelyard.records.archive import Run
from steelyard.records.author_notes import FOLDER, name_of_note, read_notes
from steelyard.study.read import read_study


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
        study,
        plan,
        records,
        run=name,
        events=run.events(),
        courses=dict(run.courses()),
        times=run.load_times(),
        samples=run.samples(),
    )
    return found.model_copy(update={"author_notes": _notes_of(run, found)})


def _notes_of(run: Run, findings: RunFindings) -> dict[str, str]:
    """The author's words by level, of the sections that the report has."""
    written = read_notes(run.path / FOLDER)
    sections = [section for own in findings.workloads for section in own.sections]
    levels = [(s.level, s.by) for s in sections if s.level is not None and s.by is not None]
    named = {findings.labels.level(level, by): name_of_note(level) for level, by in levels}
    return {level: written[name] for level, name in named.items() if name in written}
