"""A session as events on stdout, one line of JSON each, for programs."""

from __future__ import annotations

import sys
from contextlib import suppress

from steelyard.cli.session.state import SessionState
from steelyard.plan.model import Plan
from steelyard.records.archive import Run
from steelyard.records.schema import TrialRecord
from steelyard.records.stream import AttemptMeasured, RunPlanned, StreamEvent
from steelyard.study.model import Study
from steelyard.study.workload_study import study_of


class EventStream:
    """Writes each event as it happens. A reader that has gone does not end what is measured."""

    def __init__(self, study: Study, run: Run, shown_path: str) -> None:
        self._study = study
        self._run = run
        self._path = shown_path
        self._read = True

    def write(self, event: StreamEvent) -> None:
        if not self._read:
            return
        try:
            sys.stdout.write(event.model_dump_json() + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            self._read = False
            with suppress(OSError):
                sys.stdout.close()

    def starts(self, plan: Plan, trials_done: int) -> None:
        facts, commitment = self._run.facts(), self._run.commitment()
        self.write(
            RunPlanned(
                tool_version=facts.tool_version,
                run=self._path,
                study=facts.study,
                study_sha256=facts.study_sha256,
                seed=facts.seed,
                commitment=commitment and commitment.digest,
                systems=plan.systems,
                visits=len(plan.every_visit),
                trials=sum(len(visit.trials) for visit in plan.every_visit),
                trials_done=trials_done,
            )
        )

    def attempt_ends(self, record: TrialRecord, state: SessionState) -> None:
        primary = study_of(self._study, record.cell.conditions).primary
        self.write(
            AttemptMeasured(
                trial=record.trial,
                attempt=record.attempt,
                visit=record.visit,
                cell=record.cell,
                outcome=record.outcome,
                response=primary.name,
                value=record.value(primary.name),
                unit=primary.unit,
                warnings=tuple(dict.fromkeys(warning.kind for warning in record.warnings)),
                at_most_s_more=state.left_s(),
            )
        )
