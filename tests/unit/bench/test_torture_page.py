"""The page on reliability holds what the newest run of the torture kept, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from bench.torture import page
from bench.torture.faults import FAULTS
from bench.torture.messages import KILL_AGENT

ROOT = Path(__file__).parents[3]
CASE = {"platform": "native", "fault": "no space", "at": 3, "met": "3 write /ledger.jsonl"}
DOCUMENT = {
    "began": "2026-11-25",
    "took_s": 60,
    "seed": 1,
    "machine": {"cores": 2},
    "load_average": 1.0,
    "steps": {"native": 9},
    "messages": {"native": 4},
    "skipped": {"container": "podman"},
}


def test_the_page_is_that_of_a_run_that_is_kept() -> None:
    text = (ROOT / "docs" / "methods" / "reliability.md").read_text(encoding="utf-8")
    runs = ROOT.glob("bench/runs/*-torture*.json")
    (kept,) = [path for path in runs if f"({Path('../../bench/runs') / path.name})" in text]
    document = json.loads(kept.read_text(encoding="utf-8"))
    assert text == page.whole(document, kept.name)
    assert {case["fault"] for case in document["cases"]} >= set(FAULTS)


def test_what_failed_is_counted_by_kind_and_named_and_what_was_not_met_is_no_success() -> None:
    failed = CASE | {"wrong": {"lost": "1 finished trials", "left": "scratch"}}
    unmet = CASE | {"met": "", "wrong": {}}
    text = page.whole(DOCUMENT | {"cases": [failed, unmet]}, "run.json")
    assert "| native | no space | 9 | 2 | 1 | 1 | 0 | 0 | 1 | 0 |" in text
    assert "1 of 2 cases failed" in text
    assert "container: not run here (podman)" in text


def test_what_happens_at_a_message_is_counted_of_all_messages() -> None:
    killed = CASE | {"fault": KILL_AGENT, "wrong": {}}
    text = page.whole(DOCUMENT | {"cases": [killed]}, "run.json")
    assert f"| native | {KILL_AGENT} | 4 | 1 | 1 |" in text


def test_sessions_are_counted_together_and_each_is_named_with_its_conditions() -> None:
    held = CASE | {"wrong": {}}
    first = DOCUMENT | {"cases": [held], "skipped": {"container": "not asked for", "disk": "root"}}
    later = {
        "began": "2026-11-27",
        "load_average": 20.0,
        "steps": {"container": 30},
        "messages": {},
    }
    second = DOCUMENT | later | {"cases": [held | {"platform": "container"}], "skipped": {}}
    text = page.whole(page.together(first, second), "run.json")
    assert "| native | no space | 9 | 1 | 1 |" in text
    assert "| container | no space | 30 | 1 | 1 |" in text
    assert "| all | | | 2 | 2 |" in text
    assert "not run here" not in text
    assert "2026-11-25, 1 minutes, seed 1, load average 1.0" in text
    assert "2026-11-27, 1 minutes, seed 1, load average 20.0" in text
