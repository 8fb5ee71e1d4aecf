"""RunFindings that were accepted as golden documents, and what a load adds to them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from steelyard.judge.analyses.latency.findings import (
    LatencyFinding,
    LatencyIntervalFinding,
    PercentileFinding,
    PhaseFinding,
)
from steelyard.judge.analyses.resources.findings import ResourceFinding
from steelyard.judge.findings import RunFindings, WorkloadFindings
from steelyard.plan.model import Cell

FOLDER = Path(__file__).parents[2] / "golden" / "report"
CASES = ("decided", "mixed", "failed", "huge", "plain", "three", "nothing", "screened")


def golden(case: str) -> RunFindings:
    """One golden document; the overwrite switch of the golden tests renews it."""
    return RunFindings.model_validate_json((FOLDER / case / "findings.json").read_text("utf-8"))


def sampled(findings: RunFindings) -> RunFindings:
    """The same as a run whose machines were sampled and whose load kept its response times."""
    workloads = tuple(_sampled(own) for own in findings.workloads)
    return findings.model_copy(update={"workloads": workloads})


def _sampled(own: WorkloadFindings) -> WorkloadFindings:
    cells = [c.cell for c in own.cells if c.values]
    once = [cell for place, cell in enumerate(cells) if cell not in cells[:place]]
    resources = [each for number, cell in enumerate(once) for each in resources_of(cell, number)]
    latency = [latency_of(cell, number) for number, cell in enumerate(once)]
    return own.model_copy(update={"resources": tuple(resources), "latency": tuple(latency)})


def resources_of(cell: Cell, seed: int) -> list[ResourceFinding]:
    """A busy service on a machine of two processors, and a disk; no steal counter at all."""
    at_s = tuple(round(-2 + 0.25 * i, 2) for i in range(50))
    random = np.random.default_rng(seed)

    def of(resource: Any, unit: str, level: float, limit: float | None) -> ResourceFinding:
        middle = [round(float(v), 3) for v in level * random.uniform(0.9, 1.1, len(at_s))]
        return ResourceFinding(
            cell=cell,
            resource=resource,
            unit=unit,
            limit=limit,
            trials=6,
            refused=0,
            window_s=10.0,
            at_s=at_s,
            median=tuple(middle),
            low=tuple(0.8 * value for value in middle),
            high=tuple(1.2 * value for value in middle),
        )

    return [
        of("service_cpu", "cores", 0.5 + 0.05 * seed, 2.0),
        of("disk_write", "B/s", 3e6, None),
    ]


def latency_of(cell: Cell, seed: int) -> LatencyFinding:
    """Ten thousand answers in each of six trials, a tenfold of time from the median to the last."""
    median_ns = (seed + 1) * 1_000_000
    tail = tuple((round(median_ns / 2 * 1.3**i), max(1, round(60_000 * 0.5**i))) for i in range(17))
    shares = {0.5: 1.0, 0.9: 2.0, 0.95: 3.0, 0.99: 6.0}
    return LatencyFinding(
        cell=cell,
        trials=6,
        answered=60_000,
        failed=3,
        percentiles=(
            *(
                PercentileFinding(
                    share=share,
                    value_ns=median_ns * times,
                    low_ns=median_ns * times * 0.9,
                    high_ns=median_ns * times * 1.2,
                    interval_level=0.95,
                    trials=6,
                    needed=round(10 / (1 - share)),
                )
                for share, times in shares.items()
            ),
            PercentileFinding(
                share=0.999,
                value_ns=None,
                low_ns=None,
                high_ns=None,
                interval_level=0.95,
                trials=2,
                needed=10_000,
            ),
        ),
        tail=tail,
        phases=(
            PhaseFinding(name="ttfb", operations=60_000, mean_ns=median_ns * 0.9),
            PhaseFinding(name="connect", operations=6_000, mean_ns=median_ns * 0.5),
        ),
        over_time=tuple(
            LatencyIntervalFinding(
                start_s=0.2 * i,
                bars=((median_ns // 2, 300), (median_ns, 600 + i), (5 * median_ns, 3)),
            )
            for i in range(50)
        ),
    )
