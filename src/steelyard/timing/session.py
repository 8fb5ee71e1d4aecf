"""From subjects to a timing: visits in random order until the verdict holds or the budget ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from steelyard.errors import HostError
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.own_trials.arguments import DEFAULT_BUDGET, Declared
from steelyard.judge.own_trials.rows import LEAST_VISITS, TrialRows, TrialsError
from steelyard.judge.own_trials.verdicts import TrialsVerdict, judge_rows
from steelyard.plan.order import big_stick, blocks, generator
from steelyard.records.results.timing import Quantity, TimedVisit, Timing
from steelyard.timing.execution import CleanupFailedError

VISIT_S = 0.1
"""The least length of a visit: shorter executions are repeated within it."""
_ENOUGH = 20
_GRACE = 1.25
"""How far a given budget may be exceeded for the least number of visits that allows a verdict."""
_JUDGING_SHARE = 0.25


class VisitFailedError(HostError):
    """A subject could not be measured at a visit after :meth:`Subjects.prepare`; says at which."""

    def __init__(self, visit: int, error: HostError) -> None:
        message = f"visit {visit} failed: {error.message}"
        super().__init__(message, hint=error.hint, slug=error.slug)


class Subjects(Protocol):
    """What is compared: it is measured by name, one visit at a time."""

    @property
    def subjects(self) -> Mapping[str, str]:
        """What is run, by name; the first is the baseline."""

    @property
    def responses(self) -> tuple[Quantity, ...]:
        """What each visit measures."""

    @property
    def executions_per_visit(self) -> int:
        """How often a visit repeats what it measures."""

    def prepare(self, warmups: int, visit_s: float) -> float:
        """Everything before the first visit; how long a visit will take."""

    def visit(self, name: str) -> TimedVisit:
        """One visit of one subject."""

    def end(self) -> None:
        """Everything after the last visit.

        Raises:
            CleanupFailedError: some of it failed, and all else was done.
        """


@dataclass(frozen=True)
class Declaration:
    """What is fixed before the first visit. ``budget_s`` is a default where ``is_given`` is not.

    ``rate`` is that of a load whose rate is fixed, as it was given.
    """

    primary: str
    margin_ratio: float
    budget_s: float
    seed: int
    warmups: int = 0
    is_given: bool = True
    alpha: float = 0.05
    rate: str | None = None


@dataclass(frozen=True)
class Progress:
    """After a visit: the timing, and the verdict of the last look, if there was one."""

    timing: Timing
    found: TrialsVerdict | None
    spent_s: float


def timed(
    subjects: Subjects,
    declared: Declaration,
    shell_s: float | None,
    watch: Callable[[Progress], None],
    is_over: Callable[[TrialsVerdict], bool] | None = None,
) -> tuple[Timing, TrialsVerdict | None]:
    """Measures until every comparison is decided or the budget ends; ``None`` if nothing can be.

    ``is_over`` may end it otherwise.

    The order is drawn by the big-stick design for two subjects, in shuffled blocks for more. The
    judge looks from the 8th visit on, less often than after each where its own time would count.

    Raises:
        HostError: a subject cannot be measured, or the budget holds too few visits.
        VisitFailedError: the same, after the first visit was begun.
        CleanupFailedError: what was to be done at the end failed.
    """
    with ending(subjects.end):
        visit_s = subjects.prepare(declared.warmups, VISIT_S)
        timing = _begun(subjects, declared, visit_s, shell_s)
        session = _Session(timing, declared, is_over or is_decided)
        for name in _order(timing):
            timing.visits.append(_visited(subjects, name, len(timing.visits) + 1))
            found = session.look()
            watch(Progress(timing, found, session.spent_s))
            if session.is_over:
                break
    return timing, judged(timing)


def _visited(subjects: Subjects, name: str, number: int) -> TimedVisit:
    try:
        return subjects.visit(name)
    except HostError as error:
        raise VisitFailedError(number, error) from error


@contextmanager
def ending(end: Callable[[], None]) -> Iterator[None]:
    """Calls ``end`` whatever happens; where both fail, both are named.

    Raises:
        CleanupFailedError: ``end`` failed.
    """
    try:
        yield
    except HostError as error:
        try:
            end()
        except CleanupFailedError as further:
            hint = further.hint or ""
            raise CleanupFailedError(further.failed, hint, error) from error
        raise
    except BaseException:
        end()
        raise
    end()


def _begun(
    subjects: Subjects, declared: Declaration, visit_s: float, shell_s: float | None
) -> Timing:
    count = len(subjects.subjects)
    least = _least_visits(count)
    most = DEFAULT_BUDGET * count
    affordable = int(declared.budget_s / visit_s) if visit_s else most
    refuse_small_budget(count, declared, visit_s)
    budget = max(min(affordable, most), least if declared.is_given else _ENOUGH * count // 2)
    return Timing(
        subjects=subjects.subjects,
        responses=subjects.responses,
        primary=declared.primary,
        margin_ratio=declared.margin_ratio,
        seed=declared.seed,
        budget_visits=budget - budget % count if count > 2 else budget,
        executions_per_visit=subjects.executions_per_visit,
        shell_s=shell_s,
        alpha=declared.alpha,
        rate=declared.rate,
    )


def refuse_small_budget(subjects: int, declared: Declaration, visit_s: float) -> None:
    """Of visits of this length.

    Raises:
        HostError: a given budget holds too few of them for a verdict.
    """
    least = _least_visits(subjects)
    affordable = int(declared.budget_s / visit_s) if visit_s else least
    if affordable < least and declared.is_given:
        raise HostError(
            f"a visit takes {visit_s:.3g} s, and a budget of {declared.budget_s:g} s holds "
            f"{affordable} of them",
            hint=f"{least} at least are needed: allow {least * visit_s * 1.25:.0f} s or more",
            slug="budget-too-small",
        )


def _least_visits(subjects: int) -> int:
    return LEAST_VISITS if subjects == 2 else subjects * LEAST_VISITS // 2


def _order(timing: Timing) -> Iterator[str]:
    names, random = list(timing.subjects), generator(timing.seed, "timing")
    if len(names) == 2:
        yield from (names[i] for i in big_stick(random, timing.budget_visits))
        return
    for block in blocks(random, len(names), timing.budget_visits // len(names)):
        yield from (names[i] for i in block)


def judged(timing: Timing) -> TrialsVerdict | None:
    """The verdict on all visits; ``None`` where nothing can be judged: `why_not_judged`."""
    try:
        return _judged(timing)
    except TrialsError:
        return None


def why_not_judged(timing: Timing) -> str | None:
    """What of the visits makes a verdict impossible; ``None`` where nothing does."""
    try:
        _judged(timing)
    except TrialsError as error:
        return error.message
    return None


def _judged(timing: Timing) -> TrialsVerdict:
    several = len(timing.subjects) > 2
    rows = TrialRows(
        system=[visit.subject for visit in timing.visits],
        response=[visit.values[timing.primary] for visit in timing.visits],
    )
    return judge_rows(rows, _declared(timing, several=several))


def _declared(timing: Timing, *, several: bool) -> Declared:
    response = timing.response
    return Declared(
        baseline=timing.baseline,
        margin=timing.margin_ratio,
        design="blocks" if several else "bigstick",
        direction=response.direction,
        alpha=timing.alpha,
        budget=timing.budget_visits,
        name=response.label,
        unit=response.unit,
    )


class _Session:
    """When to look, and when it is over."""

    def __init__(
        self, timing: Timing, declared: Declaration, ends: Callable[[TrialsVerdict], bool]
    ) -> None:
        self._timing, self._declared, self._ends = timing, declared, ends
        self._started = self._looked = time.monotonic()
        self._look_s = 0.0
        self._found: TrialsVerdict | None = None
        self.is_over = False

    @property
    def spent_s(self) -> float:
        return time.monotonic() - self._started

    def look(self) -> TrialsVerdict | None:
        """The verdict so far, new where a look is due."""
        visits = len(self._timing.visits)
        is_last = visits >= self._timing.budget_visits or self._is_spent(visits)
        since_s = time.monotonic() - self._looked
        if visits >= LEAST_VISITS and (is_last or since_s * _JUDGING_SHARE >= self._look_s):
            began = time.monotonic()
            self._found = judged(self._timing)
            self._looked = time.monotonic()
            self._look_s = self._looked - began
        self.is_over = is_last or (self._found is not None and self._ends(self._found))
        return self._found

    def _is_spent(self, visits: int) -> bool:
        if self._declared.is_given:
            enough = visits >= _least_visits(len(self._timing.subjects))
            return self.spent_s > self._declared.budget_s * (1 if enough else _GRACE)
        enough = visits >= min(_ENOUGH, self._timing.budget_visits)
        return enough and self.spent_s > self._declared.budget_s


def is_decided(found: TrialsVerdict) -> bool:
    """Whether no comparison is open."""
    return all(verdict.word is not VerdictWord.UNDECIDED for verdict in found.verdicts)
