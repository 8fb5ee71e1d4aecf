"""Trials that somebody measured elsewhere: rows to visits, and every reason to refuse them.

The messages count rows from 1, in the order in which they were measured.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from steelyard.errors import AnalysisError
from steelyard.inference.noise.robust import Floats
from steelyard.plan.order import TOLERANCE
from steelyard.study.model import Level

Design = Literal["bigstick", "pairs", "blocks", "none"]

DESIGNS: tuple[Design, ...] = ("bigstick", "pairs", "blocks", "none")
LEAST_VISITS = 8
MOST_VISITS = 2_000
"""Of two systems: beyond, a verdict takes minutes and gigabytes, and is no surer for it."""
LARGEST_RATIO_LOG = 8.0
"""The largest ratio that is tested (``inference/confidence.py``), as a natural logarithm."""
REFUSED_BITS = 10
_TOLD_BITS = 5
"""An order that repeats itself is refused, or told, from this many bits of chance on."""
_REPEATS_AFTER = (1, 2)


@dataclass(frozen=True)
class Visit:
    """Rows that share one random assignment: the system, and a natural logarithm at each load.

    ``row`` is the first of its rows, from 1. The only load is ``None`` when none was given.
    """

    row: int
    system: str
    logs: dict[Level | None, float]
    covariate: float = 0.0


@dataclass(frozen=True)
class TrialRows:
    """What was measured, as the caller has it: one entry per row, in order of measurement.

    ``covariate`` is raw as ``response`` is: logarithms are taken of both.
    """

    system: Sequence[str]
    response: Sequence[float]
    load: Sequence[Level] | None = None
    visit: Sequence[int] | None = None
    block: Sequence[int] | None = None
    covariate: Sequence[float] | None = None


class Repetition(NamedTuple):
    """An order that repeats itself after ``period`` visits, once in ``once_in`` random orders."""

    period: int
    once_in: int


class TrialsError(AnalysisError, ValueError):
    """Trials cannot be judged: ``row`` (from 1) and ``column`` say where, as far as it is known.

    ``argument`` names the argument that is wrong where it is none of the trials. With a
    ``machine``, rows are those of that machine.
    """

    def __init__(
        self,
        message: str,
        hint: str,
        *,
        row: int | None = None,
        column: str = "system",
        argument: str | None = None,
        machine: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint, slug="trials-cannot-be-judged")
        self.machine = machine
        self.row = row
        self.column = column
        self.argument = argument


def visits_of(rows: TrialRows, baseline: str, design: Design) -> list[Visit]:
    """The visits in their order.

    Raises:
        AnalysisError: the rows cannot be judged, or this design cannot have brought their order.
    """
    _lengths(rows)
    _systems(rows, baseline, design)
    _numbers(rows)
    _comparable(rows, baseline)
    visits = [_visit(rows, members) for members in _members(rows)]
    _enough(visits, baseline)
    _covariate_is_blind(visits)
    if design != "none":
        _possible(rows, visits, design)
        _by_chance(visits, design)
    return visits


def _lengths(rows: TrialRows) -> None:
    count = len(rows.system)
    columns = {
        "response": rows.response,
        "load": rows.load,
        "visit": rows.visit,
        "block": rows.block,
        "covariate": rows.covariate,
    }
    for name, column in columns.items():
        if column is not None and len(column) != count:
            raise TrialsError(
                f"`system` has {count} entries and `{name}` has {len(column)}",
                "give one entry for each trial in each of them",
            )


def _systems(rows: TrialRows, baseline: str, design: Design) -> None:
    names = list(dict.fromkeys(rows.system))
    if baseline not in names:
        raise TrialsError(
            f"no trial is of the baseline `{baseline}`",
            f"the systems are: {', '.join(names) or 'none'}",
            argument="baseline",
        )
    if len(names) == 1:
        raise TrialsError(
            f"all trials are of one system, `{baseline}`", "a comparison needs trials of two"
        )
    if len(names) > 2 and design in ("bigstick", "pairs"):
        raise TrialsError(
            f"{len(names)} systems ({', '.join(names)}) need a design for several",
            "the design of several systems is `blocks`; or keep the trials of two",
        )


def _numbers(rows: TrialRows) -> None:
    if (bad := _not_positive(rows.response)) is not None:
        raise TrialsError(
            f"trial {bad.row}: the response {bad.problem}, so it has no ratio to another",
            "judge a response that is positive in every trial; repeat a trial that failed in its "
            "place, on the same system",
            row=bad.row,
            column="response",
        )
    if (bad := _not_positive(rows.covariate or ())) is not None:
        raise TrialsError(
            f"trial {bad.row}: the covariate {bad.problem}, and its logarithm is taken",
            "give what was measured of the machine before each trial, as it was measured, or leave "
            "it out",
            row=bad.row,
            column="covariate",
        )
    if len(set(rows.response)) == 1:
        raise TrialsError(
            "the response is the same in all trials: without variation nothing can be judged",
            "was it read from a counter that stands still, or rounded?",
            column="response",
        )


class _NotPositive(NamedTuple):
    """The first row whose value has no logarithm, from 1, and why."""

    row: int
    problem: str


def _not_positive(values: Sequence[float]) -> _NotPositive | None:
    for row, value in enumerate(values, start=1):
        if math.isnan(value):
            return _NotPositive(row, "is not a number")
        if math.isinf(value):
            return _NotPositive(row, "is not finite")
        if value <= 0:
            return _NotPositive(row, "is zero" if value == 0 else "is negative")
    return None


def _comparable(rows: TrialRows, baseline: str) -> None:
    """Refuse a response beyond the largest ratio that is tested, from the baseline's median."""
    loads: Sequence[Level | None] = rows.load or [None] * len(rows.system)
    measured = list(zip(rows.system, loads, rows.response, strict=True))
    typical = {
        load: statistics.median(found)
        for load in dict.fromkeys(loads)
        if (found := [math.log(y) for name, at, y in measured if (name, at) == (baseline, load)])
    }
    for row, (_, load, value) in enumerate(measured, start=1):
        if abs(math.log(value) - typical.get(load, math.log(value))) > LARGEST_RATIO_LOG:
            raise TrialsError(
                f"trial {row}: the response {value:g} is too far from those of `{baseline}`, whose "
                f"median is {math.exp(typical[load]):g}",
                f"ratios up to {math.exp(LARGEST_RATIO_LOG):,.0f} are judged: was a unit or a "
                "digit lost?",
                row=row,
                column="response",
            )


