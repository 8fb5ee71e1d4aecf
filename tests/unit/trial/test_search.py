"""The search for the largest load: every step, every end, and the drive that makes the runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import pytest
from tests.unit.judge.test_judge_study import a_study
from tests.unit.trial.conftest import SECOND_NS, latency, load_document

from steelyard.hosts.clocks import ClockOffset
from steelyard.plan.model import Cell
from steelyard.records.missing import LimitNotKnown, NoLoadFound, TooFewTimes
from steelyard.study import catalogue
from steelyard.study.bind import BoundCell, bind
from steelyard.study.declared.value import defaults_of
from steelyard.study.model import FIND, FindSpec, GateSpec, LoadSpec, Study, WorkloadSpec
from steelyard.trial.drive import search_driver
from steelyard.trial.drive.load_search import Bounds, Broken, Found, Step, next_step
from steelyard.trial.drive.search_driver import SearchDrive, bounds_of
from steelyard.workloads.operations.model import Server

USERS = Bounds(first=4.0, least=1.0, most=256.0, whole=True)
RATES = Bounds(first=10.0, least=1.0, most=1_000.0, whole=False)


def searched(holds: Callable[[float, bool], bool], bounds: Bounds) -> tuple[Found, list[Step]]:
    """The whole search against a system that keeps its limits where ``holds`` says so."""
    steps: list[Step] = []
    step = next_step(steps, bounds)
    while isinstance(step, Step):
        kept = holds(step.load, step.final)
        steps.append(Step(step.load, held=kept, final=step.final))
        step = next_step(steps, bounds)
    return step, steps


@pytest.mark.parametrize("capacity", [1, 2, 3, 5, 37, 64, 100, 255])
def test_the_search_finds_what_a_system_carries_within_five_percent(capacity: int) -> None:
    found, steps = searched(lambda load, _: load <= capacity, USERS)
    assert found.missing is None
    assert found.load is not None
    assert found.load <= capacity < found.load * 1.05 + 1
    assert steps[-1].final
    assert all(step.load.is_integer() for step in steps)


def test_a_rate_is_found_within_five_percent() -> None:
    found, _ = searched(lambda load, _: load <= 333.3, RATES)
    assert found.load is not None
    assert found.load <= 333.3 < found.load * 1.05


def test_what_fails_over_the_whole_window_is_looked_for_below() -> None:
    found, steps = searched(lambda load, final: load <= (29 if final else 30), USERS)
    assert found.load is not None
    assert found.load <= 29
    assert len([step for step in steps if step.final]) > 1


def test_a_load_that_never_holds_twice_is_no_answer() -> None:
    found, _ = searched(lambda load, final: load <= 30 and not final, USERS)
    assert found.load is None
    assert isinstance(found.missing, NoLoadFound)
    assert found.missing.kind == "no_load_held_twice"


def test_limits_that_break_at_the_smallest_load_are_no_answer() -> None:
    found, steps = searched(lambda _load, _: False, USERS)
    assert found == Found(None, NoLoadFound(kind="limits_broken_down_to", load=1, runs=3))
    assert [step.load for step in steps] == [4, 2, 1]


def test_limits_that_hold_at_the_largest_load_tried_are_no_answer() -> None:
    found, steps = searched(lambda _load, _: True, USERS)
    assert found == Found(None, NoLoadFound(kind="limits_held_up_to", load=256, runs=len(steps)))
    assert steps[-1].load == 256


def test_what_cannot_be_known_ends_the_search_with_its_reason() -> None:
    too_few = TooFewTimes(figure="p99", needed=1000)
    broken = Broken("response.p99", "at most 1 ms", None, too_few)
    assert next_step([Step(4, held=False, broken=broken)], USERS) == Found(
        None, LimitNotKnown(load=4, limit="response.p99", missing=too_few)
    )


P95 = GateSpec(name="response.p95", at_most=30e6, unit="ns", text="at most 30 ms")


def a_search() -> Study:
    study = a_study(users=(2, 8))
    declared = catalogue.workload("smtp").settings
    settings = defaults_of(declared)
    update = {
        "workloads": {"smtp": WorkloadSpec(use="smtp", settings=settings)},
        "load": LoadSpec(),
        "find": {"capacity": FindSpec(name="capacity", limits=(P95,))},
    }
    return study.model_copy(update=update)


class Generator:
    """Answers as a server whose p95 grows with its users: 30 ms at ``carries``."""

    lost = False

    def __init__(self, carries: int, samples: int = 500) -> None:
        self.carries, self.samples = carries, samples
        self.jobs: list[dict[str, Any]] = []

    def start_load(self, job: dict[str, Any]) -> Future[dict[str, Any]]:
        self.jobs.append(job)
        p95 = round(30e6 * job["mode"]["users"] / self.carries)
        known = self.samples * job["duration_ns"] >= 200 * SECOND_NS
        answer: Future[dict[str, Any]] = Future()
        of = latency(self.samples, p95=p95 if known else None)
        answer.set_result(load_document(latency_ns={"response": of}))
        return answer


def driven(generator: Generator, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(search_driver, "PAUSE_S", 0.0)
    study = a_search()
    cell: BoundCell = bind(study, Cell(system="fast", conditions={FIND: "capacity"}))
    instance: Any = type("Instance", (), {})()
    server = Server("127.0.0.1:2525", {"smtp": "127.0.0.1:2525"}, None)
    clock = ClockOffset(offset_ns=0, uncertainty_ns=0, at_ns=0)
    any_host: Any = generator
    drive = SearchDrive(instance, any_host, clock, cell.study, cell, server, 1)
    drive.begin(None)
    drive.finish(2**62)
    return instance


def test_a_search_ends_with_a_whole_window_at_the_load_it_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    generator = Generator(carries=37)
    instance = driven(generator, monkeypatch)
    found = instance.found["capacity"]
    assert found.unit == "users"
    assert 35 <= found.value <= 37
    last = generator.jobs[-1]
    assert last["mode"]["users"] == found.value
    assert last["duration_ns"] > generator.jobs[0]["duration_ns"]
    assert instance.window_ns == (SECOND_NS, 3 * SECOND_NS)
    assert instance.search["steps"][-1]["final"]
    assert math.isclose(instance.search["found"], found.value)


def test_a_run_with_too_few_answers_is_made_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = Generator(carries=37, samples=50)
    instance = driven(generator, monkeypatch)
    assert instance.found["capacity"].value is not None
    first, second = (job["duration_ns"] for job in generator.jobs[:2])
    assert second == 2 * first


def test_a_percentile_that_no_run_can_tell_gives_no_capacity(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    instance = driven(Generator(carries=37, samples=1), monkeypatch)
    found = instance.found["capacity"]
    assert found.value is None
    assert isinstance(found.missing, LimitNotKnown)
    (broken,) = [step["broken"] for step in instance.search["steps"]]
    assert broken["missing"]["kind"] == found.missing.missing.kind


def test_a_search_begins_at_the_smallest_load_and_goes_well_beyond_the_largest() -> None:
    assert bounds_of(a_search()) == Bounds(first=2, least=1, most=128, whole=True)
