"""What is computed about the price of an answer on the machines at hand."""

from __future__ import annotations

from steelyard.judge.frozen import Frozen


class ResolutionFinding(Frozen):
    """How small a difference a machine can show, by what its canary did before the first trial.

    ``noise_log`` is the noise of one value, without slow drift; ``drift_log`` the change from the
    first third of the values to the last. ``visits`` is about how many visits a difference as
    large as the margin needs if a study is as noisy as the canary; ``None`` when none is in
    sight. ``missing`` says why a part has no values.
    """

    machine: str
    part: str
    values: int
    noise_log: float | None
    drift_log: float | None
    margin_log: float
    visits: int | None
    missing: str | None = None
