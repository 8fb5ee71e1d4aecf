"""Runs of a study over time: which are comparable, what changed, what the machine did."""

from __future__ import annotations

import math
from typing import Any

import pytest

from steelyard.history.point import ComparisonPoint, HostPoint, RunPoint
from steelyard.history.series import history_of
from steelyard.inference.sequential import VerdictWord
from steelyard.judge.findings import ResponseFinding

THROUGHPUT = ResponseFinding(
    name="throughput", label="throughput", unit="requests/s", direction="higher", primary=True
)


def comparison(other: str = "new", where: str | None = None) -> ComparisonPoint:
    return ComparisonPoint(
        key=f"{other}|{where}", workload=None, response=THROUGHPUT, baseline="old", other=other,
        where=where, word=VerdictWord.SLOWER, words=(VerdictWord.SLOWER,), estimate_log=-0.3,
        low_log=-0.4, high_log=-0.2, margin_log=0.05, visits=12, side=0.025,
        whole_low_log=-0.4, whole_high_log=-0.2,
    )  # fmt: skip


def host(fingerprint: str = "a") -> HostPoint:
    return HostPoint(fingerprint=fingerprint, name=None, cpu=None, processors=None, kernel=None)


def run(day: int, **changes: Any) -> RunPoint:
    facts: dict[str, Any] = {
        "run": f"s/{day}", "study": "s", "study_sha256": "0" * 64, "question": "?",
        "variant": None, "created_unix_ns": day, "tool_version": "0.1.0", "stop": "decided",
        "systems": ("old", "new"), "host": host(), "tested": {}, "comparisons": (comparison(),),
        "reference_kernel": {"reference_kernel.cpu": 100.0}, "is_randomised": True,
    }  # fmt: skip
    return RunPoint(**{**facts, **changes})


def test_runs_stand_in_the_order_of_time() -> None:
    assert [e.run.created_unix_ns for e in history_of([run(3), run(1), run(2)]).entries] == [
        1,
        2,
        3,
    ]


@pytest.mark.parametrize(
    "changes",
    [{"host": host("b")}, {"host": None}, {"study_sha256": "1" * 64}, {"variant": "small"}],
)
def test_other_hosts_study_files_and_variants_are_not_comparable(changes: dict[str, Any]) -> None:
    entries = history_of([run(1, **changes), run(2), run(3)]).entries
    assert [entry.is_comparable for entry in entries] == [False, True, True]
    assert entries[0].reference_log is None


def test_a_drift_of_the_machine_is_seen_beside_the_effect() -> None:
    kernels = ({"reference_kernel.cpu": 100.0}, {"reference_kernel.cpu": 80.0}, {})
    runs = [run(day, reference_kernel=each) for day, each in enumerate(kernels, start=1)]
    found = history_of(runs)
    assert found.reference_part == "reference_kernel.cpu"
    assert [e.reference_log for e in found.entries] == [0.0, pytest.approx(math.log(0.8)), None]


def test_what_is_not_comparable_is_no_reference_and_no_run_before() -> None:
    tested = [{"new": {"service.version": (version,)}} for version in ("1", "2", "3")]
    runs = [run(1, tested=tested[0]), run(2, tested=tested[1], host=host("b")),
            run(3, tested=tested[2])]  # fmt: skip
    entries = history_of(runs).entries
    change = entries[2].changes[0]
    assert (change.system, change.before, change.after) == ("new", ("1",), ("3",))
    assert entries[0].changes == entries[1].changes == ()


def test_a_comparison_is_chosen_by_its_key_and_may_be_missing_in_a_run() -> None:
    older = run(1, comparisons=(comparison(), comparison(where="4 users")))
    newer = run(2, comparisons=(comparison(),))
    found = history_of([older, newer], "new|4 users")
    assert [entry.point is None for entry in found.entries] == [False, True]
    assert history_of([older, newer], "none").chosen == "new|None"


def test_a_study_without_runs_or_comparisons_has_a_history() -> None:
    assert history_of([]).entries == ()
    assert history_of([run(1, comparisons=())]).chosen is None
