"""The opening of a session: what happens between its first event and its first trial."""

from __future__ import annotations

from pathlib import Path

from steelyard.judge.analyses.planning.resolution import resolutions
from steelyard.judge.stopping.elimination import is_measured, still_measured
from steelyard.plan.model import Cell, Plan, PlannedTrial
from steelyard.records.archive import Run
from steelyard.records.events import (
    AttemptStarted,
    Event,
    NoiseMeasured,
    WallClock,
    WallClocksCompared,
)
from steelyard.records.schema import AttemptFailure, Outcome, TrialRecord
from steelyard.study.file.places import StudyPlaces
from steelyard.study.model import FIND
from steelyard.trial.attempt.reference_kernel import measure_noise_at_rest
from steelyard.trial.preflight import Preflight
from steelyard.trial.session_state.calibrate import cell_key
from steelyard.trial.session_state.context import SessionContext
from steelyard.trial.session_state.progress import Progress, torn_attempts
from steelyard.trial.session_state.recalibrate import calibrate_cells
from steelyard.trial.session_state.watcher import Watcher
from steelyard.trial.shortfall import missing_before_start


def prepared(
    session: SessionContext, progress: Progress, before: list[Event], watcher: Watcher
) -> bool:
    """Noise at rest, then calibration; false when the user stops one of them."""
    try:
        _measure_noise(session, before, watcher)
        _calibrate(session, progress, watcher)
    except KeyboardInterrupt:
        return False
    return True


def refuse_what_cannot_start(session: SessionContext, progress: Progress) -> None:
    """Preflight checks. A machine that cannot be reached now may be reached by its trials.

    Raises:
        NeedsMissingError: something is missing that the operator has to fix.
        StudyError: the recipe of an image has mistakes.
        KeyboardInterrupt: the user asks to stop.
    """
    look = Preflight(
        session.study,
        session.machines.at,
        str(session.run.path),
        session.study_folder,
        session.interrupt.check,
    )
    found = look.look(_still_to_measure(session, progress))
    if look.walls:
        seen = (
            WallClock(machine=name, ahead_ns=wall.ahead_ns, uncertainty_ns=wall.uncertainty_ns)
            for name, wall in look.walls.items()
        )
        session.ledger.append(WallClocksCompared(machines=tuple(seen)))
    if found:
        facts = session.run.facts()
        raw = session.run.study_path.read_bytes()
        places = StudyPlaces.of(raw, Path(facts.study_file), facts.variant)
        raise missing_before_start(found, places)


def _measure_noise(session: SessionContext, before: list[Event], watcher: Watcher) -> None:
    """Measures once in a run what the machines are like at rest."""
    if any(isinstance(event, NoiseMeasured) for event in before):
        return
    watcher.calibrating()
    rows = measure_noise_at_rest(session)
    if rows:
        session.ledger.append(NoiseMeasured(series=tuple(rows)))
        watcher.noise_measured(resolutions(rows, session.study.trials))


def _calibrate(session: SessionContext, progress: Progress, watcher: Watcher) -> None:
    """Calibrates the generator for what is still to be measured."""
    watcher.calibrating()
    calibrate_cells(session, _still_to_measure(session, progress))


def _still_to_measure(session: SessionContext, progress: Progress) -> list[Cell]:
    """Every cell that a further trial measures.

    Raises:
        KeyboardInterrupt: the user asks to stop.
    """
    study, block = session.study, progress.block(session.plan)
    with session.interrupt.waiting():
        still = still_measured(study, session.plan, progress.records, block)
    compared = {visit.visit for visit in session.plan.visits}
    trials = (trial for visit in session.plan.every_visit for trial in visit.trials)
    cells = {
        cell_key(t.cell): t.cell
        for t in trials
        if (is_measured(study, t, still) or t.visit not in compared)
        and not progress.finished(t)
        and FIND not in t.cell.conditions
    }
    return list(cells.values())


def record_torn_attempts(run: Run, plan: Plan, events: list[Event]) -> None:
    """Writes the records that a killed controller could not: ``controller_lost``."""
    trials = {trial.trial: trial for visit in plan.every_visit for trial in visit.trials}
    for event in torn_attempts(events, run.records()):
        record = _lost(trials[event.trial], event)
        run.write_attempt(record, documents={}, samples={})


def _lost(trial: PlannedTrial, event: AttemptStarted) -> TrialRecord:
    failure = AttemptFailure(
        phase="unknown",
        message="the controller ended during this attempt",
        hint="it was killed, or the machine went down",
    )
    return TrialRecord(
        trial=trial.trial,
        attempt=event.attempt,
        visit=trial.visit,
        cell=trial.cell,
        outcome=Outcome.CONTROLLER_LOST,
        failure=failure,
        started_unix_ns=event.at_unix_ns,
        finished_unix_ns=event.at_unix_ns,
        phases_ns={},
        responses={},
        facts={},
    )
