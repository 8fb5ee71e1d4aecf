"""The page shows the last stored run, to the letter."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bench.engine import __main__ as bench
from bench.engine import page

ROW = {
    "name": "web",
    "peer": "peer",
    "unit": "CPU/operation",
    "goal": "<= 0.7",
    "value": 0.75,
    "low": 0.72,
    "high": None,
    "verdict": "better",
    "count": 10,
    "met": False,
    "least": 0.72,
    "reason": None,
    "failed": False,
}


def newest(block: page.Block) -> dict[str, Any] | None:
    """The last whole run of a kind, with its name."""
    stored = [run for run in page.RUNS.glob("*.json") if block.is_of(run)]
    if not stored:
        return None
    run = max(stored, key=lambda run: block.place(run) or ())
    return {**json.loads(run.read_text(encoding="utf-8")), "name": run.name}


def newest_summary() -> list[dict[str, Any]]:
    run = newest(page.ENGINE)
    if run is None:
        pytest.skip("no run of the engine has been judged yet")
    summary: list[dict[str, Any]] = run["summary"]
    return summary


@pytest.mark.parametrize("block", page.BLOCKS, ids=lambda block: block.word)
def test_the_page_shows_the_last_stored_run(block: page.Block) -> None:
    run = newest(block)
    text = page.NO_RUN if run is None else block.rendered(run, run["name"])
    assert page.shown(block) == text


def test_a_part_of_the_bench_is_no_run_of_it() -> None:
    names = ("2026-11-21-engine.json", "2026-11-21-engine-2.json", "2026-11-21-engine-part.json")
    assert [page.ENGINE.place(Path(name)) for name in names] == [
        ("2026-11-21", 1),
        ("2026-11-21", 2),
        None,
    ]


def last_line(row: dict[str, Any]) -> list[str]:
    return [cell.strip() for cell in page.judged_table([row]).splitlines()[-1].split("|")[1:-1]]


def test_a_goal_that_is_missed_stands_beside_what_the_minimal_client_reaches() -> None:
    assert last_line(ROW) == [
        *("web", "peer", "CPU/operation", "<= 0.7", "0.75", "0.72 to unbounded", "better", "10"),
        *("**no**", "0.72"),
    ]


@pytest.mark.parametrize(("failed", "word"), [(True, "failed"), (False, "not measured")])
def test_what_gave_no_figure_is_no_number(failed: bool, word: str) -> None:
    gone = {**ROW, "value": None, "failed": failed, "reason": "peer is not installed"}
    assert last_line(gone)[4:] == [word, "", "", "", "?", ""]


def test_every_goal_that_is_missed_has_its_reason_on_the_page() -> None:
    explained = page.PAGE.read_text(encoding="utf-8").partition("## What is missed, and why")[2]
    missed = {row["name"] for row in newest_summary() if row["met"] is False}
    assert [name for name in missed if f"**{name}**" not in explained] == []


def test_every_contest_of_the_bench_is_in_the_table() -> None:
    shown = {row["name"] for row in newest_summary()}
    assert {one.name for one in bench.everything()} <= shown
