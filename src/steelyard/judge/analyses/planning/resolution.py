"""From the reference kernel before the first trial to what a margin costs on this machine.

Neighbouring values are compared, because the order of visits is random and a slow drift weighs
on both systems alike; what is left is the noise that a verdict has to overcome.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from steelyard.inference.estimate import Estimate, visits_to_decide
from steelyard.inference.noise.robust import Floats, mad_sd
from steelyard.inference.spending import FIRST_LOOK
from steelyard.judge.analyses.planning.findings import (
    NoNoise,
    ReferenceKernelFailed,
    ResolutionFinding,
    TooFewValues,
)
from steelyard.records.events import Event, NoiseMeasured, ReferenceKernelSeries
from steelyard.study.model import TrialsSpec

_FEWEST = 8
_MOST_VISITS = 10_000


def resolution_findings(events: Sequence[Event], trials: TrialsSpec) -> list[ResolutionFinding]:
    """What the ledger of a run says of its machines; nothing without a reference kernel."""
    measured = [event for event in events if isinstance(event, NoiseMeasured)]
    return resolutions([row for event in measured for row in event.series], trials)


def resolutions(
    rows: Sequence[ReferenceKernelSeries], trials: TrialsSpec
) -> list[ResolutionFinding]:
    """One finding for each machine and part of its reference kernel."""
    return [_resolution(row, trials.margin_log, trials.alpha) for row in rows]


def _resolution(row: ReferenceKernelSeries, margin_log: float, alpha: float) -> ResolutionFinding:
    values = [value for value in row.values if value is not None and value > 0]
    known = len(values) >= _FEWEST
    logs = np.log(values) if known else None
    noise = None if logs is None else noise_of(logs)
    return ResolutionFinding(
        machine=row.machine,
        part=row.part,
        values=len(values),
        noise_log=noise,
        drift_log=None if logs is None else _drift(logs),
        margin_log=margin_log,
        visits=None if noise is None else visits_for(margin_log, noise, alpha),
        missing=None if known else _missing(row, len(values)),
    )


def _missing(row: ReferenceKernelSeries, values: int) -> NoNoise:
    if row.missing is not None:
        return ReferenceKernelFailed(reason=row.missing)
    return TooFewValues(values=values, needed=_FEWEST)


def noise_of(logs: Floats) -> float:
    """Robust standard deviation of one value, from differences of neighbours."""
    steps = np.diff(logs)
    return mad_sd(steps) / math.sqrt(2)


def visits_for(difference_log: float, noise_log: float, alpha: float) -> int | None:
    """About how many visits of two systems show such a difference; ``None`` beyond 10,000."""
    one_visit = Estimate(difference_log, 2 * noise_log, noise_log)
    further = visits_to_decide(one_visit, 1, 0.0, alpha)
    if further is None or further > _MOST_VISITS:
        return None
    return max(FIRST_LOOK, further + 1)


def _drift(logs: Floats) -> float:
    third = len(logs) // 3
    return float(np.median(logs[-third:]) - np.median(logs[:third]))
