"""How soon the judge decides, what it says, and whether its interval holds the truth."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from tests.calibration.gate import ALPHA
from tests.calibration.simulated import Case, first, studies

from steelyard.judge.decision import Decision, decide
from steelyard.judge.estimate import estimate
from steelyard.judge.findings import VerdictWord
from steelyard.judge.interval import Stream, high_end, low_end

MARGIN = math.log1p(0.02)


@dataclass(frozen=True)
class Power:
    """What came of one case: words and visits at the stop of every study.

    ``stops`` holds the whole budget for undecided ones.
    """

    case: Case
    words: Counter[VerdictWord]
    stops: tuple[int, ...]

    def share(self, *words: VerdictWord) -> float:
        return sum(self.words[word] for word in words) / self.case.studies

    @property
    def decided(self) -> float:
        return 1 - self.share(VerdictWord.UNDECIDED)

    @property
    def median_visits(self) -> int | None:
        """Median visits at the stop; ``None`` when fewer than half of the studies decide."""
        median = sorted(self.stops)[len(self.stops) // 2]
        return median if self.decided > 0.5 else None


def power(case: Case) -> Power:
    """Every study of a case up to its stop, judged as shipped."""
    words: Counter[VerdictWord] = Counter()
    stops = []
    for study in studies(case):
        decision = stop(study)
        words[decision.words[0] if decision.words else VerdictWord.UNDECIDED] += 1
        stops.append(decision.at or case.horizon)
    return Power(case, words, tuple(stops))


def held_throughout(case: Case) -> int:
    """Studies whose interval, narrowed at every look to the end of the budget, holds the truth."""
    return sum(holds(study, case.effect) for study in studies(case))


def stop(study: Stream) -> Decision:
    """The first decision; looked for in growing parts of the study, as most stop early."""
    visits = 16
    while True:
        decision = decide(first(study, visits), MARGIN, ALPHA)
        if decision.words or visits >= study.horizon:
            return decision
        visits = min(2 * visits, study.horizon)


def holds(stream: Stream, effect: float) -> bool:
    """Whether the 95 % interval after all visits of the stream holds the true ratio."""
    found = estimate(stream.values, stream.other)
    guess = 0.0 if found is None else found.ratio_log
    low = low_end(stream, MARGIN, ALPHA / 2, guess)
    high = high_end(stream, MARGIN, ALPHA / 2, guess)
    return (low is None or low <= effect) and (high is None or effect <= high)
