"""Two short trials of each system, before a plan is followed, to time what preparing takes.

What a trial takes beside its window no study declares: a server that starts slowly, a container,
a machine, a command that runs to its end.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from steelyard.plan.model import Plan, PlannedTrial, PlannedVisit
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.study.ending import ends_by_the_clock
from steelyard.study.model import FIND, BudgetSpec, Study
from steelyard.study.workload_study import study_of
from steelyard.trial.session_state.watcher import Silence

TRIALS = 2
"""Of each system: the first may make its image or start its machine, later ones do not."""
_WINDOW_S = 1.0
_WARMUP_S = 0.2


def pilot_study(study: Study) -> Study:
    """The study with short windows, no budget of time, no calibration and no second attempts."""
    short = {
        "window_s": min(study.trials.window_s, _WINDOW_S),
        "warmup_s": min(study.trials.warmup_s, _WARMUP_S),
        "budget": BudgetSpec(),
        "retry": 0,
    }
    trials = study.trials.model_copy(update=short)
    generator = study.generator.model_copy(update={"calibrate": False})
    return study.model_copy(update={"trials": trials, "generator": generator})


def pilot_plan(plan: Plan) -> Plan:
    """The first trials of each system that search for no load, in the visits that hold them."""
    found: dict[str, int] = defaultdict(int)

    def short(visits: tuple[PlannedVisit, ...]) -> Iterator[PlannedVisit]:
        for visit in visits:
            plain = [trial for trial in visit.trials if FIND not in trial.cell.conditions]
            trials = tuple(plain[: TRIALS - found[visit.system]])
            found[visit.system] += len(trials)
            if trials:
                yield visit.model_copy(update={"trials": trials})

    visits = tuple(short(plan.visits))
    screen = plan.screen and plan.screen.model_copy(
        update={"visits": tuple(short(plan.screen.visits))}
    )
    return plan.model_copy(update={"visits": visits, "screen": screen})


@dataclass(frozen=True)
class Failed:
    """A trial of the pilot that was not good, and why."""

    system: str
    outcome: Outcome
    message: str
    hint: str

    @classmethod
    def of(cls, record: TrialRecord) -> Failed:
        why = record.failure
        message, hint = ("", "") if why is None else (why.message, why.hint)
        return cls(record.cell.system, record.outcome, message, hint or "")


@dataclass
class Stopwatch(Silence):
    """Times the attempts of a pilot, by the clock on the wall."""

    study: Study
    failed: list[Failed] = field(default_factory=list)
    _taken_s: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    _begun_s: float = 0.0

    def attempt_starts(self, trial: PlannedTrial, attempt: int) -> None:  # noqa: ARG002
        self._begun_s = time.monotonic()

    def attempt_ends(self, record: TrialRecord) -> None:
        if record.outcome is not Outcome.OK:
            self.failed.append(Failed.of(record))
            return
        taken_s = time.monotonic() - self._begun_s
        if ends_by_the_clock(study_of(self.study, record.cell.conditions)):
            taken_s += _declared_s(self.study) - _declared_s(pilot_study(self.study))
        self._taken_s[record.cell.system].append(taken_s)

    def trial_s(self) -> dict[str, float]:
        """What a trial of the study takes, by system: the last that was timed."""
        return {system: taken_s[-1] for system, taken_s in self._taken_s.items()}


def _declared_s(study: Study) -> float:
    return study.trials.warmup_s + study.trials.window_s
