"""What is seen while a study runs: a live block on a terminal, plain lines elsewhere.

A reader of the session's events; the session would run the same without it.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rich.live import Live
from rich.markup import escape
from rich.table import Table

from steelyard.cli.console import stderr, tell
from steelyard.hosts.undo.log import PendingUndo
from steelyard.judge.analyses.planning.findings import ResolutionFinding
from steelyard.judge.kinds.caveats import SystemFutility, WorkloadFutility
from steelyard.judge.stopping.interim import Look
from steelyard.plan.model import Plan, PlannedTrial
from steelyard.plan.remaining import remaining_s
from steelyard.records.archive import attempt_key
from steelyard.records.schema import Outcome, TrialRecord
from steelyard.report import notes
from steelyard.report.figures import quantity
from steelyard.report.sentences.answer import progress_words
from steelyard.report.sentences.resolution import resolution_lines
from steelyard.study.labels import Labels
from steelyard.study.model import Study
from steelyard.study.workload_study import study_of
from steelyard.trial.session_state.watcher import Watcher
from steelyard.units import format_duration


class Display:
    """The state of a session in a few lines."""

    def __init__(self, study: Study, live: Live | None) -> None:
        self._study = study
        self._labels = Labels.of(study)
        self._live = live
        self._plan: Plan | None = None
        self._trials_done = 0
        self._visits_done = 0
        self._taken_s: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        self._last_trial = 0
        self._first_s = self._timed_to_s = 0.0
        self._trial = "starting"
        self._verdict = "none yet: the first is possible after 8 visits"

    def undo_earlier(self, undone: list[PendingUndo]) -> None:
        for undo in undone:
            tell(f"left by an earlier session, done on {undo.host}: {undo.inverse}")

    def starts(self, plan: Plan, trials_done: int) -> None:
        self._plan = plan
        self._trials_done = trials_done
        if not plan.visits:
            self._verdict = "none yet"
        if trials_done:
            tell(f"{trials_done} trials are recorded already")
        self._show()

    def calibrating(self) -> None:
        self._trial = "calibrating the generator"
        self._show()

    def noise_measured(self, found: list[ResolutionFinding]) -> None:
        for line in resolution_lines(found):
            tell(line)

    def attempt_starts(self, trial: PlannedTrial, attempt: int) -> None:
        conditions = self._labels.conditions(trial.cell.conditions)
        again = f", attempt {attempt}" if attempt > 1 else ""
        where = f"{trial.cell.system}, {conditions}" if conditions else trial.cell.system
        if not self._taken_s:
            self._first_s = self._timed_to_s = time.monotonic()
        self._trial = f"trial {trial.trial} (visit {trial.visit}): {where}{again}"
        self._show()

    def attempt_ends(self, record: TrialRecord) -> None:
        self._time(record)
        if record.outcome is Outcome.OK:
            self._trials_done += 1
        elif record.failure is not None:
            key = attempt_key(record.trial, record.attempt)
            tell(f"{key} {record.cell.system}: {record.outcome}: {record.failure.message}")
            if record.failure.hint:
                tell(f"  hint: {record.failure.hint}")
        if self._live is None:
            tell(f"{self._trial}: {record.outcome}, {self._response(record)}")

    def _time(self, record: TrialRecord) -> None:
        """What an attempt took, with the look of the judge before it."""
        now_s = time.monotonic()
        self._taken_s[record.cell.system][record.trial] += now_s - self._timed_to_s
        self._timed_to_s, self._last_trial = now_s, record.trial

    def looked(self, look: Look, visits_done: int) -> None:
        self._visits_done = visits_done
        self._verdict = progress_words(look, self._labels)
        if self._live is None:
            tell(f"after {visits_done} visits: {self._verdict}; {self.forecast()}")
        self._show()

    def gives_up(self, reason: SystemFutility | WorkloadFutility) -> None:
        tell(f"{notes.text(reason, self._labels)}.")

    def undoing(self) -> None:
        self._trial = "leaving the machine as found"
        self._show()

    def _response(self, record: TrialRecord) -> str:
        primary = study_of(self._study, record.cell.conditions).primary
        value = record.value(primary.name)
        return f"{primary.label} " + (
            "not measured" if value is None else quantity(value, primary.unit)
        )

    def forecast(self) -> str:
        visits = () if self._plan is None else self._plan.every_visit
        trials = (trial for visit in visits for trial in visit.trials)
        rest = [trial for trial in trials if trial.trial > self._last_trial]
        left_s = remaining_s(rest, self._taken_s)
        if left_s is None:
            return "forecast after the first trial"
        budget_s = self._study.trials.budget.time_s
        if budget_s is not None:
            left_s = min(left_s, max(0.0, budget_s - (time.monotonic() - self._first_s)))
        return f"at most {format_duration(left_s)} more"

    def _show(self) -> None:
        if self._live is not None:
            self._live.update(self._table())

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim", no_wrap=True)
        table.add_column()
        visits = len(self._plan.every_visit) if self._plan else 0
        table.add_row("now", escape(self._trial))
        table.add_row("done", f"{self._trials_done} trials, {self._visits_done} of {visits} visits")
        table.add_row("verdict so far", escape(self._verdict))
        table.add_row("forecast", escape(self.forecast()))
        return table


_AT_ONCE = {
    1: b"\ninterrupted: what was measured is kept, all else is undone; again forces the stop\n",
    2: b"\nforced stop: servers are killed, and the machines are not compared at the end\n",
}


def tell_at_once(count: int) -> None:
    """Reports a signal from its handler, where only system calls are safe."""
    if count in _AT_ONCE:
        with suppress(OSError):
            os.write(2, _AT_ONCE[count])


@contextmanager
def watch(study: Study) -> Iterator[Watcher]:
    """A display for a session; live only where a person sees it."""
    if not stderr.is_terminal:
        yield Display(study, None)
        return
    with Live(console=stderr, transient=True, refresh_per_second=2) as live:
        yield Display(study, live)
