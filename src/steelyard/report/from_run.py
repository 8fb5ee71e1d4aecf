"""All that the records of a run say, from its folder alone or from its ``findings.json``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from steelyard.errors import RecordError
from steelyard.imports.folder import find_import
from steelyard.judge.findings import RunFindings
from steelyard.judge.kinds.caveats import SamplesDamaged, SamplesDeleted, SamplesInParquet
from steelyard.judge.machines.joined import joined
from steelyard.judge.machines.of_study import MachinePart
from steelyard.judge.verdict import judge_study
from steelyard.records.archive import Run
from steelyard.records.attempt_folder import attempt_key, is_samples
from steelyard.records.counters import EARLIER_ENDING
from steelyard.records.files.checksums import held_against_the_plan
from steelyard.records.files.parquet import parquet_is_read
from steelyard.records.own_files.author_notes import (
    FOLDER,
    LATEX,
    OF_ARTICLES,
    name_of_note,
    read_notes,
)
from steelyard.records.planned_study import study_of_run
from steelyard.records.schema import TrialRecord
from steelyard.records.shared_parts import sharing
from steelyard.report.machine_notes import of_machines, on_machine
from steelyard.study.machines import parts_of

_MOST_NAMED = 5


def find(run: Run, notes: Path | None = None) -> RunFindings:
    """All that the records of a run say, with its author's ``notes``, or those kept with it.

    Raises:
        RecordError: the run is damaged, or a note of its author cannot be read.
        StudyError: its study file was changed by hand.
        TrialsError: it was imported, and its numbers are not judged.
    """
    if run.is_import:
        return find_import(run)
    if run.has_machines:
        return find_each(run, notes)[run]
    run.refuse_changed_files()
    facts, study, plan = run.facts(), study_of_run(run), run.plan()
    records = list(sharing(held_against_the_plan(run.path, plan, run.each_record())))
    damaged: list[str] = []
    found = judge_study(
        study,
        plan,
        records,
        run=run.key,
        events=run.events(),
        loads=run.loads(),
        samples=run.samples(damaged.append),
    )
    commit = f" ({facts.tool_commit})" if facts.tool_commit else ""
    beside = {
        "measured_by": f"{facts.tool_version}{commit}",
        "author_notes": _notes_of(notes or run.path / FOLDER, found),
        "study_text": run.study_path.read_text("utf-8"),
        "caveats": (*found.caveats, *_caveats_of(damaged), *_deleted(run, records, damaged)),
    }
    return found.model_copy(update=beside)


def find_each(run: Run, notes: Path | None = None) -> dict[Run, RunFindings]:
    """The same of a run, and of the run of each of its machines, itself first.

    Raises: as ``find``.
    """
    if not run.has_machines:
        return {run: find(run, notes)}
    run.refuse_changed_files()
    facts, each = run.facts(), run.machines()
    study = study_of_run(run)
    own = parts_of(study)
    parts = {n: MachinePart(own[n], part.plan(), part.records()) for n, part in each.items()}
    found = {name: find(part, notes) for name, part in each.items()}
    events = {name: part.events() for name, part in each.items()}
    named = {name: on_machine(name, of_one) for name, of_one in found.items()}
    whole = joined(study, parts, named, run=run.key, seed=facts.seed, events=events)
    return {
        run: of_machines(named, whole),
        **{each[name]: of_one for name, of_one in found.items()},
    }


def _caveats_of(unread: Sequence[str]) -> Iterator[SamplesDamaged | SamplesInParquet]:
    wanting = [] if parquet_is_read() else [n for n in unread if n.endswith(EARLIER_ENDING)]
    damaged = [name for name in unread if name not in wanting]
    if damaged:
        yield SamplesDamaged(count=len(damaged), files=tuple(damaged[:_MOST_NAMED]))
    if wanting:
        yield SamplesInParquet(count=len(wanting))


def _deleted(
    run: Run, records: Sequence[TrialRecord], damaged: Sequence[str]
) -> Iterator[SamplesDeleted]:
    """Samples that a record lists and that are neither there nor missed."""
    gone, files = 0, run.file_names()
    for record in records:
        key = attempt_key(record.trial, record.attempt)
        names = {name for name in record.files if is_samples(name)}
        missed = any(f"{key}/{name}" in damaged for name in names)
        gone += not names <= files[key] and not missed
    if gone:
        yield SamplesDeleted(attempts=gone)


def stored(path: Path) -> RunFindings:
    """What was found before, as ``findings.json`` keeps it: nothing is judged again.

    Raises:
        RecordError: the file cannot be read, or holds no findings as this version writes them.
    """
    try:
        return RunFindings.model_validate_json(path.read_bytes())
    except OSError as error:
        reason = error.strerror or str(error)
    except ValidationError as error:
        first = error.errors()[0]
        reason = f"{'.'.join(map(str, first['loc'])) or 'the document'}: {first['msg']}"
    raise RecordError(
        f"{path} holds no findings that this version reads: {reason}",
        hint="name the folder of the run: findings are computed again from its records",
        slug="record-is-damaged",
    )


def _notes_of(folder: Path, findings: RunFindings) -> dict[str, str]:
    """The author's words by level, of the sections that there are, and those of an article."""
    written = read_notes(folder)
    sections = [section for own in findings.workloads for section in own.sections]
    levels = [(s.level, s.by) for s in sections if s.level is not None and s.by is not None]
    named = {findings.labels.level(level, by): name_of_note(level) for level, by in levels}
    named |= {name: name for name in OF_ARTICLES}
    return {
        level + ending: written[name + ending]
        for level, name in named.items()
        for ending in ("", LATEX)
        if name + ending in written
    }