def _members(rows: TrialRows) -> list[list[int]]:
    """Indices of the rows of each visit: by their number, by complete sets of loads, or alone."""
    indices = range(len(rows.system))
    if rows.visit is not None:
        numbers = rows.visit
        groups = [list(group) for _, group in itertools.groupby(indices, key=lambda i: numbers[i])]
        _refuse_apart(numbers, groups)
        return groups
    size = 1 if rows.load is None else len(set(rows.load))
    return [list(indices[start : start + size]) for start in range(0, len(indices), size)]


def _refuse_apart(numbers: Sequence[int], groups: list[list[int]]) -> None:
    seen: set[int] = set()
    for group in groups:
        number = numbers[group[0]]
        if number in seen:
            raise TrialsError(
                f"trial {group[0] + 1} is of visit {number}, which had ended before",
                "the trials of one visit follow one another; give every visit its own number",
                row=group[0] + 1,
                column="order",
            )
        seen.add(number)


def _visit(rows: TrialRows, members: list[int]) -> Visit:
    first, last = members[0] + 1, members[-1] + 1
    systems = sorted({rows.system[i] for i in members})
    place = f"trials {first} to {last}"
    if rows.load is None and len(members) > 1:
        raise TrialsError(
            f"{place} have one number: without loads each trial is a visit of its own",
            "number the trials 1, 2, 3 and so on, in the order in which they were measured",
            row=last,
        )
    if len(systems) > 1:
        raise TrialsError(
            f"{place} are one visit but of several systems: {', '.join(systems)}",
            "measure a system at every load before the next; number the visits if some lack one",
            row=last,
        )
    loads = [None if rows.load is None else rows.load[i] for i in members]
    if len(set(loads)) < len(loads):
        raise TrialsError(
            f"{place} are one visit but hold a load twice",
            "measure a system once at every load in each visit",
            row=last,
            column="load",
        )
    if rows.load is not None and rows.visit is None and len(loads) < len(set(rows.load)):
        raise TrialsError(
            f"the last visit, from trial {first}, lacks a load",
            "number the visits when some of them lack a load",
            row=last,
            column="load",
        )
    logs = [math.log(rows.response[i]) for i in members]
    beside = (
        0.0 if rows.covariate is None else math.fsum(math.log(rows.covariate[i]) for i in members)
    )
    return Visit(first, systems[0], dict(zip(loads, logs, strict=True)), beside / len(members))


