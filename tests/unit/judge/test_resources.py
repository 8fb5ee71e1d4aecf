"""What the machines used: counters to readings, readings to bands, nothing beyond the machine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.unit.judge.studies import a_record, a_study

from steelyard.judge.analyses.resources.bands import resource_findings
from steelyard.judge.analyses.resources.findings import ResourceFinding
from steelyard.judge.analyses.resources.readings import RESOURCES, readings
from steelyard.judge.visits.workload_run import workload_runs
from steelyard.plan.make import make_plan
from steelyard.records.attempt_folder import Samples, attempt_key
from steelyard.records.counters import Counters
from steelyard.records.schema import InstanceRecord

SECOND = 1_000_000_000
BY_NAME = {resource.name: resource for resource in RESOURCES}
STUDY = a_study(users=(1,))
PLAN = make_plan(STUDY, seed=1)
OF_FAST = [t for v in PLAN.visits for t in v.trials if t.cell.system == "fast"]


def frame(**columns: list[int | None]) -> Counters:
    """One row a second."""
    named = {name.replace("__", "."): values for name, values in columns.items()}
    stamps = [i * SECOND for i in range(len(next(iter(named.values()))))]
    return Counters({"monotonic_ns": stamps} | named)


def read(series: Counters, name: str) -> list[tuple[float, float]]:
    found = readings(series, BY_NAME[name])  # type: ignore[index] - any word is a key
    if found is None:
        return []
    at_s = (float(at) / SECOND for at in found.at_ns)
    return list(zip(at_s, map(float, found.values), strict=True))


def test_a_counter_becomes_a_rate_in_the_middle_of_each_interval() -> None:
    series = frame(process__service__cpu_ns=[0, SECOND // 2, SECOND])
    assert read(series, "service_cpu") == [(0.5, 0.5), (1.5, 0.5)]


def test_a_rate_uses_the_time_that_passed() -> None:
    series = Counters({"monotonic_ns": [5, 5 + 2 * SECOND], "disk.a.write_bytes": [0, 6]})
    assert [value for _, value in read(series, "disk_write")] == [3.0]


def test_disks_and_parts_of_a_service_are_summed() -> None:
    assert read(frame(disk__a__write_bytes=[0, 2], disk__b__write_bytes=[0, 5]), "disk_write") == [
        (0.5, 7.0)
    ]
    parts = frame(process__service__cpu_ns=[0, 0], process__service__db__cpu_ns=[0, SECOND])
    assert read(parts, "service_cpu") == [(0.5, 1.0)]


def test_a_level_is_taken_as_it_was_read() -> None:
    series = frame(process__service__rss_bytes=[20, 21])
    assert read(series, "service_memory") == [(0.0, 20.0), (1.0, 21.0)]


def test_steal_is_a_share_of_all_cpu_time() -> None:
    series = frame(cpu__steal_ns=[0, 10], cpu__user_ns=[0, 60], cpu__idle_ns=[0, 30])
    assert read(series, "steal") == [(0.5, pytest.approx(0.1))]


def test_what_is_not_known_is_missing_and_not_zero() -> None:
    assert read(frame(process__service__cpu_ns=[None, None]), "service_cpu") == []
    assert read(frame(load__running=[1, 2]), "service_cpu") == []
    assert read(frame(process__service__cpu_ns=[7]), "service_cpu") == []
    backwards = frame(process__service__cpu_ns=[10, 5, 5 + SECOND])
    assert read(backwards, "service_cpu") == [(1.5, 1.0)]


def found_of(
    *trials: Counters, facts: dict[str, str | None] | None = None, machine: str = "system"
) -> list[ResourceFinding]:
    """Findings of one cell whose trials were sampled so; each window begins after 2 s, for 5 s."""
    records = [
        a_record(
            trial,
            1.0,
            phases_ns={"window": 5 * SECOND},
            instances=(InstanceRecord(instance=1, workload="smtp", started_ns=2 * SECOND),),
            facts={machine: facts or {}},
        )
        for trial in OF_FAST[: len(trials)]
    ]
    sampled = [
        Samples(attempt_key(record.trial, record.attempt), machine, each)
        for record, each in zip(records, trials, strict=True)
    ]
    (found,) = resource_findings(workload_runs(STUDY, PLAN, records), sampled)
    return list(found)


def busy(cores: float, seconds: int = 8, **more: Any) -> Counters:
    return frame(
        process__service__cpu_ns=[round(i * cores * SECOND) for i in range(seconds)], **more
    )


def test_bands_are_over_trials_by_the_time_from_the_start_of_the_window() -> None:
    (found,) = found_of(*(busy(cores) for cores in np.linspace(0.1, 1.1, 11)))
    assert (found.resource, found.trials, found.window_s) == ("service_cpu", 11, 5.0)
    assert found.at_s[:2] == (-1.0, 1.0)
    assert found.median[0] == pytest.approx(0.6)
    assert (found.low[0], found.high[0]) == (pytest.approx(0.2), pytest.approx(1.0))


def test_the_clock_of_a_far_machine_is_corrected() -> None:
    clock = [place * SECOND for place in range(8)]
    near = busy(1.0).beside(controller_ns=[*clock])
    moved = busy(1.0).beside(
        monotonic_ns=[at_ns + 100 * SECOND for at_ns in clock], controller_ns=[*clock]
    )
    assert found_of(moved)[0].at_s == found_of(near)[0].at_s


@pytest.mark.parametrize(
    ("facts", "limit"),
    [
        ({"cpu.count": "2"}, 2.0),
        (
            {"cpu.count": "8", "cgroup.cpu_quota_us": "150000", "cgroup.cpu_period_us": "100000"},
            1.5,
        ),
        ({"cpu.count": "8", "cgroup.cpu_quota_us": None, "cgroup.cpu_period_us": "100000"}, 8.0),
        ({}, None),
    ],
)
def test_the_limit_is_that_of_the_machine(facts: dict[str, str | None], limit: float) -> None:
    assert found_of(busy(0.5), facts=facts)[0].limit == limit


def test_what_a_machine_cannot_have_is_refused_and_counted() -> None:
    possible, impossible = busy(0.8), busy(7.0)
    (found,) = found_of(possible, possible, impossible, facts={"cpu.count": "1"})
    assert found.refused == 4
    assert max(found.high) == pytest.approx(0.8)


def test_a_step_of_the_counter_beyond_the_limit_is_the_limit() -> None:
    assert set(found_of(busy(1.05), facts={"cpu.count": "1"})[0].high) == {1.0}


def test_a_resource_that_is_zero_throughout_is_not_found() -> None:
    found = found_of(busy(0.5, disk__a__write_bytes=[7] * 8))
    assert [each.resource for each in found] == ["service_cpu"]


def test_intervals_that_most_trials_do_not_reach_are_left_out() -> None:
    short, long = busy(0.5, seconds=6), busy(0.5, seconds=12)
    assert max(found_of(short, short, long)[0].at_s) < max(found_of(long)[0].at_s)
