"""How long the rest of a plan takes, by what its trials took so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import fmean

from steelyard.plan.model import PlannedTrial

Taken = Mapping[str, Mapping[int, float]]
"""Seconds by system and number of the trial, in the order of the trials."""


def remaining_s(trials: Iterable[PlannedTrial], taken_s: Taken) -> float | None:
    """Of these trials, each as long as those of its system; ``None`` before any was timed.

    A system that was not timed yet takes what the others took.
    """
    means = {system: _one_trial_s(list(of.values())) for system, of in taken_s.items() if of}
    if not means:
        return None
    unknown = fmean(means.values())
    return sum(means.get(trial.cell.system, unknown) for trial in trials)


def _one_trial_s(taken_s: list[float]) -> float:
    """The first trial of a system may make its image or start its machine: others do not."""
    return fmean(taken_s[1:] or taken_s)
