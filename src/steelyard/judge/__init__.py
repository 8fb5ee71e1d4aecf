"""Records to verdicts; for trials that were measured elsewhere, ``judge_trials``."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steelyard.judge.own_trials.verdicts import TrialsVerdict, judge_trials

__all__ = ["TrialsVerdict", "judge_trials"]


def __getattr__(name: str) -> Any:
    """Loaded when asked for: a plan needs other parts of the judge, and no statistics."""
    if name not in __all__:
        raise AttributeError(name)
    from steelyard.judge.own_trials import verdicts  # noqa: PLC0415 - as said

    return getattr(verdicts, name)
