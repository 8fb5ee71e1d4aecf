"""Records to verdicts; for trials that were measured elsewhere, ``judge_trials``."""

from steelyard.judge.own_trials.verdicts import TrialsVerdict, judge_trials

__all__ = ["TrialsVerdict", "judge_trials"]
