"""The bottleneck of a trial is what was used up of what was seen, worst first, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from steelyard.records.warnings import Resource
from steelyard.trial.observe.bottleneck import bottleneck_of
from steelyard.trial.observe.responses import Seen

SECOND = 1_000_000_000
Make = Callable[..., Seen]


def columns(service: float = 0.1, idle: float = 1.5, disk: float = 0.0) -> dict[str, list[int]]:
    return {
        "process.service.cpu_ns": [0, round(service * SECOND)],
        "cpu.idle_ns": [0, round(idle * SECOND)],
        "cpu.iowait_ns": [0, 0],
        "disk.store.io_ns": [0, round(disk * SECOND)],
    }


def found(seen: Seen) -> tuple[Resource, float]:
    bottleneck = bottleneck_of(replace(seen, processors=2))
    assert bottleneck is not None
    assert bottleneck.share is not None
    return bottleneck.resource, round(bottleneck.share, 6)


def test_nothing_used_up_is_no_bottleneck(seen: Make) -> None:
    assert bottleneck_of(replace(seen(columns()), processors=2)) is None


def test_the_generator_comes_first(seen: Make) -> None:
    warning = {"state": "suspect", "kind": "generator_bound", "busiest_worker_ratio": 0.9}
    verdict = {"state": "suspect", "warnings": [warning]}
    assert found(seen(columns(disk=1.0), verdict=verdict)) == (Resource.GENERATOR, 0.9)


def test_a_busy_disk_is_named_with_its_share(seen: Make) -> None:
    assert found(seen(columns(disk=0.95))) == (Resource.DISK_BUSY_TIME, 0.95)


def test_what_is_used_up_comes_before_a_disk_that_is_only_busy(seen: Make) -> None:
    assert found(seen(columns(disk=0.99, idle=0.1)))[0] is Resource.MACHINE_CPU


def test_a_machine_without_idle_time_is_limited_by_its_cpu(seen: Make) -> None:
    assert found(seen(columns(idle=0.1))) == (Resource.MACHINE_CPU, 0.95)


def test_a_machine_that_others_use_up_limits_only_who_waits_for_it(seen: Make) -> None:
    def ours(used: float, waited: float) -> dict[str, list[int]]:
        shares = {"cpu_ns": used, "run_delay_ns": waited}
        return {f"process.steelyard.{n}": [0, round(s * SECOND)] for n, s in shares.items()}

    assert found(seen(columns(idle=0.0) | ours(0.3, 0.8)))[0] is Resource.MACHINE_CPU
    waits_elsewhere = seen(columns(idle=0.0) | ours(0.1, 0.2))
    assert bottleneck_of(replace(waits_elsewhere, processors=2)) is None


def test_a_service_on_one_whole_core_is_limited_by_it_and_one_on_more_is_not(seen: Make) -> None:
    assert found(seen(columns(service=0.97))) == (Resource.ONE_CORE_OF_SERVICE, 0.97)
    assert bottleneck_of(replace(seen(columns(service=1.4)), processors=2)) is None


def test_of_one_core_that_others_use_too_it_counts_what_a_service_waited_for_it(seen: Make) -> None:
    def waits(used: float, waited: float) -> Seen:
        delay = {"process.service.run_delay_ns": [0, round(waited * SECOND)]}
        return seen(columns(service=used) | delay)

    assert found(waits(0.6, 0.9)) == (Resource.ONE_CORE_OF_SERVICE, 1.0)
    assert bottleneck_of(waits(0.2, 0.9)) is None
    assert bottleneck_of(waits(0.6, 0.1)) is None


def test_memory_that_was_waited_for_comes_before_what_that_makes_busy(seen: Make) -> None:
    waiting = {"psi.memory.some_ns": [0, round(0.4 * SECOND)]}
    assert found(seen(columns(disk=1.0, idle=0.1) | waiting)) == (Resource.MEMORY, 0.4)


def test_a_limit_that_is_met_in_most_periods_comes_before_a_machine_that_is_used_up(
    seen: Make,
) -> None:
    """Beside forty other programs: of each period little is left when the limit is met."""
    group = "cgroup.service"
    late = columns(idle=0.0) | {
        f"{group}.throttled_ns": [0, round(0.03 * SECOND)],
        f"{group}.periods": [0, 8],
        f"{group}.throttled_periods": [0, 6],
    }
    worst = bottleneck_of(replace(seen(late), processors=2))
    assert worst is not None
    assert (worst.resource, worst.share) == (Resource.CPU_LIMIT, 0.75)
    assert [each.resource for each in worst.also] == [Resource.MACHINE_CPU]
    seldom = late | {f"{group}.throttled_periods": [0, 3]}
    assert found(seen(seldom))[0] is Resource.MACHINE_CPU


def test_what_was_waited_for_longest_is_named_first(seen: Make) -> None:
    both = columns() | {
        "psi.memory.some_ns": [0, round(0.2 * SECOND)],
        "cgroup.service.throttled_ns": [0, round(0.6 * SECOND)],
    }
    worst = bottleneck_of(seen(both))
    assert worst is not None
    assert worst.resource is Resource.CPU_LIMIT
    assert [each.resource for each in worst.also] == [Resource.MEMORY]


def service(**gauges: float) -> dict[str, list[int]]:
    """Threads of a service at two moments, 0.2 s of processor time between them."""
    spent = {"cpu_ns": 0.1, "run_delay_ns": 0.1}
    return {
        **{f"process.service.{name}": [0, round(each * SECOND)] for name, each in spent.items()},
        **{f"process.service.{name}": [round(each)] * 2 for name, each in gauges.items()},
    }


def test_threads_that_wait_for_a_disk_longer_than_they_compute_name_it(seen: Make) -> None:
    """Four of sixteen wait at any time; the disk, which takes them one by one, idles between."""
    synced = columns(disk=0.7) | service(threads=19, blocked_threads=4, futex_threads=0)
    assert found(seen(synced)) == (Resource.DISK_WAIT, round(4 / 4.2, 6))
    computing = synced | {"process.service.run_delay_ns": [0, 5 * SECOND]}
    assert bottleneck_of(replace(seen(computing), processors=2)) is None


def test_a_disk_that_ours_waited_for_comes_before_a_machine_that_others_use_up(seen: Make) -> None:
    waiting = service(threads=19, blocked_threads=3) | {"process.service.run_delay_ns": [0, SECOND]}
    worst = bottleneck_of(replace(seen(columns(idle=0.0) | waiting), processors=2))
    assert worst is not None
    assert worst.resource is Resource.DISK_WAIT
    assert [each.resource for each in worst.also] == [Resource.MACHINE_CPU]


def test_threads_that_read_again_what_memory_had_no_room_for_name_memory(seen: Make) -> None:
    mib = 2**20
    reading = service(threads=9, blocked_threads=2) | {
        "process.service.read_bytes": [0, 10 * mib],
        "disk.store.read_ns": [0, 2 * SECOND],
        "disk.store.write_ns": [0, SECOND // 10],
        "disk.store.flush_ns": [0, 0],
    }
    again = {"memory.refault_anon_bytes": [0, 0], "memory.refault_file_bytes": [0, 9 * mib]}
    assert found(seen(columns() | reading | again))[0] is Resource.MEMORY
    assert found(seen(columns() | reading))[0] is Resource.DISK_WAIT, "read for the first time"
    writing = reading | again | {"disk.store.flush_ns": [0, 3 * SECOND]}
    assert found(seen(columns() | writing))[0] is Resource.DISK_WAIT


def under_way(operations: float) -> dict[str, object]:
    """So many at a time, of 1 ms each."""
    times = {"min": 1e6, "mean": 1e6, "max": 1e6, "p50": 1e6}
    rest = dict.fromkeys(("p90", "p95", "p99", "p999", "p9999"))
    return {
        "rates": {"ok_per_s": operations * 1000},
        "latency_ns": {"response": {"count": 1000, **times, **rest}},
    }


def test_threads_that_wait_for_one_another_name_a_lock(seen: Make) -> None:
    """Eight operations: one thread of theirs holds the lock, seven wait; one accepts."""
    waiting = columns() | service(threads=9, futex_threads=7, blocked_threads=0)
    assert found(seen(waiting, **under_way(8))) == (Resource.LOCK, 0.75)
    pool = columns() | service(threads=65, futex_threads=63, blocked_threads=0)
    assert found(seen(pool, **under_way(8)))[0] is Resource.LOCK


def test_idle_threads_of_a_pool_are_no_lock(seen: Make) -> None:
    """Eight operations wait for another server; of sixteen threads the others have no work."""
    idle = columns() | service(threads=17, futex_threads=8, blocked_threads=0)
    assert bottleneck_of(replace(seen(idle, **under_way(8)), processors=2)) is None
    loop = columns() | service(threads=9, futex_threads=8, blocked_threads=0)
    assert bottleneck_of(replace(seen(loop, **under_way(64)), processors=2)) is None


def test_packets_that_wait_in_nearly_every_sample_are_the_network(seen: Make) -> None:
    def queue(*backlog: int) -> dict[str, list[int]]:
        rows = len(backlog)
        return {
            "queue.eth0.overlimits": [0] * rows,
            "queue.eth0.packets": [0] * rows,
            "queue.eth0.backlog_bytes": [*backlog],
        }

    assert found(seen(queue(*[1500] * 10)))[0] is Resource.NETWORK
    assert bottleneck_of(seen(queue(*[1500] * 5, *[0] * 5))) is None


def test_connections_that_wait_to_be_accepted_are_named_after_what_makes_them_wait(
    seen: Make,
) -> None:
    waiting = {"tcp.accept_queue": [7, 6]}
    assert found(seen(columns() | waiting)) == (Resource.ACCEPT_QUEUE, 1.0)
    busy = bottleneck_of(replace(seen(columns(idle=0.1) | waiting), processors=2))
    assert busy is not None
    assert busy.resource is Resource.MACHINE_CPU
    assert [each.resource for each in busy.also] == [Resource.ACCEPT_QUEUE]


def below(seen: Make, **of_host: list[int]) -> Seen:
    """Inside nothing is used up; on the host these counters are seen."""
    named = {name.replace("__", "."): values for name, values in of_host.items()}
    return replace(seen(columns()), host=seen(named).window)


def test_a_control_group_that_was_held_back_is_limited_by_its_cpus(seen: Make) -> None:
    held = below(seen, cgroup__instance__throttled_ns=[0, round(0.6 * SECOND)])
    assert found(held) == (Resource.CPU_LIMIT, 0.6)
    often = below(seen, cgroup__instance__throttled_ns=[0, 3 * SECOND])
    assert found(often) == (Resource.CPU_LIMIT, 1.0)
    hardly = below(seen, cgroup__instance__throttled_ns=[0, round(0.05 * SECOND)])
    assert bottleneck_of(replace(hardly, processors=2)) is None


def test_a_service_that_its_setting_holds_back_is_limited_by_that(seen: Make) -> None:
    inside = columns() | {"cgroup.service.throttled_ns": [0, round(0.7 * SECOND)]}
    assert found(seen(inside)) == (Resource.CPU_LIMIT, 0.7)


def test_a_guest_that_is_held_back_from_outside_is_limited_by_its_host(seen: Make) -> None:
    held = below(seen, cgroup__instance__throttled_ns=[0, round(0.6 * SECOND)])
    assert found(replace(held, own_kernel=True)) == (Resource.HOST_CPU, 0.6)
    waiting = below(
        seen,
        threads__instance__vcpu__run_delay_ns=[0, SECOND],
        threads__instance__vcpu__threads=[2, 2],
    )
    assert found(replace(waiting, own_kernel=True)) == (Resource.HOST_CPU, 0.5)


def test_without_samples_no_bottleneck_is_named(seen: Make) -> None:
    assert bottleneck_of(seen()) is None
