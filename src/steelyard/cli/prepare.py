"""From a study file to a plan, refusing what this version cannot run."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.console import print_notice
from steelyard.plan.make import make_plan, seed_of
from steelyard.plan.model import Plan
from steelyard.study.lookup import renamed_in_own_files
from steelyard.study.model import Study
from steelyard.study.read import read_runnable_study, renamed_keys


def plan_study(path: Path, variant: str | None, seed: int | None) -> tuple[Study, Plan]:
    """The study and its whole plan; nothing is touched, keys with new names are reported.

    Raises:
        StudyError: every mistake, or everything this version cannot run yet.
    """
    for notice in renamed_keys(path):
        print_notice(notice)
    study = read_runnable_study(path, variant=variant)
    for notice in renamed_in_own_files(study, path):
        print_notice(notice)
    return study, make_plan(study, seed_of(study) if seed is None else seed)
