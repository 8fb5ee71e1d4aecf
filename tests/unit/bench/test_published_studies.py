"""What ``make studies-full`` runs: every study and variant that it lists can be planned."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from bench.published import forecast as forecasts
from bench.published.forecast import Forecast, forecast, lacking
from bench.published.listing import Listing, Task, listing

from steelyard.cli.doctor.preflight import Looked

ROOT = Path(__file__).parents[3]
LIST = ROOT / "bench" / "published" / "studies.yaml"
BEYOND = ("home-server/boards", "tuned-power", "tuned-test-day")


def listed(*also: str, reduced: bool = False, brief: bool = False) -> Listing:
    return listing(LIST, ROOT / "studies", reduced=reduced, also=also, brief=brief)


TASKS = [*listed(*BEYOND).tasks, *listed(reduced=True).tasks]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.title)
def test_every_listed_study_can_be_planned(task: Task) -> None:
    planned = forecast(task)
    assert planned.trials >= planned.visits > 0
    assert planned.cells > 0
    assert planned.takes_s > 0
    assert planned.disk_bytes > 0


def test_the_brief_series_is_the_reduced_one_with_a_shorter_budget_each() -> None:
    small = {task.name: forecast(task).most_s or math.inf for task in listed(reduced=True).tasks}
    brief = {task.name: forecast(task).most_s for task in listed(brief=True).tasks}
    assert brief.keys() == small.keys()
    assert all(seconds and seconds < small[name] for name, seconds in brief.items())


@pytest.mark.parametrize("reduced", [False, True], ids=["full", "reduced"])
def test_all_five_comparisons_are_run(reduced: bool) -> None:
    found = listed(reduced=reduced)
    assert {task.source for task in found.tasks} == {"S1", "S2", "S3", "S4", "S5"}
    assert set(BEYOND) <= set(found.left_out)


def test_what_needs_more_machines_runs_where_it_is_named() -> None:
    assert "tuned-power" in {task.name for task in listed("tuned-power").tasks}
    with pytest.raises(KeyError):
        listed("tuned-powr")


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[Forecast]:
    """Studies with guests and one without, on a machine that lacks nothing but KVM."""
    local = SimpleNamespace(open=lambda _: None)
    monkeypatch.setattr(forecasts, "Machines", lambda: nullcontext(local))
    monkeypatch.setattr(forecasts, "look_now", lambda *_: Looked())
    monkeypatch.setattr(forecasts, "kvm_fails", lambda _: "it hangs")
    names = {"mail-scalability", "tuned-profiles", "tuned-power"}
    return [forecast(task) for task in listed("tuned-power").tasks if task.name in names]


def test_at_the_published_size_no_guest_is_emulated(
    planned: list[Forecast], tmp_path: Path
) -> None:
    ((cause, names),) = lacking(planned, tmp_path, reduced=False).items()
    assert "it hangs" in cause
    assert names == ["mail-scalability", "tuned-profiles"]
    assert lacking(planned, tmp_path, reduced=True) == {}


def test_results_that_do_not_fit_on_the_disk_are_missing_room(
    planned: list[Forecast], tmp_path: Path
) -> None:
    large = [replace(each, disk_bytes=2**80) for each in planned]
    ((cause, names),) = lacking(large, tmp_path, reduced=True).items()
    assert str(tmp_path) in cause
    assert len(names) == len(planned)
