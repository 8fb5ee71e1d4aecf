"""What examples of findings are built of: one place for each new field.

Values are drawn from a seeded generator; what the judge would say of them is written by hand.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.ranking.findings import PlaceFinding, RankingFinding
from steelyard.judge.comparisons.families import Family
from steelyard.judge.findings import (
    AttemptFinding,
    BottleneckNote,
    CellFinding,
    ResponseFinding,
    RunFindings,
    StopFinding,
    VerdictFinding,
    WorkloadFindings,
)
from steelyard.judge.kinds.caveats import ConditionsMeasured, OneMachine
from steelyard.judge.kinds.checks import CarryOverEffect
from steelyard.judge.kinds.not_measured import AttemptFailed
from steelyard.judge.validity.findings import DifferenceFinding
from steelyard.plan.model import Cell
from steelyard.records.schema import FailedOperations, Outcome
from steelyard.records.warnings import Resource
from steelyard.study.model import Level

MARGIN_LOG = math.log1p(0.02)

THROUGHPUT = ResponseFinding(
    name="throughput", label="throughput", unit="messages/s", direction="higher", primary=True
)
P50 = ResponseFinding(
    name="response.p50", label="response time p50", unit="ns", direction="lower", primary=False
)
P99 = ResponseFinding(
    name="response.p99", label="response time p99", unit="ns", direction="lower", primary=False
)
CPU = ResponseFinding(
    name="service.cpu", label="CPU of the service", unit="cores", direction="lower", primary=False
)
WRITES = ResponseFinding(
    name="disk.writes", label="disk writes", unit="B/s", direction="none", primary=False
)
USERS: tuple[dict[str, Level], ...] = tuple({"load.users": n} for n in (1, 4, 16))


NO_ROOM = FailedOperations(
    phase="eom", error="smtp_4xx", count=28_740, reply="452 4.3.1 No room on the disk"
)
CLOSED = FailedOperations(phase="banner", error="conn_reset", count=18)
_DIED = AttemptFailed(trial=9, attempt=3, outcome=Outcome.SERVICE_DIED)


def verdict(word: str, percent: float | None, half: float = 0.02, **changes: Any) -> VerdictFinding:
    """A verdict on throughput of ``durable`` against ``fast`` with an even interval in logs."""
    log = None if percent is None else math.log1p(percent / 100)
    given: dict[str, Any] = {
        "response": "throughput",
        "baseline": "fast",
        "other": "durable",
        "conditions": None,
        "word": VerdictWord(word),
        "words": (VerdictWord(word),),
        "margin_log": MARGIN_LOG,
        "alpha": 0.05,
        "family": Family(response="throughput", scope="overall"),
        "estimate_log": log,
        "low_log": None if log is None else log - half,
        "high_log": None if log is None else log + half,
        "interval_level": 0.95,
        "equivalence_low_log": None if log is None else log - 0.8 * half,
        "equivalence_high_log": None if log is None else log + 0.8 * half,
        "n_baseline": 6,
        "n_other": 6,
        "decided_at_visit": 12 if word in ("faster", "slower", "equivalent") else None,
        "noise_log": 0.021,
        "visits_to_decide": None,
        "exploratory": False,
        "spread_ratio": 1.2,
        "stall_rate_baseline": 0.0,
        "stall_rate_other": 0.0,
    }
    return VerdictFinding(**(given | changes))


def per_condition(word: str, percent: float | None, half: float, users: int, **changes: Any) -> Any:
    """The same for one number of users, in the family of conditions."""
    family = Family(response="throughput", scope="conditions", places=3)
    given = {"conditions": {"load.users": users}, "family": family, "interval_level": 0.9833}
    return verdict(word, percent, half, **(given | changes))


def cell_findings(
    systems: dict[str, float],
    responses: dict[str, tuple[float, float]],
    conditions: tuple[dict[str, Level], ...] = USERS,
    visits: int = 12,
    missing: tuple[str, ...] = (),
) -> tuple[CellFinding, ...]:
    """Values of every cell: level of the response times the ratio of the system, plus noise.

    ``responses`` maps a name to its level at the first condition and the power of the system's
    ratio by which it moves; ``missing`` names systems without a value at the last condition.
    """
    found = []
    for name, (level, power) in responses.items():
        for place, condition in enumerate(conditions):
            for index, (system, ratio) in enumerate(systems.items()):
                random = np.random.default_rng([index, place, len(name)])
                middle = level * 2.1**place * ratio**power
                drawn = middle * np.exp(random.normal(0, 0.02, visits // len(systems)))
                values = tuple(round(float(v), 4) for v in drawn)
                gone = system in missing and place == len(conditions) - 1
                found.append(
                    _cell(
                        system, condition, name, () if gone else values, index=index, k=len(systems)
                    )
                )
    return tuple(found)


def _cell(
    system: str,
    condition: dict[str, Level],
    name: str,
    values: tuple[float, ...],
    *,
    index: int,
    k: int,
) -> CellFinding:
    ranked = sorted(values)
    enough = len(values) >= 6
    return CellFinding(
        cell=Cell(system=system, conditions=condition),
        response=name,
        values=values,
        trials=tuple(_trial(i, index, k, condition) for i in range(len(values))),
        median=float(np.median(values)) if values else None,
        low=ranked[0] if enough else None,
        high=ranked[-1] if enough else None,
        interval_level=0.95,
        not_measured=() if values else (_DIED,),
    )


def _trial(visit: int, index: int, systems: int, condition: dict[str, Level]) -> int:
    place = next((i for i, c in enumerate(USERS) if c == condition), 0)
    return (visit * systems + index) * len(USERS) + place + 1


def attempt_findings(cells: tuple[CellFinding, ...], response: str) -> list[AttemptFinding]:
    """One good attempt per value of the response."""
    rows = [
        AttemptFinding(
            trial=trial,
            attempt=1,
            visit=(trial - 1) // len(USERS) + 1,
            cell=cell.cell,
            outcome="ok",
            message=None,
            hint=None,
            warnings=(),
            bottleneck=BottleneckNote(
                kind=Resource.DISK_BUSY_TIME
                if cell.cell.system == "durable"
                else Resource.ONE_CORE_OF_SERVICE,
                share=0.97,
            ),
            wall_s=2.9,
            overhead_s=0.08,
        )
        for cell in cells
        if cell.response == response
        for trial in cell.trials
    ]
    return sorted(rows, key=lambda row: row.trial)


def findings(**changes: Any) -> RunFindings:
    """A decided study of two systems; ``changes`` replace fields."""
    cells = changes.get("cells") or cell_findings(
        {"fast": 1.0, "durable": 0.29},
        {
            "throughput": (3900.0, 1.0),
            "response.p50": (2.4e5, -0.9),
            "response.p99": (9.1e5, -1.1),
            "service.cpu": (0.61, 0.3),
            "disk.writes": (2.1e7, -0.5),
        },
    )
    given: dict[str, Any] = {
        "tool_version": "0.1.0",
        "study": "durable-mail",
        "question": "What does durable mail delivery cost on this disk?",
        "variant": None,
        "study_sha256": "7c211433f02071597741e6ff5a8ea34789abbf43b12f6a5d9ef9b4f0f3b5c1de",
        "seed": 20261121,
        "run": "2026-11-21-0007",
        "systems": ("fast", "durable"),
        "baseline": "fast",
        "conditions": USERS,
        "responses": (THROUGHPUT, P50, P99, CPU, WRITES),
        "verdicts": decided_verdicts(),
        "cells": cells,
        "attempts": tuple(attempt_findings(cells, "throughput")),
        "differences": (
            DifferenceFinding(
                fact="service.sync",
                values={"fast": "none", "durable": "each message"},
                declared=True,
            ),
        ),
        "stop": StopFinding(
            reason="decided",
            visits_done=12,
            visits_planned=28,
            trials_done=36,
            attempts_failed=0,
            spent_s=112.4,
        ),
        "diagnostics": (
            CarryOverEffect(
                baseline="fast", other="durable", system="fast", low_log=-0.009, high_log=0.005
            ),
        ),
        "caveats": (
            OneMachine(processor="Example 9000", kernel="6.1.0"),
            ConditionsMeasured(conditions=USERS),
        ),
    }
    own = {"name": "smtp"} | {k: v for k, v in given.items() if k in WorkloadFindings.model_fields}
    whole = {k: v for k, v in given.items() if k not in own}
    return changed(RunFindings(**whole, workloads=(WorkloadFindings(**own),)), **changes)


def changed(run: RunFindings, **changes: Any) -> RunFindings:
    """A run of one workload with other fields, whether of the run or of its workload.

    ``caveats``, which both have, are those of the workload.
    """
    (own,) = run.workloads
    of_own = {k: v for k, v in changes.items() if k in WorkloadFindings.model_fields}
    rest = {k: v for k, v in changes.items() if k not in of_own}
    return run.model_copy(update={**rest, "workloads": (own.model_copy(update=of_own),)})


def decided_verdicts() -> tuple[VerdictFinding, ...]:
    """Slower everywhere, with the other responses marked exploratory."""
    slower = [per_condition("slower", p, 0.08, n) for p, n in ((-66.2, 1), (-71.3, 4), (-74.9, 16))]
    secondary: list[tuple[str, str, float]] = [
        ("response.p50", "slower", 204.0),
        ("response.p99", "slower", 290.0),
        ("service.cpu", "faster", -31.0),
        ("disk.writes", "faster", 86.0),
    ]
    rest = [
        verdict(
            w, p, 0.1, response=n, exploratory=True, family=Family(response=n, scope="exploratory")
        )
        for n, w, p in secondary
    ]
    return (verdict("slower", -71.0, 0.07), *slower, *rest)


def ranking(
    *places: tuple[str, int, int, Any, float | None],
    conditions: dict[str, Level] | None = None,
) -> RankingFinding:
    """Systems in order: name, best and worst place, how it stands to the next, percent."""
    found = []
    for system, best, worst, following, percent in places:
        log = None if percent is None else math.log1p(percent / 100)
        half = 0.0 if log == 0 else 0.03
        found.append(
            PlaceFinding(
                system=system, best=best, worst=worst, next=following, estimate_log=log,
                low_log=None if log is None else log - half,
                high_log=None if log is None else log + half,
            )
        )  # fmt: skip
    return RankingFinding(
        response="throughput", conditions=conditions, alpha=0.1, places=tuple(found)
    )
