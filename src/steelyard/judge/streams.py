"""Records to one number per visit: what the engine judges, and why some cannot be judged.

A visit is the unit of inference. Its number under one condition is the natural logarithm of the
response of the attempt that ended well; over all conditions it is the mean of these, for visits
that have all of them. Signs are such that larger is better.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.judge.exact import Pool, pool_of
from steelyard.judge.interval import Order, Stream
from steelyard.judge.paths import PATHS, Design, draw
from steelyard.judge.scores import Floats
from steelyard.plan.model import Plan
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.study.model import Level, ResponseSpec

Conditions = dict[str, Level]
Key = tuple[tuple[str, Level], ...]


@dataclass(frozen=True)
class Series:
    """One comparison, one number per valid visit, in the order of the visits.

    ``slots`` are places in the coin of the pair, from 0, with a gap where a visit failed.
    ``problems`` say why no ratio is defined; then nothing may be judged.
    """

    visits: tuple[int, ...]
    slots: tuple[int, ...]
    other: npt.NDArray[np.bool_]
    values: Floats
    problems: tuple[str, ...]

    @property
    def n_other(self) -> int:
        return int(self.other.sum())

    @property
    def n_baseline(self) -> int:
        return len(self.visits) - self.n_other


@dataclass(frozen=True)
class Pair:
    """Two compared systems, and which visits of the plan are theirs."""

    baseline: str
    other: str


class Readings:
    """The records by visit and condition, read once for all comparisons."""

    def __init__(self, plan: Plan, records: Sequence[TrialRecord]) -> None:
        self.plan = plan
        attempts: dict[tuple[int, Key], list[TrialRecord]] = defaultdict(list)
        for record in sorted(records, key=lambda r: (r.visit, r.trial, r.attempt)):
            attempts[record.visit, key_of(record.cell.conditions)].append(record)
        self._attempts = attempts
        self._block = {visit.visit: visit.block for visit in plan.visits}
        self._visited = {(self._block.get(r.visit), r.cell.system) for r in records}

    def good(self, visit: int, conditions: Conditions) -> list[TrialRecord]:
        """The attempt that ended well, if any."""
        found = self._attempts.get((visit, key_of(conditions)), ())
        return [record for record in found if record.outcome is Outcome.OK][:1]

    def valued(self, visit: int, conditions: Conditions, response: str) -> list[TrialRecord]:
        """All attempts that brought a number, however they ended."""
        found = self._attempts.get((visit, key_of(conditions)), ())
        return [record for record in found if (record.value(response) or 0.0) > 0]

    def met(self, visit: int, pair: Pair) -> bool:
        """Whether both systems of a pair were visited in the block of a visit.

        Visits of a block count for a pair from then on: a system that has left leaves none of
        the other's later visits behind that no coin of the pair has ordered.
        """
        block = self._block.get(visit)
        if self.plan.design == "big_stick":
            return True
        return all((block, name) in self._visited for name in (pair.baseline, pair.other))

    def series(
        self,
        pair: Pair,
        response: ResponseSpec,
        conditions: Conditions | None,
        *,
        keep_failed: bool = False,
    ) -> Series:
        """The numbers of a pair under some conditions, or over all with ``None``.

        ``keep_failed`` takes the mean over all attempts of a slot that brought a number, also
        those that did not end well: the check whether leaving them out made the verdict.
        """
        wanted = self.plan.conditions if conditions is None else (conditions,)
        sign = -1.0 if response.direction == "lower" else 1.0
        rows: list[tuple[int, int, bool, float]] = []
        problems: Counter[tuple[str, str]] = Counter()
        for visit, slot, system in slots_of(self.plan, pair):
            if not self.met(visit, pair):
                continue
            logs = [
                self._log(visit, each, response.name, problems, system, keep_failed=keep_failed)
                for each in wanted
            ]
            known = [log for log in logs if log is not None]
            if len(known) == len(logs):
                mean = sign * math.fsum(known) / len(known)
                rows.append((visit, slot, system == pair.other, mean))
        return Series(
            visits=tuple(row[0] for row in rows),
            slots=tuple(row[1] for row in rows),
            other=np.array([row[2] for row in rows], dtype=np.bool_),
            values=np.array([row[3] for row in rows], dtype=np.float64),
            problems=tuple(_problem(*key, count) for key, count in problems.items()),
        )

    def _log(
        self,
        visit: int,
        conditions: Conditions,
        response: str,
        problems: Counter[tuple[str, str]],
        system: str,
        *,
        keep_failed: bool,
    ) -> float | None:
        if keep_failed:
            logs = [_ln(r.value(response)) for r in self.valued(visit, conditions, response)]
            return math.fsum(logs) / len(logs) if logs else None
        for record in self.good(visit, conditions):
            value = record.value(response)
            if value is not None and math.isfinite(value) and value > 0:
                return math.log(value)
            problems[system, _why_no_ratio(record, response, value)] += 1
        return None


def key_of(conditions: Mapping[str, Level]) -> Key:
    """Conditions as a key, whatever their order."""
    return tuple(sorted(conditions.items()))


def slots_of(plan: Plan, pair: Pair) -> list[tuple[int, int, str]]:
    """Visit, place in the coin of the pair, and system: for every visit of the pair drawn."""
    first = plan.visits[0].visit if plan.visits else 1
    members = (pair.baseline, pair.other)
    own = [(index, system) for index, system in enumerate(plan.coin) if system in members]
    return [(first + index, slot, system) for slot, (index, system) in enumerate(own)]


def horizon_of(plan: Plan, pair: Pair) -> int:
    """The budget of a pair in visits, as fixed before the first."""
    return sum(visit.system in (pair.baseline, pair.other) for visit in plan.visits)


def stream_of(series: Series, plan: Plan, pair: Pair, paths: int = PATHS) -> Stream:
    """The series with the sequences it is judged by."""
    coin = _Coin(plan.seed, plan.design, len(slots_of(plan, pair)), paths)
    others = tuple(bool(other) for other in series.other)
    return Stream(
        values=series.values,
        other=series.other,
        pool=_pool(coin, series.slots, others),
        horizon=horizon_of(plan, pair),
        order=Order(coin, series.slots, others),
    )


class _Coin(NamedTuple):
    seed: int
    design: Design
    length: int
    paths: int


@lru_cache(maxsize=4)
def _pool(coin: _Coin, slots: tuple[int, ...], others: tuple[bool, ...]) -> Pool:
    """Kept for the conditions and responses that share it."""
    simulated = draw(coin.seed, coin.design, coin.length, PATHS)[list(slots), : coin.paths]
    return pool_of(np.where(others, np.int8(1), np.int8(-1)), simulated)


def _ln(value: float | None) -> float:
    return math.log(value) if value else math.nan


def _why_no_ratio(record: TrialRecord, response: str, value: float | None) -> str:
    if value is not None:
        return "is zero" if value == 0 else "is negative or not finite"
    measured = record.responses.get(response)
    reason = measured.missing if measured is not None else None
    return f"was not measured ({reason})" if reason else "was not measured"


def _problem(system: str, why: str, count: int) -> str:
    noun = "trial" if count == 1 else "trials"
    return f"no ratio is defined: the value {why} in {count} {noun} of {system}"
