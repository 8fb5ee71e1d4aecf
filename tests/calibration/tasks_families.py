"""What validation simulates of screenings, curves, warm-ups: the screenings of G1, G9 to G11."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from tests.calibration.curves import (
    FALLING,
    PEAK_AT,
    PEAKLESS,
    Law,
    holds,
    saturating,
    studies,
    usl,
)
from tests.calibration.noises import NOISES
from tests.calibration.screening import Case, falsely_influential, found_all, share_coverage
from tests.calibration.tally import Tally, Task
from tests.calibration.warmups import SHAPES, safe

from steelyard.study.screening import DEFAULT_REPLICATES

_AN_EFFECT, _A_PAIR = (0,), (1, 2)
_MIXED = {(0,): 0.2, (1,): 0.1, (0, 1): 0.04}
_CUBES = ((8, "cube", "2^3"), (DEFAULT_REPLICATES, "default cube", "2^3x14"))
"""A small budget, and that of a study that names none."""
_FORTY_TRIALS = 5
_SHARES_FROM = 3
_TRIALS = 8


@dataclass(frozen=True)
class _Batch(Case):
    """The next studies of a case, with a seed of their own."""

    batch: int = 0

    @property
    def name(self) -> str:
        return f"{super().name}, batch {self.batch}"


def families() -> Iterator[Task]:
    """Cells of the goals that have engines of their own."""
    for replicates, design, name in _CUBES:
        for noise in NOISES:
            case = _Batch(noise=noise, replicates=replicates, planned=replicates)
            about = {"noise": noise, "design": design}
            null = _counted(case, "wrong", falsely_influential)
            yield Task("G1", f"{noise}, {name}", about, null)
    four_percent = math.log(1.04)
    for factors in (_AN_EFFECT, _A_PAIR):
        case = _Batch(effects={factors: four_percent}, replicates=_FORTY_TRIALS)
        name = f"4 % of factors {factors} in 40 trials"
        yield Task("G9", name, {}, _counted(case, "found", found_all))
    case = _Batch(effects=_MIXED, replicates=_SHARES_FROM + 1)
    yield Task("G9", "intervals of shares", {}, _shares(case))
    yield Task("G10", "interval of a peak", {}, _peaks)
    for name, law in PEAKLESS.items():
        yield Task("G10", f"no peak: {name}", {}, _claimed(law))
    yield Task("G10", "a fall of 10 %", {}, _falls(FALLING))
    yield Task("G10", "a flat end", {}, _falls(saturating(10.0)))
    for shape in SHAPES:
        yield Task("G11", shape, {}, _warmed_up(shape))


def _counted(case: _Batch, what: str, count: Callable[[Case], int]) -> Callable[[int, int], Tally]:
    def run(batch: int, size: int) -> Tally:
        return Tally(size, Counter({what: count(replace(case, batch=batch, studies=size))}))

    return run


def _shares(case: _Batch) -> Callable[[int, int], Tally]:
    """The worst term decides: its count is kept beside the sum over all."""

    def run(batch: int, size: int) -> Tally:
        found = share_coverage(replace(case, batch=batch, studies=size))
        held = {f"held {factors}": round(share * size) for factors, share in found.items()}
        return Tally(size, Counter(held))

    return run


def _peaks(batch: int, size: int) -> Tally:
    told = [f for f in studies(usl(0.03, PEAK_AT), size, _first(batch)) if f.peak is not None]
    return Tally(size, Counter(told=len(told), held=sum(holds(f, PEAK_AT) for f in told)))


def _claimed(law: Law) -> Callable[[int, int], Tally]:
    def run(batch: int, size: int) -> Tally:
        claimed = sum(found.peak_stated for found in studies(law, size, _first(batch)))
        return Tally(size, Counter(claimed=claimed))

    return run


def _falls(law: Law) -> Callable[[int, int], Tally]:
    def run(batch: int, size: int) -> Tally:
        found = studies(law, size, _first(batch))
        falls = sum(each.fall is not None and each.fall.falls for each in found)
        return Tally(size, Counter(falls=falls))

    return run


def _warmed_up(shape: str) -> Callable[[int, int], Tally]:
    def run(batch: int, size: int) -> Tally:
        first = _first(batch)
        good = sum(safe(shape, seed, _TRIALS) for seed in range(first, first + size))
        return Tally(size, Counter(safe=good))

    return run


def _first(batch: int) -> int:
    """Seeds of one batch never meet those of another."""
    return 10_000 * batch
