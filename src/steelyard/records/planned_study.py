"""The study of a run, as its plan names what is compared."""

from __future__ import annotations

from steelyard.plan.design import as_planned
from steelyard.records.archive import Run
from steelyard.study.model import Study
from steelyard.study.read import read_study


def study_of_run(run: Run) -> Study:
    """From the copy in the run's folder.

    Raises:
        RecordError: the run is damaged.
        StudyError: its study file was changed by hand.
    """
    facts = run.facts()
    study = read_study(run.study_path, variant=facts.variant, machine=facts.machine)
    if not study.names or run.is_import:
        return study
    return as_planned(study, run.parts()[0].plan().systems)
