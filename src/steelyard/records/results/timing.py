"""What ``steelyard time`` and its short forms keep: visits of subjects that need no preparation."""

from __future__ import annotations

import signal
import statistics
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

_SIGNALS = frozenset(map(int, signal.Signals))


@dataclass(frozen=True)
class Execution:
    """One run of a command, as the kernel accounts for it and its descendants that it waited for.

    ``rss_bytes`` is the peak of the largest process; ``printed`` is the number that was looked
    for in its output.
    """

    wall_s: float
    user_s: float
    system_s: float
    rss_bytes: int
    exit_code: int
    """Of one that a signal ended, the number of the signal below zero."""
    printed: float | None = None

    @property
    def ending(self) -> str:
        """``exit code 3``, or ``signal 9 (SIGKILL)``."""
        if self.exit_code >= 0:
            return f"exit code {self.exit_code}"
        number = -self.exit_code
        name = f" ({signal.Signals(number).name})" if number in _SIGNALS else ""
        return f"signal {number}{name}"


@dataclass(frozen=True)
class TimedVisit:
    """One random assignment: a subject measured once. ``values`` are by the name of the response.

    ``executions`` are those of a command; their mean is one value, since they share the visit.
    ``empty_windows`` are those of a server in which no operation ended before this one;
    ``failures`` its operations that failed, by kind, of ``operations`` that ended.
    """

    subject: str
    values: Mapping[str, float]
    executions: tuple[Execution, ...] = ()
    empty_windows: int = 0
    operations: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    failed_connections: int = 0


@dataclass(frozen=True)
class Quantity:
    """A response of a timing: its name in sentences, its unit, which direction is better."""

    name: str
    label: str
    unit: str
    direction: Literal["higher", "lower"]


@dataclass(frozen=True)
class Timing:
    """All visits so far, in their order, and what was fixed before the first.

    ``subjects`` maps a name to what was run; the first is the baseline. ``budget_visits`` is what
    the judge takes for the horizon. ``shell_s`` is what starting the shell alone takes. ``rate`` is
    that of a load whose rate is fixed. ``not_judged`` says why there is no verdict in the end.
    """

    subjects: Mapping[str, str]
    responses: tuple[Quantity, ...]
    primary: str
    margin_ratio: float
    seed: int
    budget_visits: int
    executions_per_visit: int = 1
    shell_s: float | None = None
    alpha: float = 0.05
    rate: str | None = None
    visits: list[TimedVisit] = field(default_factory=list)
    not_judged: str | None = None

    @property
    def baseline(self) -> str:
        return next(iter(self.subjects))

    @property
    def response(self) -> Quantity:
        return next(each for each in self.responses if each.name == self.primary)

    def of(self, subject: str) -> list[TimedVisit]:
        return [visit for visit in self.visits if visit.subject == subject]

    def executions(self, subject: str) -> list[Execution]:
        """Of a command, over the visits."""
        return [each for visit in self.of(subject) for each in visit.executions]

    def failures(self, subject: str) -> Counter[str]:
        """Operations of a server or executions of a command, over the visits, by kind."""
        failed = Counter(each.ending for each in self.executions(subject) if each.exit_code)
        return sum((Counter(visit.failures) for visit in self.of(subject)), failed)

    def attempted(self, subject: str) -> int:
        """How many executions, or operations of a server, ended, well or not."""
        return len(self.executions(subject)) + sum(v.operations for v in self.of(subject))

    def median(self, subject: str, response: str) -> float | None:
        """Over the visits; ``None`` where the response was never measured."""
        found = [v.values[response] for v in self.of(subject) if response in v.values]
        return statistics.median(found) if found else None
