"""From a study file to a plan, refusing what this version cannot run."""

from __future__ import annotations

from pathlib import Path

from steelyard.errors import StudyError
from steelyard.plan.make import draw_seed, make_plan
from steelyard.plan.model import Plan
from steelyard.study.available import not_available
from steelyard.study.model import Study
from steelyard.study.read import read_study


def plan_study(path: Path, variant: str | None, seed: int | None) -> tuple[Study, Plan]:
    """The study and its whole plan; nothing is touched.

    Raises:
        StudyError: every mistake, or everything this version cannot run yet.
    """
    study = read_study(path, variant=variant)
    complaints = not_available(path, variant=variant)
    if complaints:
        raise StudyError(complaints, slug="not-in-this-version")
    chosen = seed if seed is not None else study.trials.seed
    return study, make_plan(study, draw_seed() if chosen is None else chosen)
