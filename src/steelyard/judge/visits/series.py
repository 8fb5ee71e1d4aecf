"""One comparison as numbers: its series, the systems it compares, and what judging it takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from steelyard.inference.noise.robust import ROUNDING_LOG, Floats, Mask
from steelyard.inference.randomisation import EXPLORATORY_PATHS, PATHS
from steelyard.inference.ratio_tests import Inference
from steelyard.inference.sequential import Memory
from steelyard.judge.kinds.verdict_notes import NotJudged, NoVariation, Withheld
from steelyard.judge.visits.pairs import Conditions, Pair, Scale
from steelyard.records.warnings import WarningKind
from steelyard.study.model import ResponseSpec


@dataclass(frozen=True)
class Series:
    """One comparison, one number per valid visit, in the order of the visits.

    ``slots`` are places in the assignment of the pair, from 0, with a gap where a visit failed.
    Among several systems, ``before`` names that of the visit that was measured just before.
    ``problems`` say why nothing can be judged. ``covariate`` is what was measured of the machine
    before each visit, shape (visits, parts), ``None`` without any; ``parts`` names its columns.
    ``whole``: the numbers are of all that a window did, and not of its slowest part.
    ``of_none``: of shares, the number of a visit in which nothing failed; it depends on how many
    operations a trial has.
    """

    visits: tuple[int, ...]
    slots: tuple[int, ...]
    other: Mask
    values: Floats
    problems: tuple[NotJudged, ...]
    before: tuple[str | None, ...] = ()
    covariate: Floats | None = None
    parts: tuple[str, ...] = ()
    whole: bool = False
    of_none: float | None = None

    @property
    def n_other(self) -> int:
        return int(self.other.sum())

    @property
    def n_baseline(self) -> int:
        return len(self.visits) - self.n_other

    @property
    def n_undefined(self) -> tuple[int, int]:
        """Visits of baseline and other beyond all values: they rank last."""
        undefined = ~np.isfinite(self.values)
        return int((undefined & ~self.other).sum()), int((undefined & self.other).sum())

    @property
    def never(self) -> tuple[bool, bool]:
        """Whether nothing failed in any visit of baseline and other: their ratio has no size."""
        if self.of_none is None:
            return False, False
        none = np.abs(self.values - self.of_none) <= ROUNDING_LOG
        baseline, other = none[~self.other], none[self.other]
        return bool(baseline.size and baseline.all()), bool(other.size and other.all())

    def first(self, rows: int) -> Series:
        """The same as its first rows are without the others."""
        if rows >= len(self.visits):
            return self
        return replace(
            self,
            visits=self.visits[:rows],
            slots=self.slots[:rows],
            other=self.other[:rows],
            values=self.values[:rows],
            before=self.before[:rows],
            covariate=self.covariate[:rows] if rows and self.covariate is not None else None,
            parts=self.parts if rows else (),
        )

    def defined(self) -> Series:
        """The visits with a finite number: for all that ranks alone do not give."""
        finite = np.isfinite(self.values)
        if finite.all():
            return self
        kept = [place for place, known in enumerate(finite) if known]
        return replace(
            self,
            visits=tuple(self.visits[place] for place in kept),
            slots=tuple(self.slots[place] for place in kept),
            other=self.other[finite],
            values=self.values[finite],
            before=tuple(self.before[place] for place in kept) if self.before else (),
            covariate=None if self.covariate is None else self.covariate[finite],
        )

    def with_defined(self, values: Floats) -> Series:
        """The same with other numbers for the visits that have a finite one."""
        changed = self.values.copy()
        changed[np.isfinite(changed)] = values
        return replace(self, values=changed)


def is_constant(arm: Floats) -> bool:
    """Whether an arm has one and the same figure in every visit: in two at least."""
    return bool(len(arm) > 1 and np.isfinite(arm).all() and np.ptp(arm) <= ROUNDING_LOG)


def without_variation(series: Series) -> Series:
    """The same, with a problem where each system shows one and the same figure in every visit.

    Without variation there is no noise to compare a difference with: a counter that does not
    change, a rounded figure or a limit is more likely than a machine without noise.
    """
    arms = series.values[series.other], series.values[~series.other]
    if series.problems or not all(map(is_constant, arms)):
        return series
    return replace(series, problems=(NoVariation(),))


@dataclass(frozen=True)
class Paths:
    """How many simulated orders each comparison is judged by: fewer are as valid, and see less.

    The exploratory ones are the first of the others.
    """

    deciding: int = PATHS
    exploratory: int = EXPLORATORY_PATHS


ALL_PATHS = Paths()


@dataclass(frozen=True)
class Effort:
    """What judging costs, none of which changes what is decided of given paths.

    ``memory``: the tests of earlier visits, for who judges the same study after each of them.
    """

    paths: Paths = ALL_PATHS
    memory: Memory | None = None


EFFORT = Effort()


class Visits(Protocol):
    """The visits of a study, from its records or from bare rows: what comparisons are judged by."""

    @property
    def distrusted(self) -> Withheld | None:
        """A reason to decide nothing from them at all."""

    def until(self, visit: int) -> Visits:
        """The same as they stood after one visit."""

    def series(
        self,
        pair: Pair,
        response: ResponseSpec,
        conditions: Conditions | None,
        *,
        keep_failed: bool = False,
        scale: Scale = "log",
    ) -> Series:
        """The numbers of a pair under the conditions that fit, or over all with ``None``."""

    def tests(self, series: Series, pair: Pair, *, exploratory: bool = False) -> Inference:
        """The series under test, with the orders it is judged by."""

    def warnings(self, visit: int, at: Conditions | None = None, /) -> frozenset[WarningKind]:
        """The kinds of warning of the good trials of a visit under the conditions that fit, or
        under any with ``None``, but for what the study accepts.
        """

    def figure(self, visit: int, kind: WarningKind, name: str) -> float | None:
        """The largest such figure of a kind of warning in a visit; 0 without any warning of it,
        ``None`` where one lacks the figure.
        """

    def span_s(self, first: int, last: int) -> float | None:
        """The time from the beginning of one visit to the end of another; ``None`` if not known."""

    def cpu_ratio(self, visit: int) -> float | None:
        """The largest share of the processors that was used in a good trial of a visit.

        ``None`` where one is not known, or where something else was used up.
        """

    def invalid(self, pair: Pair) -> dict[str, tuple[int, int]]:
        """Invalid attempts of both systems in the visits of the pair, and all measured there."""
