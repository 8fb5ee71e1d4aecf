"""A run of several machines on disk, whose trials are simulated."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

import steelyard
from steelyard.plan.make import make_plan, planned
from steelyard.plan.model import PlannedTrial
from steelyard.records.archive import Run, RunFacts
from steelyard.records.creation import create_machines
from steelyard.records.events import (
    AttemptFinished,
    AttemptStarted,
    Event,
    SessionClosed,
    SessionOpened,
)
from steelyard.records.ledger import Ledger
from steelyard.records.schema import Measured, Outcome, TrialRecord
from steelyard.records.warnings import TrialWarning
from steelyard.study.read import read_study

NAMES = ("one.example", "two.example", "three.example")
STUDY = f"""\
study: day
question: Are large systems of equations solved as often as small ones?
machines: [{", ".join(f"ssh://{name}" for name in NAMES)}]
systems: {{here: {{platform: native}}}}
factors: {{workload.n: [60, 300]}}
compare: workload.n
workload: {{use: linpack}}
trials: {{margin: 10 %, budget: {{trials: 8 per cell}}, seed: 7}}
"""
SECOND_NS = 10**9


def machines_run(
    results: Path,
    ends: Mapping[str, tuple[Event, ...]] | None = None,
    warned: Mapping[str, TrialWarning] | None = None,
) -> Run:
    """Eight visits of each level on each machine; ``ends`` are further events of a machine,
    ``warned`` what all trials of a machine are warned of.
    """
    results.mkdir(parents=True, exist_ok=True)
    path = results.parent / "day.yaml"
    path.write_text(STUDY, encoding="utf-8")
    study = read_study(path)
    parts = planned(study, make_plan(study, 7))
    facts = RunFacts(
        tool_version=steelyard.__version__,
        study=study.name,
        study_file=str(path),
        study_sha256=study.sha256,
        variant=None,
        seed=7,
        created_unix_ns=1_700_000_000 * SECOND_NS,
    )
    plans = {name: part.plan for name, part in parts.items()}
    run = create_machines(results, facts, path.read_bytes(), plans)
    for name, part in run.machines().items():
        random = np.random.default_rng(len(name))
        with Ledger(part.ledger_path) as ledger:
            ledger.append(SessionOpened())
            for visit in plans[name].visits:
                for trial in visit.trials:
                    noise = float(np.exp(random.normal(0, 0.01)))
                    warning = (warned or {}).get(name)
                    _measured(part, ledger, trial, noise, () if warning is None else (warning,))
            for event in (ends or {}).get(name, (SessionClosed(reason="budget_visits"),)):
                ledger.append(event)
    return run


def _measured(
    run: Run,
    ledger: Ledger,
    trial: PlannedTrial,
    noise: float,
    warnings: tuple[TrialWarning, ...],
) -> None:
    ledger.append(AttemptStarted(trial=trial.trial, attempt=1))
    value = noise * (20.0 if trial.cell.system == "300" else 5.0)
    record = TrialRecord(
        trial=trial.trial,
        attempt=1,
        visit=trial.visit,
        cell=trial.cell,
        outcome=Outcome.OK,
        started_unix_ns=trial.trial * SECOND_NS,
        finished_unix_ns=(trial.trial + 1) * SECOND_NS,
        phases_ns={"window": SECOND_NS},
        responses={"linpack.rate": Measured(value=value, unit="GFLOP/s")},
        warnings=warnings,
        facts={"system": {"kernel.release": "6.1", "hostname": "secret-name"}},
    )
    run.write_attempt(record, documents={}, samples={})
    ledger.append(AttemptFinished(trial=trial.trial, attempt=1, outcome=Outcome.OK))
