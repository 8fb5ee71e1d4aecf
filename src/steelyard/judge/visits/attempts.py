"""The attempts of a study by visit and condition, read once for all that is asked of them.

What was known after some of the visits is the beginning of what is known after all: nothing here
is computed again for the looks of a comparison.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from steelyard.inference.randomisation import Design
from steelyard.judge.visits.calibrations import exceeded, identity_of
from steelyard.judge.visits.pairs import Conditions, Pair, horizon_of
from steelyard.judge.visits.scales import Unusable
from steelyard.judge.visits.series import Series
from steelyard.plan.model import Cell, Plan
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.records.warnings import TrialWarning, WarningKind
from steelyard.study.model import Level

OF_TWO = ("big_stick", "pairs")
"""Designs of two systems, which both stay to the end."""

Key = tuple[tuple[str, Level], ...]


class Told(NamedTuple):
    """A warning of a good trial. ``disproved_at``: the visit that showed it to be unfounded."""

    conditions: Conditions
    warning: TrialWarning
    disproved_at: int | None


@dataclass(frozen=True)
class PairOrder:
    """The visits of a pair as they were drawn: visit, place among them, and system of each."""

    slots: tuple[tuple[int, int, str], ...]
    assigned: tuple[bool, ...]
    design: Design
    horizon: int


class Attempts:
    """The records of a study, sorted once."""

    def __init__(
        self, plan: Plan, records: Sequence[TrialRecord], accepted: frozenset[str] = frozenset()
    ) -> None:
        self.plan, self.records = plan, records
        self._accepted = accepted
        self._orders: dict[Pair, PairOrder] = {}
        self._counted: dict[Pair, dict[str, tuple[list[int], list[int]]]] = {}
        self.series: dict[tuple[object, ...], Measured] = {}
        self.at: dict[tuple[int, Key], list[TrialRecord]] = defaultdict(list)
        self.of_visit: dict[int, list[TrialRecord]] = defaultdict(list)
        for record in sorted(records, key=lambda r: (r.visit, r.trial, r.attempt)):
            self.at[record.visit, key_of(record.cell.conditions)].append(record)
            self.of_visit[record.visit].append(record)
        self.last_visit = max(self.of_visit, default=0)

    def order_of(self, pair: Pair) -> PairOrder:
        """The order of the visits of a pair, with those of an extension."""
        if pair not in self._orders:
            slots = tuple(slots_of(self.plan, pair))
            assigned = tuple(system == pair.other for _, _, system in slots)
            self._orders[pair] = PairOrder(
                slots, assigned, self.plan.design, horizon_of(self.plan, pair)
            )
        return self._orders[pair]

    @cached_property
    def block(self) -> dict[int, int]:
        """The block of each visit of the comparison."""
        return {visit.visit: visit.block for visit in self.plan.visits}

    @cached_property
    def _first_visit(self) -> dict[tuple[int | None, str], int]:
        """The first visit of each system in each block."""
        first: dict[tuple[int | None, str], int] = {}
        for visit, records in self.of_visit.items():
            for record in records:
                first.setdefault((self.block.get(visit), record.cell.system), visit)
        return first

    def counts_from(self, visit: int, pair: Pair) -> int | None:
        """From which visit on this one counts: once both systems were visited in its block.

        Visits of other blocks do not count: after one system has left, the order of the other's
        visits is no random assignment of the pair.
        """
        if self.plan.design in OF_TWO:
            return visit
        block = self.block.get(visit)
        first = [self._first_visit.get((block, name)) for name in (pair.baseline, pair.other)]
        known = [each for each in first if each is not None]
        return max(visit, *known) if len(known) == len(first) else None

    def invalid(self, pair: Pair, until: int) -> dict[str, tuple[int, int]]:
        """Invalid attempts of both in the visits of the pair, and all that were measured there."""
        if pair not in self._counted:
            self._counted[pair] = self._counted_of(pair)
        counted = self._counted[pair]
        return {
            name: (bisect_right(invalid, until), bisect_right(measured, until))
            for name, (invalid, measured) in counted.items()
        }

    def _counted_of(self, pair: Pair) -> dict[str, tuple[list[int], list[int]]]:
        """From which visits on attempts count as invalid, and as measured."""
        counted: dict[str, tuple[list[int], list[int]]]
        counted = {name: ([], []) for name in (pair.baseline, pair.other)}
        for visit in self.of_visit.keys() & self.block.keys():
            since = self.counts_from(visit, pair)
            for record in self.of_visit[visit]:
                name, outcome = record.cell.system, record.outcome
                if since is None or name not in counted:
                    continue
                if outcome in {Outcome.OK, Outcome.INVALID}:
                    counted[name][1].append(since)
                if outcome is Outcome.INVALID:
                    counted[name][0].append(since)
        return {name: (sorted(some), sorted(every)) for name, (some, every) in counted.items()}

    @cached_property
    def times(self) -> dict[int, tuple[int, int]]:
        """When the first attempt of each visit began, and the last one ended."""
        return {
            visit: (
                min(record.started_unix_ns for record in records),
                max(record.finished_unix_ns for record in records),
            )
            for visit, records in self.of_visit.items()
        }

    @cached_property
    def warnings(self) -> dict[int, dict[WarningKind, list[Told]]]:
        """The warnings of good trials by visit and kind, but for those that the study accepts."""
        disproved: dict[object, int] = {}
        for record in exceeded(self.records):
            identity = identity_of(record.calibration)
            disproved[identity] = min(record.visit, disproved.get(identity, record.visit))
        told: dict[int, dict[WarningKind, list[Told]]] = defaultdict(lambda: defaultdict(list))
        for record in self.records:
            for each in record.warnings if record.outcome is Outcome.OK else ():
                if each.kind not in self._accepted:
                    of_capacity = each.kind is WarningKind.GENERATOR_NEAR_CAPACITY
                    at = disproved.get(identity_of(record.calibration)) if of_capacity else None
                    told[record.visit][each.kind].append(Told(record.cell.conditions, each, at))
        return told

    @cached_property
    def before(self) -> dict[int, str]:
        """For each visit that was begun, the system of the one begun before it; {} of two."""
        if self.plan.design in OF_TWO:
            return {}
        system_of = {visit.visit: visit.system for visit in self.plan.visits}
        begun = sorted(self.of_visit.keys() & system_of.keys())
        return {visit: system_of[earlier] for earlier, visit in pairwise(begun)}


@dataclass(frozen=True)
class Measured:
    """The series of a pair over all visits.

    ``since``: from which visit on each of its rows counts; ``lacks``: the same of trials without a
    number, by their reason. Both rise.
    """

    series: Series
    since: Sequence[int]
    lacks: Mapping[Unusable, Sequence[int]]

    def until(self, visit: int) -> Series:
        """What was known of it after one visit."""
        found = self.series.first(bisect_right(self.since, visit))
        if not self.lacks:
            return found
        trials = {why: bisect_right(since, visit) for why, since in self.lacks.items()}
        notes = tuple(why.note(count) for why, count in trials.items() if count)
        return replace(found, problems=notes)


def good_by_cell(records: Sequence[TrialRecord]) -> dict[tuple[str, Key], list[TrialRecord]]:
    """The good trials of each system under each condition, in their order."""
    found: dict[tuple[str, Key], list[TrialRecord]] = defaultdict(list)
    for record in records:
        if record.outcome is Outcome.OK:
            found[place_of(record.cell)].append(record)
    return found


def place_of(cell: Cell) -> tuple[str, Key]:
    """A cell as a key."""
    return cell.system, key_of(cell.conditions)


def key_of(conditions: Mapping[str, Level]) -> Key:
    """Conditions as a key, whatever their order."""
    return tuple(sorted(conditions.items()))


def slots_of(plan: Plan, pair: Pair) -> list[tuple[int, int, str]]:
    """Visit, place in the assignment of the pair, and system, for every visit of the pair."""
    first = plan.visits[0].visit if plan.visits else 1
    members = (pair.baseline, pair.other)
    own = [(index, system) for index, system in enumerate(plan.assignment) if system in members]
    return [(first + index, slot, system) for slot, (index, system) in enumerate(own)]
