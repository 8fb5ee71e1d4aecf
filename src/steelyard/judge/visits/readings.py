"""Records to one number per visit: what comparisons are judged by.

A visit is the unit of inference. Its number under one condition is the natural logarithm of the
response of the attempt that succeeded; over all conditions it is the mean of these, for visits
that have all of them. Signs are such that larger is better.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property, partial
from statistics import median

import numpy as np

from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import Memory
from steelyard.inference.stream import Order, Stream
from steelyard.judge.kinds.verdict_notes import Withheld
from steelyard.judge.visits.attempts import Attempts, Key, Measured, Told, key_of
from steelyard.judge.visits.orders import Law, pool_of
from steelyard.judge.visits.pairs import Conditions, Pair, Scale, met_by_both
from steelyard.judge.visits.reference_kernel import covariate_of, measured_before, parts_of
from steelyard.judge.visits.scales import SCALES, Unusable, odds, unusable
from steelyard.judge.visits.series import ALL_PATHS, Paths, Series
from steelyard.plan.model import Plan
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.records.warnings import WarningKind
from steelyard.study.model import FIND, ResponseSpec

_OF_A_PART = re.compile(r"(^|[._])(p\d|max|worst|jitter|dip|errors)")
"""Names of responses that a short disturbance changes by more than it takes of a window."""

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
        self._kernel_parts = measured_before(records) if reference_kernel else {}
        self._control = control
        self._earlier: dict[int, Readings] = {}
        self._kinds: dict[int, frozenset[WarningKind]] = {}
        self._attempts = Attempts(plan, records, accepted)
        self._last = self._attempts.last_visit

    @cached_property
    def distrusted(self) -> Withheld | None:
        """What the A/A control says of these readings, judged without it."""
        return None if self._control is None else self._control(self._as_of(self._last, None))

    def until(self, visit: int) -> Readings:
        """The same as they stood after one visit."""
        if visit >= self._last:
            return self
        if visit not in self._earlier:
            self._earlier[visit] = self._as_of(visit, self._control)
        return self._earlier[visit]

    def _as_of(self, visit: int, control: Control | None) -> Readings:
        """The same attempts, those of later visits left out, in readings of the same kind."""
        earlier = copy(self)
        state = vars(earlier)
        for found in ("distrusted", "records", "_half_failure"):
            state.pop(found, None)
        state |= {"_last": visit, "_control": control, "_earlier": {}, "_kinds": {}}
        return earlier

    @cached_property
    def records(self) -> Sequence[TrialRecord]:
        """Every attempt that is read."""
        every = self._attempts.records
        if self._last >= self._attempts.last_visit:
            return every
        return [record for record in every if record.visit <= self._last]

    @cached_property
    def _half_failure(self) -> float:
        operations = [m.of for r in self.records if (m := r.responses.get("errors")) and m.of]
        return 0.5 / median(operations) if operations else 0.0

    def good(self, visit: int, conditions: Conditions) -> list[TrialRecord]:
        """The attempt that succeeded, if any."""
        return self._good(visit, key_of(conditions))

    def _good(self, visit: int, key: Key) -> list[TrialRecord]:
        found = self._attempts.at.get((visit, key), ())
        return [record for record in found if record.outcome is Outcome.OK][:1]

    def warnings(self, visit: int, at: Conditions | None = None, /) -> frozenset[WarningKind]:
        """The kinds of warnings of the good trials of a visit under the conditions that fit, or
        under any with ``None``, but for what the study accepts.
        """
        if at:
            return self._kinds_of(visit, at)
        if visit not in self._kinds:
            self._kinds[visit] = self._kinds_of(visit, {})
        return self._kinds[visit]

    def _kinds_of(self, visit: int, at: Conditions) -> frozenset[WarningKind]:
        return frozenset(
            kind
            for kind in self._attempts.warnings.get(visit, {})
            if any(at.items() <= each.conditions.items() for each in self._told(visit, kind))
        )

    def figure(self, visit: int, kind: WarningKind, name: str) -> float | None:
        """The largest such figure of a kind of warning in a visit; 0 without any warning of it,
        ``None`` where one lacks the figure.
        """
        told = [each.warning.figures.get(name) for each in self._told(visit, kind)]
        known = [float(figure) for figure in told if isinstance(figure, int | float)]
        return max(known, default=0.0) if len(known) == len(told) else None

    def _told(self, visit: int, kind: WarningKind) -> Iterator[Told]:
        """The warnings of a visit that nothing so far has disproved."""
        for each in self._attempts.warnings.get(visit, {}).get(kind, ()):
            if each.disproved_at is None or each.disproved_at > self._last:
                yield each

    def span_s(self, first: int, last: int) -> float | None:
        """The time from the beginning of one visit to the end of another."""
        times = self._attempts.times
        within = [times[v] for v in range(first, min(last, self._last) + 1) if v in times]
        if not within:
            return None
        return (max(ended for _, ended in within) - min(begun for begun, _ in within)) / 1e9

    def cpu_ratio(self, visit: int) -> float | None:
        """The largest share of the processors that was used in a good trial of a visit.

        ``None`` where one is not known, or where something else was used up.
        """
        good = [r for r in self._attempts.of_visit.get(visit, ()) if r.outcome is Outcome.OK]
        known = [r.cpu_ratio for r in good if r.cpu_ratio is not None and r.bottleneck is None]
        return max(known) if known and len(known) == len(good) else None

    def met(self, visit: int, pair: Pair) -> bool:
        """Whether both systems of a pair were visited in the block of a visit."""
        since = self._attempts.counts_from(visit, pair)
        return since is not None and since <= max(visit, self._last)

    def counted(self, pair: Pair) -> Iterator[tuple[int, int, str]]:
        """Visit, slot and system of every visit of a pair that counts so far."""
        for visit, slot, system in self._attempts.order_of(pair).slots:
            since = self._attempts.counts_from(visit, pair)
            if since is not None and since <= self._last:
                yield visit, slot, system

    def invalid(self, pair: Pair) -> dict[str, tuple[int, int]]:
        """Invalid attempts of both in the visits of the pair, and all that were measured there."""
        return self._attempts.invalid(pair, self._last)

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
        half = self._half_failure if scale == "odds" else 0.0
        place = None if conditions is None else key_of(conditions)
        asked = (pair, response.name, response.direction, place, keep_failed, scale, half)
        known = self._attempts.series
        if asked not in known:
            numbers = partial(
                self._number, response=response.name, keep_failed=keep_failed, scale=scale
            )
            found = self._measured(pair, numbers, self._wanted(pair, conditions), response)
            of_whole = scale == "log" and not _OF_A_PART.search(response.name)
            sign = -1.0 if response.direction == "lower" else 1.0
            of_none = sign * math.log(half / (1 + half)) if half else None
            series = replace(found.series, whole=of_whole, of_none=of_none)
            known[asked] = replace(found, series=series)
        return known[asked].until(self._last)

    def _wanted(self, pair: Pair, conditions: Conditions | None) -> list[Key]:
        picked = (conditions or {}).items()
        among = self.plan.searches if FIND in (conditions or {}) else self.plan.conditions
        fit = [each for each in among if picked <= each.items() and self.exists(pair, each)]
        return [key_of(each) for each in fit]

    def _measured(
        self,
        pair: Pair,
        numbers: Callable[[int, Key], float | Unusable | None],
        wanted: Sequence[Key],
        response: ResponseSpec,
    ) -> Measured:
        """The rows of all visits that have a number under all wanted conditions."""
        sign = -1.0 if response.direction == "lower" else 1.0
        rows: list[Row] = []
        row_since: list[int] = []
        lacks: dict[Unusable, list[int]] = {}
        for visit, slot, system in self._attempts.order_of(pair).slots:
            since = self._attempts.counts_from(visit, pair)
            if since is None:
                continue
            found = [numbers(visit, each) for each in wanted]
            known = [each for each in found if isinstance(each, float)]
            for each in found:
                if isinstance(each, Unusable):
                    lacks.setdefault(each, []).append(since)
            if wanted and len(known) == len(found):
                mean = sign * math.fsum(known) / len(known)
                rows.append((visit, slot, system == pair.other, mean))
                row_since.append(since)
        return Measured(self.series_of(rows), row_since, lacks)

    def series_of(self, rows: Sequence[Row]) -> Series:
        """Rows of a pair with what is known of their visits besides."""
        visits, before = tuple(row[0] for row in rows), self._attempts.before
        return Series(
            visits=visits,
            slots=tuple(row[1] for row in rows),
            other=np.array([row[2] for row in rows], dtype=np.bool_),
            values=np.array([row[3] for row in rows], dtype=np.float64),
            before=tuple(before.get(visit) for visit in visits) if before else (),
            covariate=covariate_of(visits, self._kernel_parts),
            parts=parts_of(visits, self._kernel_parts),
            problems=(),
        )

    def tests(self, series: Series, pair: Pair, *, exploratory: bool = False) -> Inference:
        """The series under test, with the orders it is judged by."""
        order = self._attempts.order_of(pair)
        law = Law(self.plan.seed, order.design, len(order.assigned), self.paths.deciding)
        paths = self.paths.exploratory if exploratory else self.paths.deciding
        stream = Stream(
            values=series.values,
            other=series.other,
            pool=pool_of(law, paths, order.assigned, series.slots),
            horizon=order.horizon,
            order=Order((law, paths), series.slots, tuple(series.other.tolist())),
            covariate=series.covariate,
            design=order.design,
        )
        return Inference.of(stream, self._memory)

    def _number(
        self, visit: int, key: Key, *, response: str, keep_failed: bool, scale: Scale
    ) -> float | Unusable | None:
        if keep_failed:
            found = self._attempts.at.get((visit, key), ())
            logs = [SCALES["log"](record.responses.get(response)) for record in found]
            kept = [log for log in logs if log is not None]
            return math.fsum(kept) / len(kept) if kept else None
        for record in self._good(visit, key):
            measured = record.responses.get(response)
            number = (
                odds(measured, self._half_failure) if scale == "odds" else SCALES[scale](measured)
            )
            return unusable(record, response) if number is None else number
        return None


Control = Callable[[Readings], Withheld | None]
"""Finds a reason to decide nothing from readings at all."""
