"""Simulated runs of studies as an author writes them, judged: what every figure must stay.

Each case is a study text and a law for its responses. Records are built from the plan, so that a
change of the stored format changes nothing here; the seed is that of the case alone.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from steelyard.judge.verdict import judge_study
from steelyard.plan.make import make_plan
from steelyard.plan.model import PlannedTrial
from steelyard.records.schema import Measured, Outcome, TrialRecord
from steelyard.study.model import Study
from steelyard.study.read import read_study_bytes

Law = Callable[[PlannedTrial, np.random.Generator], float]

_TWO = """
systems:
  one: {platform: native, service: {use: sink-http}}
  two: {platform: native, service: {use: sink-http, threads: 2}}
"""
_THREE = _TWO + "  three: {platform: native, service: {use: sink-http, threads: 3}}\n"
_HTTP = """
workload: {use: http}
responses: {throughput: {primary: true}, response.p50: {}}
"""


@dataclass(frozen=True)
class Case:
    """A study text without its header, and the mean response of a trial on the natural scale."""

    text: str
    law: Law


def _level(**of: float) -> Law:
    """1,000 times the ratio of the system, with 1 % of independent noise."""

    def law(trial: PlannedTrial, random: np.random.Generator) -> float:
        return 1000 * of.get(trial.cell.system, 1.0) * math.exp(random.normal(0, 0.01))

    return law


def _saturating(trial: PlannedTrial, random: np.random.Generator) -> float:
    users = float(trial.cell.conditions.get("load.users", 1))
    ratio = 0.8 if trial.cell.system == "two" else 1.0
    rate = 500 * users / (1 + 0.05 * (users - 1) + 0.002 * users * (users - 1))
    return ratio * rate * math.exp(random.normal(0, 0.01))


def _stalling(trial: PlannedTrial, random: np.random.Generator) -> float:
    stall = 0.3 if random.random() < 0.2 else 1.0
    return stall * _level(two=1.15)(trial, random)


def _drifting(trial: PlannedTrial, random: np.random.Generator) -> float:
    return _level(two=0.97)(trial, random) * math.exp(-0.004 * trial.visit)


def _turning(trial: PlannedTrial, random: np.random.Generator) -> float:
    return _level(two=0.5 if trial.visit < 12 else 1.6)(trial, random)


def _unequal(trial: PlannedTrial, random: np.random.Generator) -> float:
    wide = 0.12 if trial.cell.system == "two" else 0.01
    return 1000 * math.exp(random.normal(0.1 if trial.cell.system == "two" else 0, wide))


def _screened(trial: PlannedTrial, random: np.random.Generator) -> float:
    at = trial.cell.conditions
    effect = 0.3 * (at["load.users"] == 8) + 0.05 * (at["workload.keep_alive"] is True)
    return 1000 * math.exp(effect + random.normal(0, 0.02))


_TRIALS = "trials: {margin: 5 %, window: 1 s, budget: {trials: 12 per cell}}\n"
_LONG = "trials: {margin: 5 %, window: 1 s, budget: {trials: 24 per cell}}\n"
_SCREEN = """
systems:
  server: {platform: native, service: {use: sink-http}}
screen:
  system: server
  factors:
    load.users: [1, 8]
    workload.keep_alive: [true, false]
    service.body: [1 KiB, 64 KiB]
trials: {margin: 5 %, window: 1 s, budget: {trials: 6 per cell}}
"""
_SEVERAL = """
systems:
  bare: {platform: native}
  guest: {platform: podman, image: none, instances: 2}
workloads:
  cpu: {use: linpack, n: [100, 200]}
  disk: {command: ["true"]}
