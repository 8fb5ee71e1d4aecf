"""What a person sees while a study runs: a live block on a terminal, plain lines elsewhere.

A reader of the session's events; the session would run the same without it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from rich.live import Live

from steelyard.cli.console import Telling, stderr, tell
from steelyard.cli.machine_words import clock_line, is_skewed
from steelyard.cli.session.block import block
from steelyard.cli.session.state import SessionState
from steelyard.cli.session.stream import EventStream
from steelyard.hosts.clocks import WallOffset
from steelyard.hosts.undo.log import PendingUndo
from steelyard.judge.analyses.planning.findings import ResolutionFinding
from steelyard.judge.kinds.caveats import SystemFutility, WorkloadFutility
from steelyard.judge.stopping.interim import Look
from steelyard.plan.model import Plan, PlannedTrial
from steelyard.records.attempt_folder import attempt_key
from steelyard.records.events import Event, VisitsTimed, WallClocksCompared
from steelyard.records.schema import TrialRecord
from steelyard.report import notes
from steelyard.report.figures import counted, quantity
from steelyard.report.notes.missing import missing_text
from steelyard.report.notes.warnings import warning_text
from steelyard.report.sentences.terminal.interim import left_words, progress_words
from steelyard.report.sentences.terminal.resolution import resolution_lines
from steelyard.study.model import Study
from steelyard.study.workload_study import study_of
from steelyard.trial.session_state.watcher import Watcher


class Display:
    """Shows a session. ``live`` is the block on a terminal."""

    def __init__(
        self, study: Study, live: Live | None = None, stream: EventStream | None = None
    ) -> None:
        self._study = study
        self._live = live
        self._stream = stream
        self.state = SessionState(study)

    def recorded(self, event: Event) -> None:
        if self._stream is not None:
            self._stream.write(event)
        self.state.recorded(event)
        if isinstance(event, VisitsTimed):
            count, before = event.visits, event.visits_before
            self._tell(f"by the first visits the time holds {count}; {before} were assumed")
        if isinstance(event, WallClocksCompared):
            for each in event.machines:
                wall = WallOffset(each.ahead_ns, each.uncertainty_ns)
                if is_skewed(wall):
                    self._tell(f"warning: {clock_line(each.machine, wall)}")

    def undo_earlier(self, undone: list[PendingUndo]) -> None:
        for undo in undone:
            self._tell(f"left by an earlier session, done on {undo.host}: {undo.inverse}")

    def waits(self, why: str) -> None:
        self.state.now = f"waiting: {why}"
        self._tell(self.state.now)
        self._show()

    def starts(self, plan: Plan, trials_done: int) -> None:
        self.state.starts(plan, trials_done)
        if self._stream is not None:
            self._stream.starts(plan, trials_done)
        if trials_done:
            self._tell(f"{counted(trials_done, 'trial')} recorded already")
        self._show()

    def calibrating(self) -> None:
        self.state.now = "calibrating the generator"
        self._show()

    def noise_measured(self, found: list[ResolutionFinding]) -> None:
        for line in resolution_lines(found):
            self._tell(line)

    def attempt_starts(self, trial: PlannedTrial, attempt: int) -> None:
        self.state.attempt_starts(trial, attempt)
        self._show()

    def attempt_ends(self, record: TrialRecord) -> None:
        new = self.state.attempt_ends(record)
        if self._stream is not None:
            self._stream.attempt_ends(record, self.state)
        place = f"{attempt_key(record.trial, record.attempt)} {record.cell.system}"
        if record.failure is not None:
            self._tell(f"{place}: {record.outcome}: {record.failure.message}")
            if record.failure.hint:
                self._tell(f"  hint: {record.failure.hint}")
        for warning in new:
            self._tell(f"{place}: warning: {warning_text(warning)}; more of the kind are counted")
        if self._live is None:
            self._tell(f"{self.state.now}: {record.outcome}, {self._response(record)}")

    def looked(self, look: Look, visits_done: int) -> None:
        self.state.looked(look, visits_done)
        if self._live is None and self.state.look is not None:
            words = progress_words(self.state.look, self.state.labels)
            said = filter(None, (words, left_words(self.state.left_s())))
            self._tell(f"after {counted(visits_done, 'visit')}: {'; '.join(said)}")
        self._show()

    def gives_up(self, reason: SystemFutility | WorkloadFutility) -> None:
        self._tell(f"{notes.text(reason, self.state.labels)}.")

    def undoing(self) -> None:
        self.state.now = "leaving the machine as found"
        self._show()

    def _tell(self, line: str) -> None:
        machine = self._study.machine
        tell(line if machine is None else f"{machine}: {line}")

    def _response(self, record: TrialRecord) -> str:
        primary = study_of(self._study, record.cell.conditions).primary
        measured, value = record.responses.get(primary.name), record.value(primary.name)
        if value is not None:
            return f"{primary.label} {quantity(value, primary.unit)}"
        if measured is None or not measured.infinite:
            return f"{primary.label} not measured"
        why = "" if measured.missing is None else f" ({missing_text(measured.missing)})"
        return f"{primary.label} beyond all values{why}"

    def _show(self) -> None:
        if self._live is not None:
            self._live.update(block(self.state, stderr().height))


_AT_ONCE = {
    1: b"\ninterrupted: what was measured is kept, all else is undone; again forces the stop\n",
    2: b"\nforced stop: servers are killed, and the machines are not compared at the end\n",
}


def tell_at_once(count: int) -> None:
    """Reports a signal from its handler, where only system calls are safe."""
    if count in _AT_ONCE and not Telling.quiet:
        with suppress(OSError):
            os.write(2, _AT_ONCE[count])


@contextmanager
def watch(study: Study, stream: EventStream | None) -> Iterator[Watcher]:
    """A display for a session; live only where a person sees it."""
    with live_block() as live:
        yield Display(study, live, stream)


@contextmanager
def live_block() -> Iterator[Live | None]:
    """Where a person sees it; else ``None``."""
    if not Telling.is_live():
        yield None
        return
    with Live(console=stderr(), transient=True, refresh_per_second=2) as live:
        yield live
