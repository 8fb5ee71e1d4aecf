"""Conditions that are left out once decided: does the machine's answer to it mislead the rest?

    python -m tests.calibration.left_out [STUDIES]

Two systems that differ at one condition and are equal at another. When the first is decided, a
time that depends on the coin, its trials are left out, and from the next visit on the machine is
quicker, or slower, for both systems alike. Counted: how often the equal condition is called
different at any look to the end of the budget, at a whole error rate of 5 %.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
from tests.calibration.batched import judged
from tests.calibration.cells import HORIZON, Cell, drawn, noise_of

EFFECT, BATCH = 0.03, 64
CHANGES = (0.0, 0.06, -0.06)
NOISES = ("independent 2 %", "AR(1) 0.9", "drift 0.4 % a visit", "bimodal 6 %")


def main() -> None:
    """One line for each noise and each change of the machine."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else 1_024
    for noise in NOISES:
        for change in CHANGES:
            batches = range(studies // BATCH)
            wrong = sum(called_different(noise, change, batch) for batch in batches)
            line = f"{noise}, {change:+.0%} once left out: {wrong} of {len(batches) * BATCH}"
            sys.stdout.write(line + "\n")


def called_different(noise: str, change: float, batch: int) -> int:
    """Studies of a batch in which the equal condition is called different at any look."""
    differing = drawn(Cell(noise, effect=EFFECT), batch, BATCH)
    left_out = np.array([each.at or HORIZON for each in judged(differing, HORIZON)])
    later = np.arange(HORIZON) >= left_out[:, None]
    of_its_own = noise_of(Cell(noise, effect=2 * EFFECT), batch, BATCH)
    equal = replace(differing, values=of_its_own + change * later)
    return sum(each.different for each in judged(equal, HORIZON, beyond_decision=True))


if __name__ == "__main__":
    main()
