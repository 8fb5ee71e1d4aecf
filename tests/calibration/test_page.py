"""The page is what the stored results say, and no goal is called reached on less."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.calibration import page
from tests.calibration.goals import GOALS, Standing, of_rate, together
from tests.calibration.store import Store
from tests.calibration.tasks import tasks


def test_the_page_is_what_the_stored_results_say() -> None:
    """``make validate-page`` writes it again."""
    assert page.PAGE.read_text(encoding="utf-8") == page.text()


def test_every_goal_has_a_row_and_what_was_not_run_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tests.calibration.page.Store", lambda goal: Store(goal, tmp_path))
    monkeypatch.setattr("tests.calibration.sections_live.kept", list)
    rows = [line for line in page.text().splitlines() if line.startswith("| G")]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == list(GOALS)
    assert all(row.endswith(f"| {Standing.NOT_MEASURED} |") for row in rows)


def test_cells_of_an_earlier_judge_are_reported(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = Store("G22", tmp_path)
    for cell, judge in (("one", "of before"), ("two", "of now")):
        store.begin(cell, {}, judge)
    store.keep()
    monkeypatch.setattr("tests.calibration.page.Store", lambda goal: Store(goal, tmp_path))
    assert page._outdated("G22", {"G22": "of now"}) == "**1 of 2 cells by an earlier judge**"
    assert page._outdated("G21", {"G21": "of now"}) == ""


@pytest.mark.validate
def test_the_page_was_written_with_the_judge_of_today() -> None:
    """``make validate-page`` writes it again, with what was measured before."""
    assert json.loads(page.JUDGES.read_text(encoding="utf-8")) == {
        goal: page.fingerprint(goal) for goal in page.JUDGED
    }


def test_no_two_cells_of_a_goal_share_a_name() -> None:
    names = [(task.goal, task.cell) for task in tasks()]
    assert len(set(names)) == len(names)


def test_a_rate_is_reached_only_when_its_bound_is() -> None:
    assert of_rate(45, 1_000, 0.055) is Standing.OPEN
    assert of_rate(900, 20_000, 0.055) is Standing.REACHED
    assert of_rate(70, 1_000, 0.055) is Standing.OPEN
    assert of_rate(1_400, 20_000, 0.055) is Standing.NOT_REACHED


def test_one_cell_that_is_not_reached_is_not_hidden_by_the_others() -> None:
    assert together([Standing.REACHED, Standing.NOT_REACHED, Standing.OPEN]) is Standing.NOT_REACHED
    assert together([]) is Standing.NOT_MEASURED


def test_runs_add_up_and_another_judge_begins_anew(tmp_path: Path) -> None:
    for judge, wanted in (("one", 5), ("one", 10), ("two", 5)):
        store = Store("G1", tmp_path)
        result = store.begin("cell", {"noise": "x"}, judge)
        result.studies += 5
        result.counts.update(wrong=1)
        result.stops.update({8: 5})
        store.keep()
        found = Store("G1", tmp_path).get("cell")
        assert found is not None
        assert found.studies == wanted
        assert found.quantile(0.5) == 8
