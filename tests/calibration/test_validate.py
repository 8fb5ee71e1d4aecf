"""A run of validation goes to the emptiest cells, can be ended at any time, and goes on later."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.calibration import validate
from tests.calibration.goals import Standing, of_rate
from tests.calibration.store import Store
from tests.calibration.tally import Tally, Task
from tests.calibration.tasks import tasks

from steelyard import cluster

NEVER = float("inf")


def a_task(cell: str, seen: list[tuple[str, int]], most: int = 20, goal: str = "G1") -> Task:
    def run(batch: int, studies: int) -> Tally:
        seen.append((cell, batch))
        return Tally(studies, Counter(wrong=1), Counter({8: studies}))

    return Task(goal, cell, {"noise": cell, "design": "two"}, run, most, batch=4)


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("results")
    monkeypatch.setattr(validate, "Store", lambda goal: Store(goal, folder))


def test_the_cell_with_the_fewest_studies_is_next() -> None:
    seen: list[tuple[str, int]] = []
    assert list(validate.run([a_task("one", seen)], 8, NEVER))
    both = [a_task("one", seen), a_task("two", seen)]
    list(validate.run(both, 12, NEVER))
    assert seen == [("one", 0), ("one", 1), ("two", 0), ("two", 1), ("one", 2), ("two", 2)]


def test_every_goal_has_a_cell_before_any_has_two() -> None:
    seen: list[tuple[str, int]] = []
    cells = [a_task("one", seen), a_task("two", seen), a_task("other", seen, goal="G2")]
    list(validate.run(cells, 8, NEVER))
    assert [cell for cell, _ in seen[:2]] == ["one", "other"]


def test_what_is_full_with_fewer_studies_waits_for_the_others() -> None:
    seen: list[tuple[str, int]] = []
    list(validate.run([a_task("one", seen), a_task("two", seen, most=8, goal="G2")], 20, NEVER))
    assert [cell for cell, _ in seen] == ["one", "two", "one", "one", "two", "one", "one"]


def test_a_cell_of_which_there_is_no_more_is_full() -> None:
    seen: list[tuple[str, int]] = []
    list(validate.run([a_task("one", seen, most=4), a_task("two", seen)], 8, NEVER))
    assert seen == [("one", 0), ("two", 0), ("two", 1)]


def test_a_batch_of_another_judge_is_not_added_to() -> None:
    seen: list[tuple[str, int]] = []
    task = a_task("one", seen)
    store = validate.Store("G1")
    store.begin(task.cell, task.about, "another judge").studies = 400
    store.keep()
    list(validate.run([task], 4, NEVER))
    found = validate.Store("G1").get("one")
    assert found is not None
    assert (found.studies, found.batches) == (4, 1)


def test_without_time_nothing_is_run() -> None:
    seen: list[tuple[str, int]] = []
    assert not list(validate.run([a_task("one", seen)], 8, time.monotonic() - 1))
    assert not seen


def test_cells_of_which_all_is_to_be_run_are_whole_batches() -> None:
    uneven = [task.cell for task in tasks() if task.most % task.batch]
    whole = {task.cell for task in tasks() if task.goal in {"G13", "G14"}}
    assert set(uneven) <= whole


def test_no_error_in_a_few_studies_is_not_enough() -> None:
    assert of_rate(0, 64, 0.055) is Standing.OPEN
    assert of_rate(0, 128, 0.055) is Standing.REACHED


def cells_without_times(folder: Path, goal: str) -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = json.loads((folder / f"{goal.lower()}.json").read_text())
    return [{k: v for k, v in each.items() if k not in {"seconds", "dates"}} for each in documents]


def test_workers_that_are_killed_in_mid_work_leave_the_same_results_as_one_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    wanted = [task for task in tasks() if task.goal == "G2"][:2]
    stored = {}
    for where in (None, "local:2"):
        folder = tmp_path / str(where)
        monkeypatch.setattr(validate, "Store", partial(Store, folder=folder))
        with cluster.opened(where, ("steelyard", "tests.calibration")) as mapped:
            lines = validate.run(wanted, 96, NEVER, None if where is None else mapped)
            for done, _ in enumerate(lines, start=1):
                if where is not None and done in {1, 3}:
                    worker = multiprocessing.active_children()[0].pid
                    assert worker is not None
                    os.kill(worker, signal.SIGKILL)
        stored[where] = cells_without_times(folder, "G2")
    assert stored[None] == stored["local:2"]
    assert {each["studies"] for each in stored[None]} == {96}
