"""Runs of one study in the order of time, each with what makes it comparable to the newest.

No test is made between runs: they were not randomised against each other.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from steelyard.history.point import ComparisonPoint, RunPoint


@dataclass(frozen=True)
class Change:
    """A program that was tested as ``system`` and is another one than in the run before."""

    system: str
    fact: str
    before: tuple[str, ...] | None
    after: tuple[str, ...] | None


@dataclass(frozen=True)
class Entry:
    """One run of the history; ``point`` is ``None`` where the comparison is not in the run.

    ``reference_log``: the reference kernel of this run over that of the first comparable run, as
    a natural logarithm. ``changes`` are those since the comparable run before.
    """

    run: RunPoint
    point: ComparisonPoint | None
    same_host: bool
    same_study: bool
    reference_log: float | None = None
    changes: tuple[Change, ...] = ()

    @property
    def is_comparable(self) -> bool:
        return self.same_host and self.same_study


@dataclass(frozen=True)
class History:
    """A comparison over time. ``choices`` are all comparisons that any run has, by key.

    ``reference_part`` is the part of the reference kernel that is drawn.
    """

    chosen: str | None
    choices: dict[str, str]
    reference_part: str | None
    entries: tuple[Entry, ...]


def history_of(runs: Sequence[RunPoint], chosen: str | None = None) -> History:
    """The runs by time. Comparable are those of the newest run's host and study file.

    Without ``chosen``, or with one that no run has, the newest run's first comparison is taken.
    """
    ordered = sorted(runs, key=lambda run: (run.created_unix_ns, run.run))
    choices = {each.key: each.title for run in reversed(ordered) for each in run.comparisons}
    key = chosen if chosen in choices else next(iter(choices), None)
    part = _part(ordered)
    entries = tuple(_entries(ordered, key, part))
    return History(key, choices, part, entries)


def _part(runs: Sequence[RunPoint]) -> str | None:
    """Of the newest run that has any, the first: the processor's before memory and disk."""
    return next((next(iter(run.reference_kernel)) for run in reversed(runs)
                 if run.reference_kernel), None)  # fmt: skip


def _entries(runs: Sequence[RunPoint], key: str | None, part: str | None) -> Iterator[Entry]:
    first: float | None = None
    before: RunPoint | None = None
    for run in runs:
        newest = runs[-1]
        entry = Entry(
            run,
            None if key is None else run.comparison(key),
            same_host=_fingerprint(run) == _fingerprint(newest),
            same_study=(run.study_sha256, run.variant) == (newest.study_sha256, newest.variant),
        )
        if not entry.is_comparable:
            yield entry
            continue
        value = run.reference_kernel.get(part or "")
        first = value if first is None else first
        log = None if value is None or first is None else math.log(value / first)
        changes = () if before is None else tuple(changes_between(before, run))
        yield Entry(run, entry.point, True, True, log, changes)
        before = run


def _fingerprint(run: RunPoint) -> str | None:
    return None if run.host is None else run.host.fingerprint


def changes_between(before: RunPoint, after: RunPoint) -> Iterator[Change]:
    """Which programs are not the same, of the systems that both runs have."""
    for system in (name for name in after.systems if name in before.systems):
        one, another = before.tested.get(system, {}), after.tested.get(system, {})
        for fact in sorted(one.keys() | another.keys()):
            if one.get(fact) != another.get(fact):
                yield Change(system, fact, one.get(fact), another.get(fact))
