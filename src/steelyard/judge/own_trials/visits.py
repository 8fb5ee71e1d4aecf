"""Trials that were measured elsewhere as the visits of a study: their numbers and their orders."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from steelyard.inference.exact import Pool
from steelyard.inference.noise.robust import Floats
from steelyard.inference.randomisation import Design as Law
from steelyard.inference.randomisation import Signs, draw, shuffles
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.stream import Stream
from steelyard.judge.kinds.verdict_notes import NotJudged, NoVisits, Withheld
from steelyard.judge.own_trials.rows import Design, Visit
from steelyard.judge.visits.pairs import Conditions, Pair, Scale
from steelyard.judge.visits.series import Series
from steelyard.records.warnings import WarningKind
from steelyard.study.model import Level, ResponseSpec

LOAD = "load"
_LAWS: dict[Design, Law] = {"bigstick": "big_stick", "pairs": "pairs", "blocks": "blocks"}


@dataclass(frozen=True)
class MeasuredVisits:
    """All that the comparisons of one set of trials share.

    ``rounds``: how often a block holds every system. ``budget``: visits of all systems. ``slots``:
    how long orders are drawn. ``ordered``: whether it is known which visit followed which.
    ``machine``: where, if there are several.
    """

    visits: list[Visit]
    systems: tuple[str, ...]
    loads: tuple[Level, ...]
    design: Design
    rounds: int
    budget: int
    paths: int
    seed: int
    slots: int
    distrusted: Withheld | None = None
    ordered: bool = True
    machine: str | None = None

    def series(
        self,
        pair: Pair,
        response: ResponseSpec,
        conditions: Conditions | None,
        *,
        keep_failed: bool = False,  # noqa: ARG002 - no trial has failed
        scale: Scale = "log",  # noqa: ARG002 - rows are read as logarithms
    ) -> Series:
        """One number per visit of the pair: the mean over loads, or that at one of them.

        A block counts once both have been visited in it.
        """
        wanted: list[Level | None] = (
            [conditions[LOAD]] if conditions and LOAD in conditions else [*(self.loads or (None,))]
        )
        sign = -1.0 if response.direction == "lower" else 1.0
        members = (pair.baseline, pair.other)
        own = [v for v in enumerate(self.visits, start=1) if v[1].system in members]
        whole = len(self.visits) - self.unfinished
        if {visit.system for number, visit in own if number > whole} != set(members):
            own = [v for v in own if v[0] <= whole]
        rows = [
            (number, slot, visit.system == pair.other, sign * _mean(visit, wanted))
            for slot, (number, visit) in enumerate(own)
            if all(each in visit.logs for each in wanted)
        ]
        visits = tuple(row[0] for row in rows)
        others = [row[2] for row in rows]
        return Series(
            visits=visits,
            slots=tuple(row[1] for row in rows),
            other=np.array(others, dtype=np.bool_),
            values=np.array([row[3] for row in rows], dtype=np.float64),
            problems=_unmeasured(pair, others),
            before=self._before(visits),
            covariate=self._covariate(visits),
        )

    @property
    def unfinished(self) -> int:
        """Visits in a last block that lacks some."""
        if self.design != "blocks":
            return 0
        return len(self.visits) % (len(self.systems) * self.rounds)

    def tests(
        self,
        series: Series,
        pair: Pair,  # noqa: ARG002 - all pairs have the same budget
        *,
        exploratory: bool = False,  # noqa: ARG002 - one response, which decides
    ) -> Inference:
        """The series under test; an order that was not drawn has one look, after the last visit."""
        signs = np.where(series.other, np.int8(1), np.int8(-1))
        stream = Stream(
            values=series.values,
            other=series.other,
            pool=Pool(signs, self._orders(series, signs)),
            horizon=self.budget * 2 // len(self.systems),
            once=self.design == "none",
            covariate=series.covariate,
            design=self._law,
        )
        return Inference.of(stream)

    def until(self, visit: int) -> MeasuredVisits:
        """The same as they stood after one visit."""
        return replace(self, visits=self.visits[:visit])

    def warnings(self, _visit: int, _at: Conditions | None = None, /) -> frozenset[WarningKind]:
        """No kinds of warning."""
        return frozenset()

    def figure(self, visit: int, kind: WarningKind, name: str) -> float | None:  # noqa: ARG002
        return 0.0

    def span_s(self, first: int, last: int) -> float | None:  # noqa: ARG002 - rows have no time
        """Not known."""
        return None

    def cpu_ratio(self, visit: int) -> float | None:  # noqa: ARG002 - rows have none
        """Not known."""
        return None

    def invalid(self, pair: Pair) -> dict[str, tuple[int, int]]:
        """None of all that were measured."""
        return {
            name: (0, sum(visit.system == name for visit in self.visits))
            for name in (pair.baseline, pair.other)
        }

    def _before(self, numbers: Sequence[int]) -> tuple[str | None, ...]:
        """Among several systems, that of the visit before each, which may be of no pair with it.

        Of no visit where it is not known which visit followed which.
        """
        if not self.ordered:
            return (None,) * len(numbers)
        if len(self.systems) == 2:
            return ()
        return tuple(None if n == 1 else self.visits[n - 2].system for n in numbers)

    def _covariate(self, numbers: Sequence[int]) -> Floats | None:
        """That of each visit; ``None`` where all are alike, as without one."""
        found = np.array([self.visits[number - 1].covariate for number in numbers])
        return found if len(found) and np.ptp(found) > 0 else None

    @property
    def _law(self) -> Law | None:
        """How the orders of a pair were drawn."""
        return "double_blocks" if self.rounds == 2 else _LAWS.get(self.design)

    def _orders(self, series: Series, signs: Signs) -> Signs:
        if self._law is None:
            return shuffles(signs, self.paths, self.seed, self.machine)
        drawn = draw(self.seed, self._law, self.slots, self.paths, self.machine)
        return drawn[list(series.slots)]


def _mean(visit: Visit, loads: Sequence[Level | None]) -> float:
    return math.fsum(visit.logs[each] for each in loads) / len(loads)


def _unmeasured(pair: Pair, others: Sequence[bool]) -> tuple[NotJudged, ...]:
    """Which of the two has no visit there."""
    present = {pair.other if other else pair.baseline for other in others}
    members = (pair.baseline, pair.other)
    return tuple(NoVisits(system=name) for name in members if name not in present)
