from __future__ import annotations

import polars as pl
import pytest

from steelyard.report.tables.rates import RESOURCES, Point, points

SECOND = 1_000_000_000
CPU = next(r for r in RESOURCES if r.name == "service_cpu")
WRITES = next(r for r in RESOURCES if r.name == "disk_write")
STEAL = next(r for r in RESOURCES if r.name == "steal")
MEMORY = next(r for r in RESOURCES if r.name == "service_memory")


def frame(**columns: list[int | None]) -> pl.DataFrame:
    named = {name.replace("__", "."): values for name, values in columns.items()}
    stamps = [i * SECOND for i in range(len(next(iter(named.values()))))]
    return pl.DataFrame({"monotonic_ns": stamps} | named)


def test_a_cumulative_counter_becomes_a_rate_at_the_end_of_each_interval() -> None:
    series = frame(process__service__cpu_ns=[0, SECOND // 2, SECOND])
    assert points(series, CPU) == [Point(1.0, 0.5), Point(2.0, 0.5)]


def test_a_rate_uses_the_time_that_passed_and_not_the_time_that_was_asked_for() -> None:
    series = pl.DataFrame({"monotonic_ns": [5, 5 + 2 * SECOND], "disk.a.write_bytes": [0, 2**21]})
    assert points(series, WRITES) == [Point(2.0, 1.0)]


def test_several_disks_are_summed() -> None:
    series = frame(disk__a__write_bytes=[0, 2**20], disk__b__write_bytes=[0, 2**20])
    assert points(series, WRITES) == [Point(1.0, 2.0)]


def test_a_level_is_taken_as_it_was_read() -> None:
    series = frame(process__service__rss_bytes=[2**20, 2**21])
    assert points(series, MEMORY) == [Point(0.0, 1.0), Point(1.0, 2.0)]


def test_steal_is_a_share_of_all_cpu_time() -> None:
    series = frame(cpu__steal_ns=[0, 10], cpu__user_ns=[0, 60], cpu__idle_ns=[0, 30])
    assert points(series, STEAL) == [Point(1.0, pytest.approx(10.0))]


def test_a_counter_that_the_kernel_does_not_offer_gives_no_points() -> None:
    assert points(frame(process__service__cpu_ns=[None, None]), CPU) == []
    assert points(frame(load__running=[1, 2]), CPU) == []


def test_a_counter_that_runs_backwards_leaves_a_gap_and_not_a_negative_rate() -> None:
    series = frame(process__service__cpu_ns=[10, 5, 5 + SECOND])
    assert points(series, CPU) == [Point(2.0, 1.0)]


def test_a_single_row_gives_no_rate() -> None:
    assert points(frame(process__service__cpu_ns=[7]), CPU) == []


def test_every_resource_has_a_name_of_its_own() -> None:
    names = [resource.name for resource in RESOURCES]
    assert len(names) == len(set(names))
