"""Systems at the same throughput beside idle processors: something else may limit both."""

from __future__ import annotations

import pytest
from tests.unit.judge.quick import judge_study
from tests.unit.judge.studies import a_study, kinds, measured, noisy

from steelyard.judge.findings import VerdictFinding
from steelyard.judge.kinds.verdict_notes import CapPossible
from steelyard.plan.make import make_plan
from steelyard.records.schema import Measured
from steelyard.records.warnings import Bottleneck, Resource
from steelyard.report.notes.verdict import note_text
from steelyard.study.model import ResponseSpec

THROUGHPUT = {
    "throughput": ResponseSpec(
        name="throughput", label="throughput", unit="1/s", direction="higher", primary=True
    )
}
DISK = Bottleneck(resource=Resource.DISK_BUSY_TIME, share=0.95)


def judged(
    ratio: float = 1.0,
    noise: float = 0.002,
    cpu: float | None = 0.1,
    bottleneck: Bottleneck | None = None,
) -> VerdictFinding:
    study = a_study(users=(1,), responses=THROUGHPUT)
    plan = make_plan(study, 3)
    records = [
        record.model_copy(
            update={
                "cpu_ratio": cpu,
                "bottleneck": bottleneck,
                "responses": {"throughput": Measured(value=record.value("rate"), unit="1/s")},
            }
        )
        for record in measured(plan, noisy(ratio, noise=noise))
    ]
    return judge_study(study, plan, records, run="r").workloads[0].verdicts[0]


def test_equal_systems_beside_idle_processors_may_have_met_a_cap() -> None:
    verdict = judged()
    assert verdict.word == "equivalent"
    (note,) = [each for each in verdict.notes if isinstance(each, CapPossible)]
    assert (note.cpu_baseline, note.cpu_other) == (0.1, 0.1)
    assert "use 10% and 10% of their processors: a common limit" in note_text(note)


@pytest.mark.parametrize(
    "others",
    [
        {"cpu": 0.9},
        {"cpu": None},
        {"noise": 0.015},
        {"ratio": 0.9},
        {"bottleneck": DISK},
    ],
)
def test_what_differs_varies_or_is_busy_has_met_none_that_is_seen(others: dict[str, float]) -> None:
    assert "cap_possible" not in kinds(judged(**others))  # type: ignore[arg-type]
