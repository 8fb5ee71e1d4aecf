"""Findings of a study of any size: two systems, three loads, three responses, warned trials."""

from __future__ import annotations

import numpy as np

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.comparisons.families import Family
from steelyard.judge.findings import (
    AttemptFinding,
    CellFinding,
    ResponseFinding,
    RunFindings,
    StopFinding,
    TrendFinding,
    VerdictFinding,
    WarningNote,
    WorkloadFindings,
)
from steelyard.plan.model import Cell
from steelyard.records.warnings import Figures, WarningKind

SYSTEMS, USERS = ("fast", "durable"), (1, 4, 16)
RESPONSES = (
    ("throughput", "throughput", "requests/s", "higher", 5_000.0),
    ("response.p50", "response time, median", "ns", "lower", 2e6),
    ("response.p99", "response time, 99th percentile", "ns", "lower", 9e6),
)


def findings_of(trials: int) -> RunFindings:
    """A study of about so many trials: whole visits of each system at each load."""
    visits = max(8, trials // len(USERS))
    cells = {
        (visit, place): Cell(system=SYSTEMS[visit % 2], conditions={"load.users": users})
        for visit in range(visits)
        for place, users in enumerate(USERS)
    }
    attempts = tuple(
        _attempt(number, visit, cell) for number, ((visit, _), cell) in enumerate(cells.items(), 1)
    )
    own = WorkloadFindings(
        name="http",
        conditions=tuple({"load.users": users} for users in USERS),
        responses=tuple(
            ResponseFinding(name=name, label=label, unit=unit, direction=good, primary=not place)
            for place, (name, label, unit, good, _) in enumerate(RESPONSES)
        ),
        verdicts=(_verdict(visits),),
        trends=(_trend(visits),),
        cells=tuple(_cells(attempts)),
    )
    return RunFindings(
        tool_version="bench",
        study="bench",
        question="How does a report grow?",
        variant=None,
        study_sha256="0" * 64,
        seed=1,
        run=f"bench-{trials}",
        design="big_stick",
        systems=SYSTEMS,
        baseline=SYSTEMS[0],
        stop=StopFinding(
            reason="budget_visits",
            visits_done=visits,
            visits_planned=visits,
            trials_done=len(attempts),
            attempts_failed=0,
            spent_s=12.0 * len(attempts),
        ),
        workloads=(own,),
        attempts=attempts,
        differences=(),
    )


def _attempt(number: int, visit: int, cell: Cell) -> AttemptFinding:
    warned = (
        WarningNote(
            kind=WarningKind.FOREIGN_CPU,
            state="suspect",
            figures=Figures(machine="system", cpu_ratio=0.1),
        ),
    )
    return AttemptFinding(
        trial=number,
        attempt=1,
        visit=visit + 1,
        cell=cell,
        outcome="ok",
        message=None,
        hint=None,
        warnings=warned if number % 3 == 0 else (),
        bottleneck=None,
        wall_s=12.0,
        overhead_s=2.0,
    )


def _cells(attempts: tuple[AttemptFinding, ...]) -> list[CellFinding]:
    random = np.random.default_rng(1)
    by_cell: dict[tuple[str, object], list[AttemptFinding]] = {}
    for attempt in attempts:
        key = (attempt.cell.system, attempt.cell.conditions["load.users"])
        by_cell.setdefault(key, []).append(attempt)
    found = []
    for name, *_, level in RESPONSES:
        for own in by_cell.values():
            values = level * np.exp(random.normal(0, 0.05, len(own)))
            low, middle, high = np.quantile(values, (0.2, 0.5, 0.8))
            found.append(
                CellFinding(
                    cell=own[0].cell,
                    response=name,
                    values=tuple(map(float, values)),
                    trials=tuple(attempt.trial for attempt in own),
                    median=float(middle),
                    low=float(low),
                    high=float(high),
                    interval_level=0.95,
                )
            )
    return found


def _verdict(visits: int) -> VerdictFinding:
    return VerdictFinding(
        response="throughput",
        baseline=SYSTEMS[0],
        other=SYSTEMS[1],
        conditions=None,
        word=VerdictWord.UNDECIDED,
        words=(VerdictWord.UNDECIDED,),
        margin_log=0.02,
        alpha=0.05,
        family=Family(response="throughput", scope="overall"),
        estimate_log=0.001,
        low_log=-0.03,
        high_log=0.03,
        interval_level=0.95,
        equivalence_low_log=None,
        equivalence_high_log=None,
        n_baseline=visits // 2,
        n_other=visits - visits // 2,
        decided_at_visit=None,
        noise_log=0.05,
        visits_to_decide=None,
        exploratory=False,
        spread_ratio=1.0,
        stall_rate_baseline=0.0,
        stall_rate_other=0.0,
    )


def _trend(visits: int) -> TrendFinding:
    return TrendFinding(
        response="throughput",
        baseline=SYSTEMS[0],
        other=SYSTEMS[1],
        trends=1,
        visits=tuple(range(1, visits + 1)),
        trend_log=tuple(float(v) for v in np.linspace(-0.02, 0.02, visits)),
    )
