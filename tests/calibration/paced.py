"""Visits that are set by the pace of the first ones: may the number tell what was measured?

    python -m tests.calibration.paced [STUDIES]

Two equal systems whose response is the time of a visit itself, as with work that runs to its own
end. The mean over the systems of the first eight visits chooses how many are planned: the slowest
quarter of the studies gets 12, the next ones 24, 48 and 96. Counted: how often the systems are
called different at any look, at a whole error rate of 5 %.
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt
from tests.calibration.batched import judged
from tests.calibration.cells import Batch, Cell, drawn
from tests.calibration.noises import Values

from steelyard.inference.randomisation import Signs
from steelyard.inference.spending import FIRST_LOOK

BATCH = 64
HORIZONS = (12, 24, 48, 96)
NOISES = ("independent 2 %", "AR(1) 0.9", "drift 0.4 % a visit", "bimodal 6 %")


def main() -> None:
    """One line for each noise."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 2_048
    for noise in NOISES:
        batches = range(studies // BATCH)
        wrong = sum(called_different(noise, batch) for batch in batches)
        sys.stdout.write(f"{noise}: {wrong} of {len(batches) * BATCH}\n")


def called_different(noise: str, batch: int) -> int:
    """Studies of a batch that are called different at any look."""
    whole = drawn(Cell(noise), batch, BATCH)
    slowness = pace(whole.values, whole.signs)
    quarter = np.searchsorted(np.quantile(slowness, [0.25, 0.5, 0.75]), slowness)
    wrong = 0
    for number, horizon in enumerate(reversed(HORIZONS)):
        own = np.flatnonzero(quarter == number)
        planned = Batch(
            whole.values[own, :horizon], whole.signs[:horizon, own], whole.simulated[:horizon]
        )
        found = judged(planned, horizon, beyond_decision=True)
        wrong += sum(each.different for each in found)
    return wrong


def pace(values: Values, signs: Signs) -> npt.NDArray[np.float64]:
    """Of each study the mean over its systems of what a visit takes, without the first of each."""
    found = []
    for own, order in zip(values[:, :FIRST_LOOK], signs[:FIRST_LOOK].T, strict=True):
        means = []
        for system in (-1, 1):
            taken = own[order == system]
            means.append(np.mean(taken[1:] if len(taken) > 1 else taken))
        found.append(np.mean(means))
    return np.array(found)


if __name__ == "__main__":
    main()
