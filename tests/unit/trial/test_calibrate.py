"""A trial is held against the generator's capacity, with a warning when it came close."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.engine.messages import LoadResult
from steelyard.plan.model import Cell
from steelyard.records.missing import Reason
from steelyard.records.schema import Calibration, TrialRecord
from steelyard.records.warnings import WarningKind
from steelyard.study import catalogue
from steelyard.study.bind import BoundCell, bind
from steelyard.study.calibration_server import is_its_own_server, sink_for
from steelyard.study.model import Study
from steelyard.study.read import read_study_bytes
from steelyard.study.timing import MOST_CAPACITY_RUNS, calibration_s, conditions_count
from steelyard.trial.session_state.calibrate import (
    calibration_warnings,
    held_against,
    is_enough,
)
from steelyard.workloads.load import OPERATIONS

Load = Callable[..., LoadResult]


def study(
    further: str = "",
    load: str = "{users: [1, 2]}",
    workload: str = "use: http",
    service: str = "use: sink-http, body: 2 KiB",
) -> Study:
    text = f"""
study: near
question: Is the generator the limit?
systems:
  one: {{platform: native, service: {{use: sink-http, body: 2 KiB}}}}
  two: {{platform: native, service: {{{service}}}}}
workload: {{{workload}}}
load: {load}
trials: {{margin: 2 %, window: 2 s, warmup: 1 s}}
{further}
"""
    return read_study_bytes(text.encode(), Path("study.yaml"))


def cell(read: Study) -> BoundCell:
    return bind(read, Cell(system="one", conditions={"load.users": 2}))


def test_a_generator_near_its_capacity_is_named(load: Load) -> None:
    held = held_against(Calibration(sink="sink-http", capacity_per_s=110.0), [load()])
    assert held is not None
    assert held.ratio == pytest.approx(100 / 110)
    (warning,) = calibration_warnings(held)
    assert warning.kind is WarningKind.GENERATOR_NEAR_CAPACITY
    assert warning.figures["capacity_ratio"] == pytest.approx(100 / 110)


def test_a_trial_far_above_the_capacity_says_nothing_of_the_generator(load: Load) -> None:
    slightly = held_against(Calibration(sink="sink-http", capacity_per_s=96.0), [load()])
    far = held_against(Calibration(sink="sink-http", capacity_per_s=90.0), [load()])
    assert slightly is not None
    assert far is not None
    assert (slightly.is_exceeded, far.is_exceeded) == (False, True)
    assert (len(calibration_warnings(slightly)), calibration_warnings(far)) == (1, [])


def test_a_generator_that_drives_two_instances_is_held_to_the_sum(load: Load) -> None:
    one = Calibration(sink="sink-http", capacity_per_s=220.0)
    alone, both = held_against(one, [load()]), held_against(one, [load(), load()])
    assert alone is not None
    assert both is not None
    assert calibration_warnings(alone) == []
    assert both.ratio == pytest.approx(200 / 220)
    assert calibration_warnings(both)


def test_what_two_instances_reach_is_not_known_when_one_of_them_is_not(load: Load) -> None:
    one = Calibration(sink="sink-http", capacity_per_s=110.0)
    silent = load()
    counts = silent.counts.model_copy(update={"ok": 0})
    held = held_against(one, [load(), silent.model_copy(update={"counts": counts})])
    assert held is not None
    assert held.ratio is None


def test_a_generator_with_room_is_not(load: Load) -> None:
    held = held_against(Calibration(sink="sink-http", capacity_per_s=1000.0), [load()])
    assert held is not None
    assert held.ratio == pytest.approx(0.1)
    assert calibration_warnings(held) == []


@pytest.mark.parametrize(
    "calibration",
    [
        None,
        Calibration(not_calibrated=Reason(kind="calibration_off")),
        Calibration(capacity_per_s=0.0),
    ],
)
def test_without_a_capacity_there_is_neither_ratio_nor_warning(
    calibration: Calibration | None, load: Load
) -> None:
    held = held_against(calibration, [load()])
    assert held is calibration
    assert calibration_warnings(held) == []


def test_the_server_of_a_calibration_answers_in_the_shape_of_the_study_s_own() -> None:
    read = study()
    own = cell(read)
    sink = sink_for(own.workload, own.service_of(1), read.generator)
    assert sink is not None
    assert (sink.use, sink.settings["body"]) == ("sink-http", 2048)


def test_every_workload_that_runs_has_a_server_that_speaks_its_protocol() -> None:
    for use in OPERATIONS:
        entry = catalogue.workload(use)
        assert entry.calibration is not None
        assert entry.fits(catalogue.service(entry.calibration.service).speaks)


def test_calibration_takes_its_time_in_the_forecast_unless_it_is_switched_off() -> None:
    asked = "generator: {calibrate: true}"
    users, rate = study(asked), study(asked, load="{rate: [10, 20]}")
    assert conditions_count(users) == 2
    assert calibration_s(users) == pytest.approx(2 * (3 * 0.6 + 0.2))
    assert calibration_s(rate) == pytest.approx(2 * (4 * 0.6 + 0.2))
    assert calibration_s(study("generator: {calibrate: false}")) == 0


@pytest.mark.parametrize(
    ("further", "service", "calibrated"),
    [
        ("", "use: sink-http, body: 2 KiB", False),
        ("generator: {calibrate: true}", "use: sink-http, body: 2 KiB", True),
        ("generator: {threads: 2}", "use: sink-http, body: 2 KiB", True),
        ("generator: {host: ssh://loader}", "use: sink-http, body: 2 KiB", True),
        ("", "use: sink-http, status: 204", True),
    ],
)
def test_a_service_that_is_the_server_of_a_calibration_takes_none_unless_asked(
    further: str, service: str, calibrated: bool
) -> None:
    read = study(further, service=service)
    own = bind(read, Cell(system="two", conditions={"load.users": 2}))
    itself = is_its_own_server(own.workload, own.service_of(1), own.system, read.generator)
    assert (calibration_s(read) > 0) is calibrated
    assert itself is not calibrated or "true" in further


def test_a_record_of_an_older_run_reads_without_calibration() -> None:
    text = """{"trial": 1, "attempt": 1, "visit": 1, "cell": {"system": "one", "conditions": {}},
      "outcome": "ok", "started_unix_ns": 1, "finished_unix_ns": 2, "phases_ns": {},
      "responses": {}, "facts": {}}"""
    assert TrialRecord.model_validate_json(text).calibration is None


@pytest.mark.parametrize(
    ("throughputs", "enough"),
    [
        ([90.0, 90.0], False),
        ([90.0, 50.0, 88.0], True),
        ([90.0, 50.0, 80.0], False),
        ([90.0, 50.0, 80.0, 120.0], False),
        ([90.0, 50.0, 80.0, 120.0, 118.0], True),
        ([0.0, 0.0, 0.0], True),
        ([2.0**n for n in range(MOST_CAPACITY_RUNS)], True),
    ],
)
def test_runs_of_a_calibration_end_when_the_two_largest_agree(
    throughputs: list[float], enough: bool
) -> None:
    assert is_enough(throughputs) is enough
