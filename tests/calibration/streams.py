"""Histories of 1,000 releases, simulated: G29. Written before anything was measured.

Each release is measured against the one before it in a run of at most 96 visits, margin 2 %, and
again at once while that says slower and the stream asks for more. Every tenth release is measured
against the anchor as well, which is the first release, later the one that was named last. One
release in a hundred changes by so many margins, as often to the worse as to the better.

The words of the runs are drawn from those that the judge gave of as many simulated runs of the
same noise and effect (1,000 simulated orders); what follows from them is the shipped chain.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cache

import numpy as np
from tests.calibration.batched import MARGIN, judged
from tests.calibration.cells import Cell, drawn, generator_of
from tests.calibration.tally import Tally

from steelyard.history.chain import RATE, GrowingChain
from steelyard.history.point import ComparisonPoint, RunPoint
from steelyard.inference.online_rate import OnlineRate
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import ResponseFinding
from steelyard.records.results.chain import ANCHOR_EVERY, LinkKind, Standing

RELEASES = 1_000
CHANGES = 0.01
RUNS, BATCH = 200, 50
RUNS_OF_EQUAL = 2_000
PATHS = 1_000
SIZES = (0, 1, 2, 3)
NOISES = ("independent 2 %", "AR(1) 0.9", "drift 0.4 % a visit", "bimodal 6 %", "quiet-vm-memory")
LATE = 2
_FARTHEST = 6
_SIDE = 0.025
_RESPONSE = ResponseFinding(
    name="throughput", label="throughput", unit="1/s", direction="higher", primary=True
)


@dataclass(frozen=True)
class Stream:
    """Histories in which a release that changes does so by ``size`` margins."""

    noise: str
    size: int

    @property
    def name(self) -> str:
        return f"{self.noise}, changes of {self.size} margins"


STREAMS = tuple(Stream(noise, size) for noise in NOISES for size in SIZES)


@cache
def words_of(noise: str, margins: int) -> tuple[VerdictWord, ...]:
    """What the judge says of runs whose true effect is so many margins."""
    cell = Cell(noise, effect=margins * MARGIN, paths=PATHS)
    runs = RUNS if margins else RUNS_OF_EQUAL
    outcomes = [
        o for b in range(runs // BATCH) for o in judged(drawn(cell, b, BATCH), cell.horizon)
    ]
    return tuple(each.words[0] if each.words else VerdictWord.UNDECIDED for each in outcomes)


def streamed(stream: Stream, batch: int, studies: int) -> Tally:
    """What is named in so many histories, and how soon after a change."""
    counts: Counter[str] = Counter()
    for number in range(studies):
        rng = generator_of(f"stream: {stream.name}, history {number}", batch)
        counts.update(_one(stream, rng))
    return Tally(studies, counts)


def _one(stream: Stream, rng: np.random.Generator) -> Counter[str]:
    changed = stream.size * (rng.random(RELEASES) < CHANGES) * rng.choice((-1, 1), RELEASES)
    level = np.concatenate([[0], np.cumsum(changed)])
    chain, runs, anchor = GrowingChain(OnlineRate(RATE)), 0, 0
    named: list[tuple[int, int]] = []

    def measured(before: int, after: int) -> None:
        """A link or an anchor, with all the runs that it takes."""
        nonlocal runs, anchor
        effect = int(np.clip(level[after] - level[before], -_FARTHEST, _FARTHEST))
        while True:
            word = words_of(stream.noise, effect)[rng.integers(len(words_of(stream.noise, effect)))]
            runs += 1
            chain.add(*_run(before, after, word))
            if chain.standing is not Standing.OPEN:
                break
        if chain.standing is Standing.NAMED:
            named.append((before, after))
            anchor = after

    for release in range(1, RELEASES + 1):
        measured(release - 1, release)
        if release % ANCHOR_EVERY == 0 and anchor < release - 1:
            measured(anchor, release)
    kinds = Counter(each.kind for each in chain.links)
    return _counted(changed, level, named) + Counter(runs=runs, anchors=kinds[LinkKind.ANCHOR])


def _counted(changed: np.ndarray, level: np.ndarray, named: list[tuple[int, int]]) -> Counter[str]:
    false = sum(bool(level[after] >= level[before]) for before, after in named)
    worse = [int(at) + 1 for at in np.flatnonzero(changed < 0)]
    delays = [_delay(at, named) for at in worse]
    return Counter(
        {
            "named": len(named),
            "false": false,
            "with a false one": int(false > 0),
            "false per million": round(1e6 * false / max(1, len(named))),
            "worse": len(worse),
            "found at once": sum(delay == 0 for delay in delays),
            "found in time": sum(delay is not None and delay <= LATE for delay in delays),
            "found": sum(delay is not None for delay in delays),
        }
    )


def _delay(at: int, named: list[tuple[int, int]]) -> int | None:
    return min((after - at for before, after in named if before < at <= after), default=None)


def _run(before: int, after: int, word: VerdictWord) -> tuple[RunPoint, ComparisonPoint]:
    point = ComparisonPoint.model_construct(
        key="", response=_RESPONSE, baseline="before", other="after", where=None, workload=None,
        word=word, words=(word,), estimate_log=None, side=_SIDE,
    )  # fmt: skip
    tested = {
        system: {"service.sha256": (f"{number:064d}",)}
        for system, number in (("before", before), ("after", after))
    }
    return RunPoint.model_construct(
        run=f"{after}", systems=("before", "after"), tested=tested
    ), point
