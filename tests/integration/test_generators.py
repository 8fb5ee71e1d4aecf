"""One load from two agents: as if one had driven and recorded it, and a lost one is named."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from steelyard.records.archive import Run, open_run
from steelyard.records.attempt_folder import attempt_key
from steelyard.records.schema import Outcome, TrialRecord
from tests.integration.conftest import (
    LONGEST_S,
    STUDY,
    Steelyard,
    assert_each_ended_well,
)

SHARED = STUDY.replace("users: 2", "users: 5").replace("calibrate: false", "host: [local, local]")
OPEN = SHARED.replace("users: 5, think: 2 ms", "rate: 400, arrival: constant, connections: 7")


def run_of(steelyard: Steelyard) -> Run:
    return open_run(steelyard.folder / "results" / "tiny")


def documents(run: Run, record: TrialRecord) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The result of all, and of each generator."""
    folder = Path(run.path) / "trials" / attempt_key(record.trial, record.attempt)
    whole = json.loads((folder / "load.json").read_text())
    each = sorted(folder.glob("generator-*.json"))
    return whole, [json.loads(path.read_text()) for path in each]


def assert_one_load(whole: dict[str, Any], each: list[dict[str, Any]]) -> None:
    """Nothing was lost or invented between what each counted and what all did."""
    assert len(each) == 2
    for name, count in whole["counts"].items():
        assert count == sum(one["counts"][name] for one in each), name
    response = [one["latency_ns"]["response"] for one in each]
    merged = whole["latency_ns"]["response"]
    assert merged["count"] == sum(one["count"] for one in response)
    assert merged["sum"] == sum(one["sum"] or 0 for one in response)
    starts = {one["load"]["window_start_monotonic_ns"] for one in each}
    assert starts == {whole["load"]["window_start_monotonic_ns"]}


@pytest.mark.parametrize(
    ("study", "connections"),
    [(SHARED, {3, 2}), pytest.param(OPEN, {4, 3}, marks=pytest.mark.extended)],
)
def test_two_agents_drive_one_load_together(
    steelyard: Steelyard, study: str, connections: set[int]
) -> None:
    (steelyard.folder / "study.yaml").write_text(study, encoding="utf-8")
    done = steelyard.run("run", ".", "--seed", "1")
    assert done.returncode == 0, done.stderr
    run = run_of(steelyard)
    records = run.records()
    assert_each_ended_well(records)
    for record in (record for record in records if record.outcome is Outcome.OK):
        whole, each = documents(run, record)
        assert_one_load(whole, each)
        assert {one["load"]["connections_asked"] for one in each} == connections
        (instance,) = record.instances
        assert [one.generator for one in instance.generators] == [1, 2]
        assert all(len(one.clocks) == 2 for one in instance.generators)
        assert record.calibration is not None
        assert len(record.calibration.shares_per_s) == 2


@pytest.mark.extended
def test_a_generator_that_dies_is_named_and_its_trial_is_measured_again(
    steelyard: Steelyard,
) -> None:
    study = SHARED.replace("window: 200 ms", "window: 300 ms")
    study = study.replace("[local, local]}", "[local, local], calibrate: false}")
    (steelyard.folder / "study.yaml").write_text(study, encoding="utf-8")
    process = steelyard.start("run", ".", "--seed", "1")
    os.kill(second_agent_of(steelyard), signal.SIGKILL)
    _, stderr = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 0, stderr
    records = run_of(steelyard).records()
    lost = [record for record in records if record.outcome is Outcome.AGENT_LOST]
    assert len(lost) == 1
    assert lost[0].failure is not None
    assert "generator 2 (local)" in lost[0].failure.message
    good = {record.trial for record in records if record.outcome is Outcome.OK}
    assert lost[0].trial in good


def second_agent_of(steelyard: Steelyard) -> int:
    """The agent that was opened last, once a load runs on it: threads of a load are called so."""
    end = time.monotonic() + LONGEST_S
    while time.monotonic() < end:
        driving = [pid for pid in sorted(steelyard.processes()) if drives_a_load(pid)]
        if len(driving) == 2:
            return driving[-1]
        time.sleep(0.01)
    pytest.fail("no two agents drove a load")


def drives_a_load(pid: int) -> bool:
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        return any((task / "comm").read_text().startswith("load-") for task in tasks)
    except OSError:
        return False
