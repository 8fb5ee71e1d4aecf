"""How far a run is, from the events of its ledger and the records of its trials."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from steelyard.plan.budget import remaining_s
from steelyard.plan.model import Cell, Plan
from steelyard.records.events import (
    AttemptFinished,
    AttemptStarted,
    EnvironmentCompared,
    EnvironmentRecorded,
    Event,
    GeneratorCalibrated,
    InterimComparison,
    InterimLook,
    NoiseMeasured,
    SessionClosed,
    SessionOpened,
    StoppedRetried,
    SystemStopped,
    WorkloadStopped,
)
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.web.looks import Identity, identity, same, with_size

Phase = Literal[
    "not_begun", "opening", "preparing", "trial", "between_trials", "restoring", "compared", "ended"
]
MOST_TRIALS = 300
_NS_PER_S = 1e9


@dataclass(frozen=True)
class CpuUse:
    """Mean use of the processors of one machine in a trial; ``processors`` is what it has."""

    machine: str
    cores: float
    processors: float | None


@dataclass(frozen=True)
class Landed:
    """A trial as it was recorded. ``value`` is ``None`` where the response was not measured.

    ``generator_ratio`` is the throughput over what the load generator can do at most.
    """

    trial: int
    attempt: int
    visit: int
    cell: Cell
    outcome: str
    response: str
    unit: str
    value: float | None
    warnings: tuple[str, ...]
    cpu: tuple[CpuUse, ...]
    generator_ratio: float | None = None


@dataclass(frozen=True)
class Looked:
    """One interim look: ``visits`` done, and the comparison by its place in the study."""

    visits: int
    comparisons: tuple[InterimComparison, ...]


@dataclass
class Progress:
    """Grows with every event. Times are those that the events carry, not those of a reader."""

    plan: Plan | None
    budget_s: float | None
    phase: Phase = "not_begun"
    trial: AttemptStarted | None = None
    ended: str | None = None
    looks: list[Looked] = field(default_factory=list)
    last_look: InterimLook | None = None
    landed: deque[Landed] = field(default_factory=lambda: deque(maxlen=MOST_TRIALS))
    trials_good: set[int] = field(default_factory=set)
    failed: int = 0
    warnings: Counter[str] = field(default_factory=Counter)
    stopped: list[str] = field(default_factory=list)
    damaged_lines: list[int] = field(default_factory=list)
    _taken_s: dict[str, dict[int, float]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(float))
    )
    _sizes: dict[Identity, InterimComparison] = field(default_factory=dict)
    _begun_ns: int | None = None
    _from_ns: int | None = None
    _last_ns: int = 0

    def add(self, event: Event) -> None:
        """What an event of the ledger changes."""
        self._last_ns = max(self._last_ns, event.at_unix_ns)
        if isinstance(event, SessionOpened):
            self.phase, self.ended, self._begun_ns = "opening", None, None
        elif isinstance(event, EnvironmentRecorded | NoiseMeasured | GeneratorCalibrated):
            self.phase = "preparing"
        elif isinstance(event, AttemptStarted):
            self._starts(event)
        elif isinstance(event, AttemptFinished):
            self.phase, self.trial = "between_trials", None
        elif isinstance(event, InterimLook):
            self._looks(event)
        elif isinstance(event, SystemStopped | WorkloadStopped):
            name = event.system if isinstance(event, SystemStopped) else event.workload
            self.stopped.append(name)
        elif isinstance(event, StoppedRetried):
            self.stopped.clear()
        elif isinstance(event, EnvironmentCompared):
            self.phase = "compared"
        elif isinstance(event, SessionClosed):
            self.phase, self.ended = "ended", event.reason or "error"

    def land(self, landed: Landed, record: TrialRecord) -> None:
        """A trial whose record is on disk, with the time since the one before."""
        self.landed.append(landed)
        self.warnings.update(set(landed.warnings))
        if record.outcome is Outcome.OK:
            self.trials_good.add(record.trial)
        else:
            self.failed += 1
        since_ns = self._from_ns if self._from_ns is not None else record.started_unix_ns
        taken_s = max(0.0, (record.finished_unix_ns - since_ns) / _NS_PER_S)
        self._taken_s[record.cell.system][record.trial] += taken_s
        self._from_ns = record.finished_unix_ns

    @property
    def visits_planned(self) -> int:
        return len(self.plan.every_visit) if self.plan else 0

    @property
    def trials_planned(self) -> int:
        return sum(len(visit.trials) for visit in self.plan.every_visit) if self.plan else 0

    @property
    def visits_done(self) -> int:
        return self.looks[-1].visits if self.looks else 0

    @property
    def comparisons(self) -> tuple[InterimComparison, ...]:
        """The words of the newest look, each with the last size that a look gave."""
        newest = self.last_look.comparisons if self.last_look else ()
        return tuple(with_size(each, self._sizes) for each in newest)

    @property
    def left_s(self) -> float | None:
        """How long the rest takes at most; ``None`` before a trial, and at the end."""
        if self.plan is None or self.phase in {"ended", "not_begun"}:
            return None
        last = max(self.trials_good, default=0)
        every = (trial for visit in self.plan.every_visit for trial in visit.trials)
        left = remaining_s([trial for trial in every if trial.trial > last], self._taken_s)
        if self.budget_s is None or self._begun_ns is None or not self._taken_s:
            return left
        in_budget = max(0.0, self.budget_s - (self._last_ns - self._begun_ns) / _NS_PER_S)
        return in_budget if left is None else min(left, in_budget)

    def _starts(self, event: AttemptStarted) -> None:
        if self._begun_ns is None:
            self._begun_ns = self._from_ns = event.at_unix_ns
        self.phase, self.trial = "trial", event

    def _looks(self, event: InterimLook) -> None:
        self.last_look = event
        self.looks.append(Looked(event.visits_done, event.comparisons))
        sized = (each for each in event.comparisons if each.estimate_log is not None)
        self._sizes.update({identity(each): each for each in sized})
        if event.decided:
            self.phase = "restoring"


def funnel(looks: Sequence[Looked], lead: InterimComparison) -> list[tuple[int, InterimComparison]]:
    """One comparison at every look that gave its size."""
    return [
        (look.visits, each)
        for look in looks
        for each in look.comparisons
        if same(each, lead) and each.estimate_log is not None
    ]