trials: {margin: 5 %, window: 1 s, budget: {trials: 12 per cell}}
"""
CASES = {
    "slower": Case(_TWO + _HTTP + _TRIALS, _level(two=0.7)),
    "equal": Case(_TWO + _HTTP + _LONG, _level()),
    "slightly faster": Case(_TWO + _HTTP + _LONG, _level(two=1.02)),
    "curve": Case(_TWO + _HTTP + "load: {users: [1, 2, 4, 8, 16, 32]}\n" + _TRIALS, _saturating),
    "three systems": Case(_THREE + _HTTP + _LONG, _level(two=0.7, three=1.02)),
    "all pairs": Case(
        _THREE + _HTTP + _LONG + "judge: {contrasts: all pairs}\n", _level(two=0.7, three=1.02)
    ),
    "stalls": Case(_TWO + _HTTP + _LONG, _stalling),
    "drift": Case(_TWO + _HTTP + _LONG, _drifting),
    "turning effect": Case(_TWO + _HTTP + _LONG, _turning),
    "unequal spreads": Case(_TWO + _HTTP + _LONG, _unequal),
    "claims": Case(
        _TWO
        + _HTTP
        + _LONG
        + "claims:\n  - {id: keeps, system: two, response: throughput, at_least: 0.9 of one}\n",
        _level(two=0.97),
    ),
    "screening": Case(_HTTP + _SCREEN, _screened),
    "several workloads": Case(_SEVERAL, _level(guest=0.8)),
}


def study_of_case(name: str) -> Study:
    head = f"study: {name.replace(' ', '-')}\nquestion: Which is faster?\n"
    return read_study_bytes((head + CASES[name].text).encode(), Path("study.yaml"))


def record_of(study: Study, trial: PlannedTrial, value: float) -> TrialRecord:
    specs = [spec for measured in study.measured.values() for spec in measured.responses.values()]
    number = trial.trial
    return TrialRecord(
        trial=number,
        attempt=1,
        visit=trial.visit,
        cell=trial.cell,
        outcome=Outcome.OK,
        started_unix_ns=number * 10**9,
        finished_unix_ns=(number + 1) * 10**9,
        phases_ns={"restore": 10**8, "warmup": 10**8, "window": 7 * 10**8},
        responses={
            spec.name: Measured(
                value=value if spec.direction == "higher" else 1e9 / value, unit=spec.unit
            )
            for spec in specs
        },
        facts={"system": {"kernel.release": "6.1", "service.threads": trial.cell.system}},
    )


def findings(name: str) -> BaseModel:
    """The findings of a case whose every planned trial was measured."""
    study = study_of_case(name)
    plan = make_plan(study, seed=7)
    random = np.random.default_rng(zlib.crc32(name.encode()))
    records = [
        record_of(study, trial, CASES[name].law(trial, random))
        for visit in plan.every_visit
        for trial in visit.trials
    ]
    return judge_study(study, plan, records, run="r")


_OF_VERDICTS = (
    *("response", "baseline", "other", "conditions", "word", "words", "n_baseline", "n_other"),
    *("decided_at_visit", "estimate_log", "low_log", "high_log", "interval_level"),
    *("equivalence_low_log", "equivalence_high_log", "margin_log", "alpha", "noise_log"),
    *("visits_to_decide", "spread_ratio"),
)
_NO_FIGURES = {
    *("attempts", "stop", "notes", "caveats", "diagnostics"),
    *("values", "trials", "seed", "schema_version"),
}


def figures(found: BaseModel) -> dict[str, list[Any]]:
    """Verdicts as rows, and every other number by the name of its field, each once and in order."""
    kept: dict[str, list[Any]] = {}
    for name, value in _leaves(found.model_dump(mode="json"), ""):
        known = kept.setdefault(name, [])
        if value not in known:
            known.append(value)
    return {name: sorted(kept[name], key=str) for name in sorted(kept)}


def _leaves(part: Any, name: str) -> Iterator[tuple[str, Any]]:
    if isinstance(part, dict) and "estimate_log" in part and "word" in part:
        yield "verdicts", [_rounded(part.get(field)) for field in _OF_VERDICTS]
    elif isinstance(part, dict):
        for key, value in part.items():
            if key not in _NO_FIGURES:
                yield from _leaves(value, key)
    elif isinstance(part, list):
        for value in part:
            yield from _leaves(value, name)
    elif isinstance(part, float) or name in ("word", "state"):
        yield name, _rounded(part)


def _rounded(value: Any) -> Any:
    return float(f"{value:.7g}") if isinstance(value, float) else value
