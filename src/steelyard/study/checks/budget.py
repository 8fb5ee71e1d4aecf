"""Whether a budget can hold enough visits for any verdict."""

from __future__ import annotations

import math

from steelyard.study import screening, timing
from steelyard.study.file.complaints import Complaints
from steelyard.study.file.source import Where
from steelyard.study.model import Study
from steelyard.study.workload_study import conditions_count
from steelyard.units import format_duration


def check_budget(study: Study, complaints: Complaints) -> None:
    """A budget that cannot hold enough visits for any verdict is a mistake, and so are more
    conditions than anyone can wait for.
    """
    if timing.compares(study):
        _check_comparison(study, complaints)
    asked = screening.screened(study)
    if asked is not None:
        _check_screen(study, asked, complaints)


def _check_screen(study: Study, asked: screening.Screened, complaints: Complaints) -> None:
    if study.find and not timing.compares(study):
        hint = "take it out, or add a system to compare with"
        complaints.add(("find",), "`find` needs systems to compare", hint, at_key=True)
    where: Where = ("ask",) if study.screen is None else ("screen",)
    if asked.cells > timing.MOST_CELLS or len(asked.factors) < _LEAST_FACTORS:
        message = f"{len(asked.factors)} factors with {asked.cells:,} cells cannot be screened"
        hint = f"give at least two factors and at most {timing.MOST_CELLS} cells"
        complaints.add(where, message, hint, at_key=True)
        return
    least = asked.least_replicates
    if screening.affordable_replicates(study) >= least:
        return
    needed_s = least * screening.replicate_s(study, asked)
    if timing.compares(study):
        needed_s /= timing.SHARE_OF_EACH
    hint = (
        f"the minimum is {least * asked.cells} trials of {format_duration(timing.trial_s(study))}, "
        f"shares of variation need more: allow {_rounded_up(needed_s)} at least, better "
        f"{_rounded_up(asked.first_answer * needed_s / least)}"
    )
    message = "the budget is too small for the screening"
    complaints.add(("trials", "budget"), message, hint, at_key=True)


def _check_comparison(study: Study, complaints: Complaints) -> None:
    conditions = conditions_count(study)
    if conditions > timing.MOST_CONDITIONS:
        message = f"{conditions:,} conditions are too many"
        hint = f"the maximum is {timing.MOST_CONDITIONS}: take fewer levels, or write two studies"
        complaints.add(_most_levels(study), message, hint, at_key=True)
        return
    least, visits = timing.least_visits(study), timing.affordable_visits(study)
    if visits >= least:
        return
    budget = study.trials.budget
    per_cell = math.ceil(least / len(study.compared))
    if budget.trials_per_cell is not None and budget.trials_per_cell < per_cell:
        message = f"{budget.trials_per_cell} trials per cell are too few for a verdict"
        complaints.add(
            ("trials", "budget", "trials"),
            message,
            f"write `{per_cell} per cell` or more: the judge needs {least} visits at least",
        )
    needed_s = least * timing.visit_s(study)
    if budget.time_s is not None and budget.time_s < needed_s:
        message = f"{format_duration(budget.time_s)} is too short for a verdict"
        hint = (
            f"the judge needs at least {least} visits of {format_duration(timing.visit_s(study))}: "
            f"allow {_rounded_up(needed_s)} or more, or shorten the window"
        )
        complaints.add(("trials", "budget", "time"), message, hint)


_LEAST_FACTORS = 2


def _rounded_up(duration_s: float) -> str:
    step = 60 if duration_s > 120 else 1
    return format_duration(math.ceil(duration_s / step) * step)


def _most_levels(study: Study) -> Where:
    """Where the factor with the most levels stands."""
    name = max(study.factors, key=lambda factor: len(study.factors[factor]))
    return tuple(name.split("."))
