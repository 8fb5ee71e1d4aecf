"""A response is a figure that was measured, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from steelyard.records.missing import (
    ColumnMissing,
    MoreThanProcessors,
    NameUnknown,
    NoDiskTime,
    Quoted,
    Reason,
    TooFewSamples,
    TooFewTimes,
)
from steelyard.records.schema import Measured
from steelyard.trial.observe.responses import Seen, measure_responses

Make = Callable[..., Seen]


def measured(name: str, seen: Seen) -> Measured:
    return measure_responses({name: "unit"}, seen)[name]


def test_throughput_is_what_the_engine_counted(seen: Make) -> None:
    assert measured("throughput", seen()).value == 100.0


def test_without_a_good_answer_there_is_no_throughput_and_no_zero(seen: Make) -> None:
    counts = {"intended": 9, "unsent": 0, "sent": 9, "ok": 0, "errors": 9, "inflight_at_stop": 0}
    got = measured("throughput", seen(counts=counts, rates={"ok_per_s": 0.0}))
    assert got.value is None
    assert got.missing == Reason(kind="no_good_answer")


def test_answers_that_came_after_the_window_alone_are_no_throughput_of_zero(seen: Make) -> None:
    counts = {"intended": 1, "unsent": 0, "sent": 1, "ok": 1, "errors": 0, "inflight_at_stop": 0}
    got = measured("throughput", seen(counts=counts, rates={"ok_per_s": 0.0}))
    assert got.value is None
    assert got.missing == Reason(kind="good_answers_late")


def test_a_percentile_that_the_engine_gives_is_kept_in_ns(seen: Make) -> None:
    assert measured("response.p50", seen()) == Measured(value=5000.0, unit="unit")


def test_a_percentile_with_too_few_samples_says_how_many_are_needed(seen: Make) -> None:
    got = measured("response.p99", seen())
    assert got.value is None
    assert got.missing == TooFewTimes(figure="p99", needed=1000)


@pytest.mark.parametrize("part", ["phase.ehlo", "kind.fetch"])
def test_a_part_that_good_operations_do_not_have_is_said_to_be_none_of_theirs(
    seen: Make, part: str
) -> None:
    assert measured(f"{part}.p50", seen()).missing == NameUnknown(kind="part_unknown", name=part)
    counts = {"intended": 9, "unsent": 0, "sent": 9, "ok": 0, "errors": 9, "inflight_at_stop": 0}
    assert measured(f"{part}.p50", seen(counts=counts)).missing == Reason(kind="no_good_answer")


def test_a_latency_no_one_recorded_is_not_zero(seen: Make) -> None:
    assert measured("lateness.p50", seen()).value is None


def test_errors_count_what_failed_and_what_was_never_sent(seen: Make) -> None:
    counts = {"intended": 10, "unsent": 1, "sent": 9, "ok": 7, "errors": 2, "inflight_at_stop": 0}
    assert measured("errors", seen(counts=counts)).value == pytest.approx(0.3)


def test_cpu_of_the_service_is_cores_over_the_samples_of_the_window(seen: Make) -> None:
    columns = {"process.service.cpu_ns": [0, 500_000_000, 1_500_000_000]}
    assert measured("service.cpu", seen(columns)).value == pytest.approx(0.75)


def test_more_cores_than_a_guest_has_are_refused(seen: Make) -> None:
    columns = {"process.service.cpu_ns": [0, 7_000_000_000, 14_000_000_000]}
    one = replace(seen(columns), processors=1)
    refused = MoreThanProcessors(cores=7.0, processors=1)
    assert measured("service.cpu", one).missing == refused
    assert measured("service.cpu_per_operation", one).missing == refused
    assert measured("service.cpu", replace(one, processors=8)).value == pytest.approx(7.0)


def test_cpu_per_operation_divides_by_what_was_answered_well(seen: Make) -> None:
    columns = {"process.service.cpu_ns": [0, 500_000_000, 1_500_000_000]}
    assert measured("service.cpu_per_operation", seen(columns)).value == pytest.approx(7.5e6)


def test_one_sample_in_the_window_is_too_few_for_a_rate(seen: Make) -> None:
    got = measured("service.cpu", seen({"process.service.cpu_ns": [5]}))
    assert got.missing == TooFewSamples(samples=1, needed=2)


def test_a_disk_that_is_not_there_is_missing_with_the_samplers_reason(seen: Make) -> None:
    got = measured("disk.writes", seen({"cpu.user_ns": [1, 2]}))
    assert got.value is None
    assert got.missing == Quoted(kind="sampler_reported", said="tmpfs lies on no disk")


def test_a_counter_that_the_kernel_hides_in_one_row_is_missing(seen: Make) -> None:
    got = measured("disk.flushes", seen({"disk.store.flushes": [1, None, 3]}))
    assert got.value is None


def test_a_disk_that_rested_wrote_zero_times_and_that_is_a_measurement(seen: Make) -> None:
    assert measured("disk.writes", seen({"disk.store.writes": [7, 7, 7]})).value == 0.0


def test_peak_memory_is_the_largest_sample(seen: Make) -> None:
    assert measured("service.memory", seen({"process.service.rss_bytes": [1, 9, 4]})).value == 9.0


def test_steal_is_a_share_of_all_cpu_time(seen: Make) -> None:
    states = ("user", "nice", "system", "irq", "softirq", "idle", "iowait", "steal")
    columns = {f"cpu.{state}_ns": [0, 0] for state in states}
    columns |= {"cpu.idle_ns": [0, 900], "cpu.steal_ns": [0, 100]}
    assert measured("host.steal", seen(columns)).value == pytest.approx(0.1)


def test_a_response_no_one_measures_says_so(seen: Make) -> None:
    got = measured("phase_of_the_moon", seen())
    assert got.missing == NameUnknown(kind="response_unknown", name="phase_of_the_moon")


def test_a_service_of_several_processes_is_measured_as_one(seen: Make) -> None:
    columns = {
        "process.service.cpu_ns": [0, 500_000_000, 1_000_000_000],
        "process.service.store.cpu_ns": [0, 0, 2_000_000_000],
        "process.service.rss_bytes": [10, 90, 10],
        "process.service.store.rss_bytes": [50, 1, 20],
        "process.generator.cpu_ns": [0, 9, 9],
    }
    assert measured("service.cpu", seen(columns)).value == 1.5
    assert measured("service.memory", seen(columns)).value == 91.0


def test_a_service_with_a_part_that_was_not_sampled_has_no_figure(seen: Make) -> None:
    columns = {
        "process.service.cpu_ns": [0, 500_000_000],
        "process.service.store.cpu_ns": [0, None],
    }
    got = measured("service.cpu", seen(columns))
    assert got.value is None
    column = "process.service.store.cpu_ns"
    assert got.missing == ColumnMissing(kind="column_not_reported", column=column)


def disks(**grown: int) -> dict[str, list[int]]:
    """Counters of the store's disk that grow by so much in each of two steps of half a second."""
    return {f"disk.store.{name}": [0, by, 2 * by] for name, by in grown.items()}