def _covariate_is_blind(visits: list[Visit]) -> None:
    """Refuse a covariate with one value for each system: taken out, it takes the effect along."""
    values = {(visit.system, visit.covariate) for visit in visits}
    systems = {visit.system for visit in visits}
    if len(values) == len(systems) and len({value for _, value in values}) > 1:
        raise TrialsError(
            "the covariate has one value for each system, so that it tells nothing else",
            "give what was measured of the machine before each trial, whatever was measured in it",
            column="covariate",
        )


def _enough(visits: list[Visit], baseline: str) -> None:
    names = dict.fromkeys(visit.system for visit in visits)
    for name in (name for name in names if name != baseline):
        count = sum(visit.system in (name, baseline) for visit in visits)
        if count < LEAST_VISITS:
            raise TrialsError(
                f"{count} visits of `{baseline}` and `{name}` together are too few",
                f"no order of fewer than {LEAST_VISITS} visits is rare enough for a verdict at 5 %",
            )
        if count > MOST_VISITS:
            raise TrialsError(
                f"{count:,} visits of `{baseline}` and `{name}` together are too many",
                f"at most {MOST_VISITS:,} are judged; fewer and longer trials tell as much. If a "
                "number was planned before the first trial, judge the trials up to it",
            )


def _possible(rows: TrialRows, visits: list[Visit], design: Design) -> None:
    """Refuse an order that the design cannot have produced."""
    if design == "bigstick":
        _balanced(visits)
        return
    rounds = rounds_of(rows, visits, design)
    size = len({visit.system for visit in visits}) * rounds
    for start in range(0, len(visits), size):
        members = visits[start : start + size]
        whole = max(Counter(visit.system for visit in members).values()) <= rounds
        together = rows.block is None or len({rows.block[v.row - 1] for v in members}) == 1
        if not (whole and together):
            first, last = members[0].row, members[-1].row
            noun = "pair" if design == "pairs" else "block"
            often = "twice" if rounds == 1 else "more than twice"
            problem = f"hold a system {often} in one {noun}" if not whole else "span two blocks"
            raise TrialsError(
                f"trials {first} to {last} {problem}: `{design}` cannot have brought this order",
                "name the design by which the order was drawn; `none` if it was not drawn",
                row=last,
            )


def rounds_of(rows: TrialRows, visits: list[Visit], design: Design) -> int:
    """How often each block holds every system: twice where the column of blocks says so.

    So the tool's own studies of several systems are ordered (``plan/order.py``).
    """
    if design != "blocks" or rows.block is None:
        return 1
    first = rows.block[0]
    held = Counter(visit.system for visit in visits if rows.block[visit.row - 1] == first)
    return 2 if set(held.values()) == {2} else 1


def _balanced(visits: list[Visit]) -> None:
    lead = 0
    for visit in visits:
        lead += 1 if visit.system == visits[0].system else -1
        if abs(lead) > TOLERANCE:
            raise TrialsError(
                f"at trial {visit.row} one system leads by {abs(lead)} visits: the big-stick "
                f"design never lets one lead by more than {TOLERANCE}",
                "name the design by which the order was drawn; `none` if it was not drawn",
                row=visit.row,
            )


def _by_chance(visits: list[Visit], design: Design) -> None:
    """Refuse an order that repeats itself: a periodic disturbance may share its period."""
    repeats = repetition(visits, design)
    if repeats is not None and repeats.once_in >= 2**REFUSED_BITS:
        raise TrialsError(
            f"the order repeats every {repeats.period} visits: random assignment does that once in "
            f"{repeats.once_in:,} times",
            "a fixed order follows any rhythm of the machine; judge it with the design `none`",
        )


def repetition(visits: list[Visit], design: Design) -> Repetition | None:
    """An order that random assignment hardly brings: strictly in turn, or one block repeated."""
    names = [visit.system for visit in visits]
    size = len(set(names))
    for period in (size * blocks for blocks in _REPEATS_AFTER):
        bits = chance_bits(names, design)[period:].sum()
        if names[period:] == names[:-period] and bits >= _TOLD_BITS:
            return Repetition(period, round(2**bits))
    return None


def chance_bits(names: Sequence[str], design: Design) -> Floats:
    """How many bits of chance each visit holds; none where the big-stick design left no choice."""
    size = len(set(names))
    if design != "bigstick":
        return np.full(len(names), math.log2(math.factorial(size)) / size)
    steps = np.where(np.array(names) == names[0], 1, -1)
    lead = np.cumsum(steps) - steps
    return np.where(np.abs(lead) < TOLERANCE, 1.0, 0.0)
