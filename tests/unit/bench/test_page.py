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
    "median": 0.75,
    "low": 0.7,
    "high": 0.8,
    "met": False,
    "least": 0.72,
    "reason": None,
    "failed": False,
}


def newest(block: page.Block) -> dict[str, Any]:
    """The last whole run of a kind, with its name."""
    run = max(filter(block.is_of, page.RUNS.glob("*.json")), key=lambda run: block.place(run) or ())
    return {**json.loads(run.read_text(encoding="utf-8")), "name": run.name}


@pytest.mark.parametrize("block", page.BLOCKS, ids=lambda block: block.word)
def test_the_page_shows_the_last_stored_run(block: page.Block) -> None:
    run = newest(block)
    assert page.shown(block) == block.rendered(run, run["name"])


def test_a_part_of_the_bench_is_no_run_of_it() -> None:
    names = ("2026-11-21-engine.json", "2026-11-21-engine-2.json", "2026-11-21-engine-part.json")
    assert [page.ENGINE.place(Path(name)) for name in names] == [
        ("2026-11-21", 1),
        ("2026-11-21", 2),
        None,
    ]


def test_a_goal_that_is_missed_stands_beside_what_the_least_client_reaches() -> None:
    assert page.engine_cells(ROW) == [
        *("web", "peer", "CPU/operation", "<= 0.7", "0.75", "0.7 to 0.8", "**no**", "0.72")
    ]


@pytest.mark.parametrize(("failed", "word"), [(True, "failed"), (False, "not measured")])
def test_what_gave_no_figure_is_no_number(failed: bool, word: str) -> None:
    gone = {**ROW, "median": None, "failed": failed, "reason": "peer is not installed"}
    assert page.engine_cells(gone)[4:] == [word, "", "?", ""]


def test_every_goal_that_is_missed_has_its_reason_on_the_page() -> None:
    explained = page.PAGE.read_text(encoding="utf-8").partition("## What is missed, and why")[2]
    summary = newest(page.ENGINE)["summary"]
    missed = {row["name"] for row in summary if row["met"] is False}
    assert [name for name in missed if f"**{name}**" not in explained] == []


def test_every_contest_of_the_bench_is_in_the_table() -> None:
    shown = {row["name"] for row in newest(page.ENGINE)["summary"]}
    assert {one.name for one in bench.everything()} <= shown
