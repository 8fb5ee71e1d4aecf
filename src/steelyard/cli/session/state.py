"""How far a session is, from its events: what every way to show it reads."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace

from steelyard.judge.findings import ResponseFinding, WarningNote
from steelyard.judge.stopping.interim import InterimWord, Look
from steelyard.plan.budget import remaining_s, time_s
from steelyard.plan.model import Plan, PlannedTrial
from steelyard.records.events import Event
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.records.sessions import plan_after
from steelyard.report.tables.interim import interim_table
from steelyard.report.view import Table
from steelyard.study.labels import Labels
from steelyard.study.model import Study
from steelyard.study.workload_study import studies


class SessionState:
    """What has happened so far, and how long the rest takes at most."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self.machine = study.machine
        self.labels = Labels.of(study)
        self.plan: Plan | None = None
        self.trials_done = self.visits_done = 0
        self.now = "starting"
        self.look: Look | None = None
        self.warnings: Counter[str] = Counter()
        self._sized: dict[str, InterimWord] = {}
        self._taken_s: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self._last_trial = 0
        self._first_s = self._timed_to_s = 0.0

    @property
    def visits_planned(self) -> int:
        return len(self.plan.every_visit) if self.plan else 0

    @property
    def trials_planned(self) -> int:
        return sum(len(visit.trials) for visit in self.plan.every_visit) if self.plan else 0

    def starts(self, plan: Plan, trials_done: int) -> None:
        self.plan, self.trials_done = plan, trials_done

    def recorded(self, event: Event) -> None:
        if self.plan is not None:
            self.plan = plan_after(self.plan, [event])

    def attempt_starts(self, trial: PlannedTrial, attempt: int) -> None:
        where = self.labels.place(trial.cell.system, trial.cell.conditions)
        again = f", attempt {attempt}" if attempt > 1 else ""
        if not self._taken_s:
            self._first_s = self._timed_to_s = time.monotonic()
        self.now = f"trial {trial.trial} (visit {trial.visit}): {where}{again}"

    def attempt_ends(self, record: TrialRecord) -> list[WarningNote]:
        """The warnings of kinds that no attempt had before. Time is that with the look before."""
        now_s = time.monotonic()
        self._taken_s[record.cell.system][record.trial] += now_s - self._timed_to_s
        self._timed_to_s, self._last_trial = now_s, record.trial
        self.trials_done += record.outcome is Outcome.OK
        return list(self._new_kinds(record))

    def looked(self, look: Look, visits_done: int) -> None:
        """A size that this look does not give is that of the last that did, under the same word."""
        self.visits_done = visits_done
        words = tuple(self._with_size(each) for each in look.words)
        self.look = replace(look, words=words)

    def verdicts(self) -> Table | None:
        """The verdicts so far; ``None`` before the first look."""
        if self.look is None or not self.look.words:
            return None
        primary: dict[str | None, ResponseFinding] = {
            own.workload_name: ResponseFinding.of(own.primary) for own in studies(self._study)
        }
        primary[None] = next(iter(primary.values()))
        return interim_table(self.look.words, primary, self.labels)

    def left_s(self) -> float | None:
        """How long the rest takes at most; ``None`` while it is not known (``remaining_s``)."""
        visits = () if self.plan is None else self.plan.every_visit
        trials = (trial for visit in visits for trial in visit.trials)
        rest = [trial for trial in trials if trial.trial > self._last_trial]
        left_s = remaining_s(rest, self._taken_s)
        budget_s = None if self.plan is None else time_s(self._study, self.plan)
        if budget_s is None or not self._taken_s:
            return left_s
        in_budget_s = max(0.0, budget_s - (time.monotonic() - self._first_s))
        return in_budget_s if left_s is None else min(left_s, in_budget_s)

    def _new_kinds(self, record: TrialRecord) -> Iterator[WarningNote]:
        for warning in record.warnings:
            if not self.warnings[warning.kind]:
                yield WarningNote(kind=warning.kind, state=warning.state, figures=warning.figures)
            self.warnings[warning.kind] += 1

    def _with_size(self, each: InterimWord) -> InterimWord:
        key = repr((each.workload, each.baseline, each.other, each.conditions))
        if each.size is not None:
            self._sized[key] = each
        before = self._sized.get(key)
        if before is None or before.word is not each.word:
            return each
        n_baseline, n_other = before.n_baseline, before.n_other
        return replace(each, size=before.size, n_baseline=n_baseline, n_other=n_other)
