"""What validation simulates of guards, claims, failures, races: G16 to G19."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from tests.calibration import claiming, failing, guarding
from tests.calibration.claiming import claimed
from tests.calibration.failing import undefined_percentiles, unequal_failures
from tests.calibration.guarding import guarded
from tests.calibration.races import EQUAL, UNLIKE, Race, false_families
from tests.calibration.tally import BATCH, Tally, Task

_MOST, _BATCH = 5_120, BATCH // 4
_Case = TypeVar("_Case")


def words() -> Iterator[Task]:
    """Cells of G16 to G19."""
    for guard in guarding.CASES:
        yield _task("G16", guard.name, {"times": guard.times}, _of(guarded, guard))
    for kind in ("at_the_bound", "clear", "untrue"):
        for claim in getattr(claiming, kind.upper()):
            yield _task("G17", claim.name, {"kind": kind}, _of(claimed, claim))
    for failure in failing.CASES:
        about = {"kind": "operations"}
        yield _task("G18", failure.name, about, _of(unequal_failures, failure))
    for share in failing.UNDEFINED:
        name = f"percentiles without a value in {share:.0%} of the visits of both"
        yield _task("G18", name, {"kind": "percentiles"}, _of(undefined_percentiles, share))
    for race in RACES:
        about = {"noise": race.noise, "spread": race.spread, "freed": race.freed}
        yield _task("G19", race.name, about, _raced(race))


_NOISES = ("independent 2 %", "drift 2 % a visit", "AR(1) 0.9", "bimodal 6 %")
RACES = (
    *(Race(noise, EQUAL, 0, family=True) for noise in _NOISES),
    *(Race(noise, UNLIKE, 0, family=True) for noise in _NOISES),
    *(Race("independent 2 %", one, 0, freed=0.06, family=True) for one in (EQUAL, UNLIKE)),
    *(Race("independent 2 %", one, 0, spread=4.0, family=True) for one in (EQUAL, UNLIKE)),
)


def _of(count: Callable[[_Case, int, int], Tally], case: _Case) -> Callable[[int, int], Tally]:
    return lambda batch, studies: count(case, batch, studies)


def _raced(race: Race) -> Callable[[int, int], Tally]:
    def run(batch: int, studies: int) -> Tally:
        here = replace(race, studies=studies, batch=batch, visits=[])
        wrong = false_families(here)
        return Tally(studies, Counter(wrong=wrong), Counter(here.visits))

    return run


def _task(goal: str, name: str, about: dict[str, object], run: Callable[[int, int], Tally]) -> Task:
    return Task(goal, name, dict(about), run, most=_MOST, batch=_BATCH)
