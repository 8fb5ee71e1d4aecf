"""Events of version 1 are read as events of version 2; those of version 2 stay as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from steelyard.records.events import (
    BudgetExtended,
    EnvironmentCompared,
    EnvironmentDifference,
    EnvironmentRecorded,
    Event,
    GeneratorCalibrated,
    NoiseMeasured,
    SystemsEliminated,
    SystemStopped,
    UndoPlanned,
    WorkloadsEliminated,
    WorkloadStopped,
)
from steelyard.records.files.migration import event_of_1
from steelyard.records.ledger import read_ledger
from steelyard.records.missing import Quoted, Reason

REASON = {"missing": ["rate"], "visits": [1, 3], "trials": 6, "why": "no line", "so_often": 5}


def read(tmp_path: Path, **fields: Any) -> Event:
    line = json.dumps({"at_unix_ns": 7, **fields})
    (tmp_path / "ledger.jsonl").write_text(f"{line}\n", encoding="utf-8")
    (event,) = read_ledger(tmp_path / "ledger.jsonl")
    assert event.at_unix_ns == 7
    return event


def test_a_listing_that_failed_keeps_its_error(tmp_path: Path) -> None:
    untold = {"far": "unreachable"}
    event = read(tmp_path, event="environment_seen", machines=["local"], untold=untold)
    assert isinstance(event, EnvironmentRecorded)
    assert event.not_listed == untold


@pytest.mark.parametrize(
    ("what", "name", "before", "after"),
    [
        ("mount /mnt: was not there, is '/dev/x'", "/mnt", None, "/dev/x"),
        ("mount /a: b: was 'one', is 'two'", "/a: b", "one", "two"),
        ("mount /mnt: was '/dev/x', is gone", "/mnt", "/dev/x", None),
    ],
)
def test_a_difference_is_taken_apart(
    tmp_path: Path, what: str, name: str, before: str | None, after: str | None
) -> None:
    told = [{"machine": "local", "what": what, "reason": None}]
    event = read(
        tmp_path, event="environment_compared", machines=["local"], untold={}, count=1,
        differences=told,
    )  # fmt: skip
    assert isinstance(event, EnvironmentCompared)
    assert event.differences == (
        EnvironmentDifference(machine="local", kind="mount", name=name, before=before, after=after),
    )


def test_a_forced_stop_is_distinguished_from_an_error(tmp_path: Path) -> None:
    untold = {"one": "the run was hurried to its end, and nobody looked", "two": "unreachable"}
    event = read(
        tmp_path, event="environment_compared", machines=[], untold=untold, count=0, differences=[]
    )
    assert isinstance(event, EnvironmentCompared)
    assert event.forced_stop == ("one",)
    assert event.not_listed == {"two": "unreachable"}


def test_systems_and_workloads_that_left_are_eliminated(tmp_path: Path) -> None:
    left = read(tmp_path, event="systems_left", block=3, racing=["a", "b"])
    assert isinstance(left, SystemsEliminated)
    assert left.remaining == ("a", "b")
    measured = {"web": [], "cpu": ["a"]}
    gone = read(tmp_path, event="workloads_left", block=3, measured=measured)
    assert isinstance(gone, WorkloadsEliminated)
    assert gone.remaining == {"web": (), "cpu": ("a",)}


def test_what_was_given_up_is_stopped_for_futility(tmp_path: Path) -> None:
    system = read(tmp_path, event="system_given_up", system="slow", **REASON)
    assert isinstance(system, SystemStopped)
    assert system.reason.failed_visits == (1, 3)
    assert system.reason.missing_responses == ("rate",)
    assert (system.reason.trials, system.reason.commonest.trials) == (6, 5)
    assert system.reason.commonest.message == "no line"
    workload = read(
        tmp_path, event="workload_given_up", workload="web", systems={"a": REASON}, gone=["a"],
        visit=4,
    )  # fmt: skip
    assert isinstance(workload, WorkloadStopped)
    assert workload.stopped_on == ("a",)
    assert workload.reasons == {"a": system.reason}


def test_why_a_value_was_missing_is_quoted(tmp_path: Path) -> None:
    row = {"machine": "local", "part": "canary.disk", "values": [None], "missing": "full"}
    noise = read(tmp_path, event="sounded", machines=[row])
    assert isinstance(noise, NoiseMeasured)
    assert noise.series[0].missing == Quoted(kind="told_by_version_1", said="full")
    cell = {"cell": ["a", {}], "sink": None, "not_calibrated": "no server"}
    calibrated = read(tmp_path, event="calibrated", cells=[cell])
    assert isinstance(calibrated, GeneratorCalibrated)
    said = Quoted(kind="told_by_version_1", said="no server")
    assert calibrated.cells[0].not_calibrated == said


def test_what_was_given_up_without_a_reason_was_not_measured(tmp_path: Path) -> None:
    stopped = read(tmp_path, event="system_given_up", system="slow", visits=[1])
    assert isinstance(stopped, SystemStopped)
    assert stopped.reason.commonest.missing == Reason(kind="not_measured")


def test_an_extension_and_a_planned_undo_are_read(tmp_path: Path) -> None:
    extended = read(tmp_path, event="budget_extended", visits=12, to=24)
    assert isinstance(extended, BudgetExtended)
    assert (extended.visits_before, extended.visits) == (12, 24)
    inverse = {"kind": "remove_tree", "path": "/x"}
    planned = read(tmp_path, event="undo_planned", undo=1, host="local", inverse=inverse)
    assert isinstance(planned, UndoPlanned)
    assert planned.inverse == inverse


def test_an_event_of_version_2_stays_as_it_is() -> None:
    for event in (
        BudgetExtended(visits=24, visits_before=12),
        EnvironmentCompared(machines=(), count=0, not_listed={}),
    ):
        document = event.model_dump(mode="json")
        assert event_of_1(document) == document
