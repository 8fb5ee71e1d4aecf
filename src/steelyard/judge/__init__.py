"""Records to verdicts; for trials that were measured elsewhere, ``judge_trials``."""

from steelyard.judge.trials import TrialsVerdict, judge_trials

__all__ = ["TrialsVerdict", "judge_trials"]
