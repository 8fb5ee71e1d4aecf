"""Records to one number per visit: what comparisons are judged by.

A visit is the unit of inference. Its number under one condition is the natural logarithm of the
response of the attempt that succeeded; over all conditions it is the mean of these, for visits
that have all of them. Signs are such that larger is better.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np

from steelyard.inference.exact import Pool
from steelyard.inference.randomisation import Design, draw
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import Memory
from steelyard.inference.stream import Order, Stream
from steelyard.judge.kinds.verdict_notes import NotJudged, Withheld
from steelyard.judge.visits.calibrations import without_unfounded_warnings
from steelyard.judge.visits.pairs import Conditions, Pair, Scale, horizon_of, met_by_both
from steelyard.judge.visits.reference_kernel import covariate_of, measured_before, parts_of
from steelyard.judge.visits.scales import SCALES, Unusable, odds, unusable
from steelyard.judge.visits.series import ALL_PATHS, Paths, Series
from steelyard.plan.model import Plan
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.records.warnings import TrialWarning, WarningKind
from steelyard.study.model import FIND, Level, ResponseSpec

_OF_A_PART = re.compile(r"(^|[._])(p\d|max|worst|jitter|dip|errors)")
"""Names of responses that a short disturbance changes by more than it takes of a window."""

OF_TWO = ("big_stick", "pairs")
"""Designs of two systems, which both stay to the end."""

Key = tuple[tuple[str, Level], ...]
Row = tuple[int, int, bool, float]


class Readings:
    """The records by visit and condition, read once for all comparisons.

    ``memory`` keeps tests for who judges again after every visit; with ``reference_kernel`` what
    was measured of the host before each visit is its covariate. ``control`` finds a reason to
    distrust any such readings.
    """

    def __init__(
        self,
        plan: Plan,
        records: Sequence[TrialRecord],
        *,
        memory: Memory | None = None,
        paths: Paths = ALL_PATHS,
        reference_kernel: bool = False,
        control: Control | None = None,
        accepted: frozenset[str] = frozenset(),
    ) -> None:
        self.plan = plan
        self._memory = memory or Memory()
        self.paths = paths
        self._reference_kernel = reference_kernel
        self._kernel_parts = measured_before(records) if reference_kernel else {}
        self._control = control
        self._accepted = accepted
        self._earlier: dict[int, Readings] = {}
        attempts: dict[tuple[int, Key], list[TrialRecord]] = defaultdict(list)
        for record in sorted(records, key=lambda r: (r.visit, r.trial, r.attempt)):
            attempts[record.visit, key_of(record.cell.conditions)].append(record)
        self._attempts = attempts
        self._block = {visit.visit: visit.block for visit in plan.visits}
        self._records = records
        self._before = {} if plan.design in OF_TWO else _visited_before(plan, records)
        operations = [m.of for r in records if (m := r.responses.get("errors")) and m.of]
        self._half_failure = 0.5 / median(operations) if operations else 0.0
        self._warnings = _warnings_of(records, accepted)
        self._visited = {(self._block.get(r.visit), r.cell.system) for r in records}

    @cached_property
    def distrusted(self) -> Withheld | None:
        """What the A/A control says of these readings, judged without it."""
        return None if self._control is None else self._control(self._with(self._records, None))

    def until(self, visit: int) -> Readings:
        """The same as they stood after one visit."""
        if visit not in self._earlier:
            records = [record for record in self._records if record.visit <= visit]
            every = len(records) == len(self._records)
            self._earlier[visit] = self if every else self._with(records, self._control)
        return self._earlier[visit]

    def _with(self, records: Sequence[TrialRecord], control: Control | None) -> Readings:
        return Readings(
            self.plan,
            records,
            memory=self._memory,
            paths=self.paths,
            reference_kernel=self._reference_kernel,
            control=control,
            accepted=self._accepted,
        )

    @property
    def records(self) -> Sequence[TrialRecord]:
        """Every attempt that is read."""
        return self._records

    def good(self, visit: int, conditions: Conditions) -> list[TrialRecord]:
        """The attempt that succeeded, if any."""
        found = self._attempts.get((visit, key_of(conditions)), ())
        return [record for record in found if record.outcome is Outcome.OK][:1]

    def warnings(self, visit: int, at: Conditions | None = None, /) -> frozenset[WarningKind]:
        """The kinds of warnings of the good trials of a visit under the conditions that fit, or
        under any with ``None``, but for what the study accepts.
        """
        picked, found = (at or {}).items(), self._warnings.get(visit, ())
        return frozenset(each.kind for place, each in found if picked <= place.items())

    def figure(self, visit: int, kind: WarningKind, name: str) -> float | None:
        """The largest such figure of a kind of warning in a visit; 0 without any warning of it,
        ``None`` where one lacks the figure.
        """
        of_kind = [each for _, each in self._warnings.get(visit, ()) if each.kind == kind]
        figures = [each.figures.get(name) for each in of_kind]
        known = [float(figure) for figure in figures if isinstance(figure, int | float)]
        return max(known, default=0.0) if len(known) == len(figures) else None

    def span_s(self, first: int, last: int) -> float | None:
        """The time from the beginning of one visit to the end of another."""
        within = [record for record in self._records if first <= record.visit <= last]
        begun = min((record.started_unix_ns for record in within), default=None)
        ended = max((record.finished_unix_ns for record in within), default=None)
        return None if begun is None or ended is None else (ended - begun) / 1e9

    def cpu_ratio(self, visit: int) -> float | None:
        """The largest share of the processors that was used in a good trial of a visit.

        ``None`` where one is not known, or where something else was used up.
        """
        good = [r for r in self._records if r.visit == visit and r.outcome is Outcome.OK]
        known = [r.cpu_ratio for r in good if r.cpu_ratio is not None and r.bottleneck is None]
        return max(known) if known and len(known) == len(good) else None

    def valued(self, visit: int, conditions: Conditions, response: str) -> list[TrialRecord]:
        """All attempts that brought a number, however they ended."""
        found = self._attempts.get((visit, key_of(conditions)), ())
        return [r for r in found if SCALES["log"](r.responses.get(response)) is not None]

    def met(self, visit: int, pair: Pair) -> bool:
        """Whether both systems of a pair were visited in the block of a visit.

        Visits of other blocks do not count: after one system has left, the order of the other's
        visits is no random assignment of the pair.
        """
        block = self._block.get(visit)
        if self.plan.design in OF_TWO:
            return True
        return all((block, name) in self._visited for name in (pair.baseline, pair.other))

    def invalid(self, pair: Pair) -> dict[str, tuple[int, int]]:
        """Invalid attempts of both in the visits of the pair, and all that were measured there."""
        of: Counter[str] = Counter()
        invalid: Counter[str] = Counter()
        for record in self._records:
            measured = record.outcome in {Outcome.OK, Outcome.INVALID}
            if measured and record.visit in self._block and self.met(record.visit, pair):
                of[record.cell.system] += 1
                invalid[record.cell.system] += record.outcome is Outcome.INVALID
        return {name: (invalid[name], of[name]) for name in (pair.baseline, pair.other)}

    def exists(self, pair: Pair, conditions: Conditions) -> bool:
        """Whether both systems of a pair can meet these conditions."""
        return met_by_both(self.plan, pair, conditions)

    def series(
        self,
        pair: Pair,
        response: ResponseSpec,
        conditions: Conditions | None,
        *,
        keep_failed: bool = False,
        scale: Scale = "log",
    ) -> Series:
        """The numbers of a pair under the conditions that fit, or over all with ``None``.

        ``scale`` is what a number becomes: its natural logarithm, itself (``plain``), or the
        logarithm of the odds of a share (``odds``, with half a failure added to both sides).
        ``keep_failed`` takes the mean over all attempts of a slot that brought a number, also
        those that failed: the check whether leaving them out made the verdict.
        """
        picked = (conditions or {}).items()
        among = self.plan.searches if FIND in (conditions or {}) else self.plan.conditions
        wanted = [each for each in among if picked <= each.items() and self.exists(pair, each)]
        sign = -1.0 if response.direction == "lower" else 1.0
        rows: list[Row] = []
        problems: Counter[Unusable] = Counter()
        for visit, slot, system in slots_of(self.plan, pair):
            if not self.met(visit, pair):
                continue
            logs = [
                self._number(visit, each, response, problems, keep_failed=keep_failed, scale=scale)
                for each in wanted
            ]
            known = [log for log in logs if log is not None]
            if wanted and len(known) == len(logs):
                mean = sign * math.fsum(known) / len(known)
                rows.append((visit, slot, system == pair.other, mean))
        found = self.series_of(rows, tuple(each.note(trials) for each, trials in problems.items()))
        return replace(found, whole=scale == "log" and not _OF_A_PART.search(response.name))

    def series_of(self, rows: Sequence[Row], problems: tuple[NotJudged, ...] = ()) -> Series:
        """Rows of a pair with what is known of their visits besides."""
        visits = tuple(row[0] for row in rows)
        return Series(
            visits=visits,
            slots=tuple(row[1] for row in rows),
            other=np.array([row[2] for row in rows], dtype=np.bool_),
            values=np.array([row[3] for row in rows], dtype=np.float64),
            before=tuple(self._before.get(visit) for visit in visits) if self._before else (),
            covariate=covariate_of(visits, self._kernel_parts),
            parts=parts_of(visits, self._kernel_parts),
            problems=problems,
        )

    def tests(self, series: Series, pair: Pair, *, exploratory: bool = False) -> Inference:
        """The series under test, with the orders it is judged by."""
        plan = self.plan
        assigned = tuple(system == pair.other for _, _, system in slots_of(plan, pair))
        law = _Law(plan.seed, plan.design, len(assigned), self.paths.deciding)
        paths = self.paths.exploratory if exploratory else self.paths.deciding
        others = tuple(bool(other) for other in series.other)
        stream = Stream(
            values=series.values,
            other=series.other,
            pool=_pool(law, paths, assigned, series.slots),
            horizon=horizon_of(plan, pair),
            order=Order((law, paths), series.slots, others),
            covariate=series.covariate,
            design=plan.design,
        )
        return Inference.of(stream, self._memory)

    def _number(
        self,
        visit: int,
        conditions: Conditions,
        response: ResponseSpec,
        problems: Counter[Unusable],
        *,
        keep_failed: bool,
        scale: Scale,
    ) -> float | None:
        if keep_failed:
            kept = self.valued(visit, conditions, response.name)
            logs = [SCALES["log"](r.responses.get(response.name)) for r in kept]
            return math.fsum(log for log in logs if log is not None) / len(logs) if logs else None
        for record in self.good(visit, conditions):
            measured = record.responses.get(response.name)
            number = (
                odds(measured, self._half_failure) if scale == "odds" else SCALES[scale](measured)
            )
            if number is not None:
                return number
            problems[unusable(record, response.name)] += 1
        return None


Control = Callable[[Readings], Withheld | None]
"""Finds a reason to decide nothing from readings at all."""


def _warnings_of(
    records: Sequence[TrialRecord], accepted: frozenset[str]
) -> dict[int, list[tuple[Conditions, TrialWarning]]]:
    warnings: dict[int, list[tuple[Conditions, TrialWarning]]] = defaultdict(list)
    for record in without_unfounded_warnings(records):
        if record.outcome is Outcome.OK:
            own = (each for each in record.warnings if each.kind not in accepted)
            warnings[record.visit] += ((record.cell.conditions, each) for each in own)
    return warnings


def _visited_before(plan: Plan, records: Sequence[TrialRecord]) -> dict[int, str]:
    """For each visit that was begun, the system of the one begun before it."""
    system_of = {visit.visit: visit.system for visit in plan.visits}
    begun = sorted({record.visit for record in records} & system_of.keys())
    return {visit: system_of[earlier] for earlier, visit in pairwise(begun)}


def key_of(conditions: Mapping[str, Level]) -> Key:
    """Conditions as a key, whatever their order."""
    return tuple(sorted(conditions.items()))


def slots_of(plan: Plan, pair: Pair) -> list[tuple[int, int, str]]:
    """Visit, place in the assignment of the pair, and system, for every visit of the pair."""
    first = plan.visits[0].visit if plan.visits else 1
    members = (pair.baseline, pair.other)
    own = [(index, system) for index, system in enumerate(plan.assignment) if system in members]
    return [(first + index, slot, system) for slot, (index, system) in enumerate(own)]


class _Law(NamedTuple):
    """What the orders of a pair are drawn by."""

    seed: int
    design: Design
    length: int
    paths: int


def _pool(law: _Law, paths: int, assigned: tuple[bool, ...], slots: tuple[int, ...]) -> Pool:
    """The observed and the simulated orders of the visits at these places of the assignment.

    Those of a series without a gap are a view of what was drawn, which all series share.
    """
    if slots != tuple(range(len(slots))):
        return _with_gaps(law, paths, assigned, slots)
    return _whole(law, paths, assigned).first(len(slots))


@lru_cache(maxsize=2)
def _with_gaps(law: _Law, paths: int, assigned: tuple[bool, ...], slots: tuple[int, ...]) -> Pool:
    """Kept for the conditions and responses that have the same gaps."""
    places = list(slots)
    return Pool(*(signs[places] for signs in _whole(law, paths, assigned)))


def _whole(law: _Law, paths: int, assigned: tuple[bool, ...]) -> Pool:
    signs = np.where(assigned, np.int8(1), np.int8(-1))
    return Pool(signs, draw(law.seed, law.design, law.length, law.paths)[:, :paths])
