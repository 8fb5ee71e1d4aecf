"""The page shows the last stored run, to the letter."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from bench.engine import __main__ as bench
from bench.engine import page

RUNS = Path(__file__).parents[3] / "bench" / "runs"
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


def newest(word: str) -> Path:
    """Stored runs are named after their day, later ones of a day with a number."""

    def place(path: Path) -> tuple[str, int]:
        day, number = re.fullmatch(rf"([\d-]{{10}})-{word}(?:-(\d+))?", path.stem).groups()  # type: ignore[union-attr]
        return day, int(number or 1)

    return max(RUNS.glob(f"*-{word}*.json"), key=place)


@pytest.mark.parametrize(
    ("block", "word"), [(page.ENGINE, "engine"), (page.KERNELS, "kernels-against-peers")]
)
def test_the_page_shows_the_last_stored_run(block: page.Block, word: str) -> None:
    run = newest(word)
    assert page.shown(block) == block.rendered(
        json.loads(run.read_text(encoding="utf-8")), run.name
    )


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
    summary = json.loads(newest("engine").read_text(encoding="utf-8"))["summary"]
    missed = {row["name"] for row in summary if row["met"] is False}
    assert {name for name in missed if f"- **{name}**: " not in explained} <= {"sampler"}


def test_every_contest_of_the_bench_is_in_the_table() -> None:
    document = json.loads(newest("engine").read_text(encoding="utf-8"))
    shown = {row["name"] for row in document["summary"]}
    assert {one.name for one in bench.everything()} <= shown