def test_a_mean_time_of_writes_is_that_of_all_that_ended_in_the_window(seen: Make) -> None:
    got = measured("disk.write_time", seen(disks(writes=500, write_ns=40_000_000)))
    assert got.value == pytest.approx(80_000)


def test_without_a_read_there_is_no_mean_time_of_reads(seen: Make) -> None:
    got = measured("disk.read_time", seen(disks(reads=0, read_ns=0)))
    assert got.missing == NoDiskTime(kind="no_disk_request", request="read", least_ms=20)


def test_a_time_that_the_kernel_tells_too_coarsely_is_missing_and_not_zero(seen: Make) -> None:
    got = measured("disk.read_time", seen(disks(reads=3, read_ns=0)))
    assert got.value is None
    assert got.missing == NoDiskTime(kind="disk_time_too_short", request="read", least_ms=20)


NETWORK = {"net.lo.rx_bytes": [0, 7, 14], "net.eth0.rx_bytes": [0, 100, 200]}


def test_what_a_system_tells_itself_is_no_traffic_of_the_line(seen: Make) -> None:
    whole = seen(NETWORK)
    got = measured("network.received", whole).value
    assert got == pytest.approx(whole.window.rate_per_s("net.eth0.rx_bytes"))


def test_a_load_through_loopback_is_counted_there_alone(seen: Make) -> None:
    whole = replace(seen(NETWORK), through_loopback=True)
    got = measured("network.received", whole).value
    assert got == pytest.approx(whole.window.rate_per_s("net.lo.rx_bytes"))


def test_a_guest_is_never_taken_for_the_machine_below_it(seen: Make) -> None:
    columns = disks(writes=5) | {f"cpu.{s}_ns": [0, 5, 9] for s in ("user", "nice", "system")}
    guest = replace(seen(columns), own_kernel=True)
    for response in ("host.cpu", "host.disk.writes", "power.mean"):
        assert measured(response, guest).missing == Reason(kind="host_not_sampled")
    assert measured("disk.writes", guest).value is not None
