"""The page on injected faults holds what the newest run of the bench kept, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bench.injected import page
from bench.injected.causes import LIMITED
from bench.injected.faults import FAULTS, NO_FAULT

ROOT = Path(__file__).parents[3]


def case(caught: list[str], told: list[str]) -> dict[str, object]:
    return {
        "fault": "swap",
        "real": True,
        "caught_by": caught,
        "told": told,
        "exit_code": 0,
        "trials": 16,
    }


def test_the_page_is_that_of_a_run_that_is_kept() -> None:
    text = (ROOT / "docs" / "methods" / "injected-faults.md").read_text(encoding="utf-8")
    runs = ROOT.glob("bench/runs/*-injected*.json")
    (kept,) = [path for path in runs if f"({Path('../../bench/runs') / path.name})" in text]
    document = json.loads(kept.read_text(encoding="utf-8"))
    assert text == page.whole(document, kept.name)
    kinds = {each.words for each in (*FAULTS, *NO_FAULT, *LIMITED)}
    run = {each["fault"] for each in document["faults"]}
    run |= {each["cause"] for each in document["causes"]}
    assert run <= kinds
    not_run = text.partition("Not run")[2].partition("\n")[0]
    assert {kind for kind in kinds - run if kind not in not_run} == set()


def test_a_fault_that_was_not_caught_and_a_verdict_that_it_made_are_counted() -> None:
    found = [case(["foreign_paging (warning)"], []), case([], ["slower"])]
    table = page.faults({"faults": found})
    (row,) = [line for line in table.splitlines() if line.startswith("| swap")]
    assert row.startswith("| swap | 2 | 1 (9 to 91 %) | 1 (9 to 91 %)")
    assert "foreign_paging (warning) (1)" in row


def test_no_name_is_not_a_right_one() -> None:
    limited = {"cause": "lock", "how": "one lock", "right": ["lock"], "named": None}
    limited |= {"bottlenecks": {"none": 6}}
    assert "| 1 | 0 (0 to 79 %) | 0 | none (1) |" in page.causes({"causes": [limited]})


def test_what_is_named_behind_another_is_counted_apart() -> None:
    disk = {"cause": "disk", "how": "synced", "right": ["disk_busy_time"], "named": "machine_cpu"}
    disk |= {"bottlenecks": {"machine_cpu": 6}, "also": {"disk_busy_time": 4}}
    assert "| 1 | 0 (0 to 79 %) | 1 | machine_cpu (1) |" in page.causes({"causes": [disk]})


@pytest.mark.parametrize(
    ("count", "of", "low", "high"),
    [(10, 10, 0.722, 1.0), (0, 10, 0.0, 0.278), (5, 10, 0.237, 0.763)],
)
def test_intervals_are_those_of_wilson(count: int, of: int, low: float, high: float) -> None:
    assert page.wilson(count, of) == pytest.approx((low, high), abs=0.001)
