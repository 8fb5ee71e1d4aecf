"""A trial that something else disturbed says so, whatever it measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from steelyard.records.warnings import TrialWarning, WarningKind
from steelyard.study.model import Level
from steelyard.trial.observe.disturbances import (
    OURS,
    Incidents,
    incident_warnings,
    sample_warnings,
    without_effects_of_a_line,
)
from steelyard.trial.observe.responses import Seen

SECOND_NS = 1_000_000_000
QUIET = Incidents(oom_kills=3, throttled=0, rebuilding=False)
STATES = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")


def counters(
    ours_ms: int = 0, ours_system_ms: int = 0, **busy_ms: int
) -> dict[str, list[int | None]]:
    """Two processors for two seconds, seen at the start and at the end."""
    idle_ms = 4000 - sum(busy_ms.values())
    grown = {name: busy_ms.get(name, 0) for name in STATES} | {"idle": idle_ms}
    columns: dict[str, list[int | None]] = {
        f"cpu.{name}_ns": [0, 0, ms * 1_000_000] for name, ms in grown.items()
    }
    own = {"user_ns": ours_ms, "system_ns": ours_system_ms}
    return columns | {f"process.{OURS}.{name}": [0, 0, ms * 1_000_000] for name, ms in own.items()}


@pytest.fixture
def kinds(seen: Callable[..., Seen]) -> Callable[..., list[str]]:
    def judged(columns: dict[str, list[int | None]]) -> list[str]:
        return [each.kind for each in sample_warnings("system", seen(columns).window)]

    return judged


def test_a_machine_that_computes_for_no_one_else_is_not_disturbed(
    kinds: Callable[..., list[str]],
) -> None:
    assert kinds(counters(ours_ms=3000, user=3020, system=500, steal=20)) == []


def test_stolen_time_above_one_percent_is_named(kinds: Callable[..., list[str]]) -> None:
    assert kinds(counters(steal=60)) == ["steal"]


def test_time_stolen_from_a_guest_is_a_cost_of_the_system(seen: Callable[..., Seen]) -> None:
    found = sample_warnings("system", seen(counters(steal=60)).window, guest=True)
    assert [each.kind for each in found] == ["guest_steal"]


def test_other_programs_above_one_percent_are_named(kinds: Callable[..., list[str]]) -> None:
    assert kinds(counters(ours_ms=1000, user=1200)) == ["foreign_cpu"]


@pytest.mark.parametrize(
    ("columns", "ratio"),
    [(counters(steal=60), "steal_ratio"), (counters(ours_ms=1000, user=1060), "cpu_ratio")],
)
def test_what_was_taken_is_also_given_in_processors(
    seen: Callable[..., Seen], columns: dict[str, list[int | None]], ratio: str
) -> None:
    (found,) = sample_warnings("system", seen(columns).window)
    assert found.figures[ratio] == pytest.approx(60 / 4000)
    assert found.figures["taken_cores"] == pytest.approx(60 / 2000)


def test_what_the_kernel_does_is_no_one_s_computing(kinds: Callable[..., list[str]]) -> None:
    assert kinds(counters(ours_ms=1000, user=1000, system=1500, softirq=400)) == []


def test_our_own_time_is_not_that_of_another_process_however_the_kernel_splits_it(
    kinds: Callable[..., list[str]],
) -> None:
    """Seen in an emulated guest: fio and linpack in 8 s, and not another program."""
    ours = {"ours_ms": 1_370, "ours_system_ms": 535}
    assert kinds(counters(**ours, user=1_425, system=470, softirq=1)) == []
    assert kinds(counters(**ours, user=1_565, system=470)) == ["foreign_cpu"]


def test_processes_that_start_in_the_window_are_ours_to_the_nanosecond(
    kinds: Callable[..., list[str]],
) -> None:
    """Seen of Postfix: ticks lacked half of one of each kind for each of its new processes."""
    columns = counters(ours_ms=900, ours_system_ms=600, user=1_200, system=900)
    assert kinds(columns) == ["foreign_cpu"]
    columns[f"process.{OURS}.cpu_ns"] = [0, 0, 2_090_000_000]
    assert kinds(columns) == []
    columns[f"process.{OURS}.cpu_ns"] = [0, 0, 1_900_000_000]
    assert kinds(columns) == ["foreign_cpu"]


def test_another_process_is_named_while_the_kernel_serves_us(
    kinds: Callable[..., list[str]],
) -> None:
    ours = {"ours_ms": 300, "ours_system_ms": 1_900}
    assert kinds(counters(**ours, user=400, system=1_500, softirq=400)) == ["foreign_cpu"]


def test_a_container_beside_our_processes_is_no_other_process(seen: Callable[..., Seen]) -> None:
    columns = counters(ours_ms=300, ours_system_ms=100, user=1_300, system=200)
    group = {"cgroup.instance.user_ns": 1_000, "cgroup.instance.system_ns": 100}
    columns |= {name: [0, 0, ms * 1_000_000] for name, ms in group.items()}

    def kinds_with(*apart: str) -> list[str]:
        return [each.kind for each in sample_warnings("host", seen(columns).window, apart=apart)]

    assert kinds_with() == ["foreign_cpu"]
    assert kinds_with("cgroup.instance") == []
    assert kinds_with("cgroup.instance", "cgroup.never_sampled") == []


def test_a_few_ticks_prove_nothing(kinds: Callable[..., list[str]]) -> None:
    assert kinds(counters(ours_ms=1000, user=1045)) == []


def test_where_our_own_share_is_not_known_other_processes_are_not_accused(
    kinds: Callable[..., list[str]],
) -> None:
    columns = counters(user=3000)
    del columns[f"process.{OURS}.user_ns"]
    assert kinds(columns) == []


def disk(ours_mb: float, others_mb: float, kind: str = "write") -> dict[str, list[int | None]]:
    """Bytes of two seconds."""
    moved = {
        f"disk.store.{kind}_bytes": ours_mb + others_mb,
        f"process.{OURS}.{kind}_bytes": ours_mb,
    }
    none = "read" if kind == "write" else "write"
    still = {f"disk.store.{none}_bytes": 0.0, f"process.{OURS}.{none}_bytes": 0.0}
    return {name: [0, 0, round(mb * 1e6)] for name, mb in (moved | still).items()}


def test_a_disk_that_others_use_is_named_and_the_journal_of_our_own_files_is_not(
    kinds: Callable[..., list[str]],
) -> None:
    assert kinds(counters() | disk(ours_mb=1, others_mb=60)) == ["foreign_disk"]
    assert kinds(counters() | disk(ours_mb=0, others_mb=30, kind="read")) == ["foreign_disk"]
    assert kinds(counters() | disk(ours_mb=60, others_mb=500)) == []
    assert kinds(counters() | disk(ours_mb=0, others_mb=10)) == []


def test_pages_that_others_read_back_are_named_and_ours_are_not(
    kinds: Callable[..., list[str]], seen: Callable[..., Seen]
) -> None:
    of_all: dict[str, list[int | None]] = {"memory.major_faults": [0, 0, 900]}
    ours: dict[str, list[int | None]] = {f"process.{OURS}.major_faults": [0, 0, 880]}
    assert kinds(counters() | of_all | ours) == []
    assert kinds(counters() | of_all) == []
    others = counters() | of_all | {f"process.{OURS}.major_faults": [0, 0, 3]}
    assert kinds(others) == ["foreign_paging"]
    beside = sample_warnings("host", seen(others).window, apart=("cgroup.instance",))
    assert [each.kind for each in beside] == []


def test_packets_that_are_lost_are_named_from_ten_on(kinds: Callable[..., list[str]]) -> None:
    def network(
        again: int, opening: int, sent: int, late: int | None = 0
    ) -> dict[str, list[int | None]]:
        columns = {
            "tcp.retransmits": again,
            "tcp.syn_retransmits": opening,
            "tcp.dsacks_received": late,
        }
        return counters() | {
            name: [0, 0, value] for name, value in (columns | {"net.lo.tx_packets": sent}).items()
        }

    assert kinds(network(again=30, opening=0, sent=10_000)) == ["retransmits"]
    assert kinds(network(again=30, opening=25, sent=10_000)) == []
    assert kinds(network(again=30, opening=0, sent=100_000)) == []
    assert kinds(network(again=4, opening=0, sent=100)) == []
    answered_late = network(again=2_182, opening=0, sent=400_000, late=2_178)
    assert kinds(answered_late) == [], "of a busy machine that lost nothing"
    old_kernel = network(again=30, opening=0, sent=10_000, late=None)
    assert kinds(old_kernel) == ["retransmits"]


def test_a_link_that_the_machine_itself_throttles_is_named(
    kinds: Callable[..., list[str]],
) -> None:
    def queue(**figures: int) -> dict[str, list[int | None]]:
        usual = {"packets": 2_000, "overlimits": 0}
        grown = {f"queue.lo.{n}": [0, 0, v] for n, v in (usual | figures).items()}
        return counters() | grown | {"queue.lo.delayed_packets": [0, 0, 0]}

    assert kinds(queue()) == []
    assert kinds(queue(overlimits=700)) == ["link_throttled"]
    assert kinds(queue(overlimits=15)) == []
    assert kinds(queue(overlimits=6, packets=20)) == []
    emulated = queue() | {"queue.lo.delayed_packets": [3, 0, 9]}
    assert kinds(emulated) == ["link_throttled"]


def test_packets_that_the_filter_of_the_sender_drops_are_a_throttled_link(
    kinds: Callable[..., list[str]],
) -> None:
    def sent(due: int, passed_on: int, left: int) -> dict[str, list[int | None]]:
        grown = {"out_requests": due, "forwarded": passed_on, "out_transmits": left}
        return counters() | {f"ip.{name}": [0, 0, value] for name, value in grown.items()}

    assert kinds(sent(due=2_570, passed_on=0, left=2_510)) == ["link_throttled"]
    assert kinds(sent(due=2_570, passed_on=0, left=2_564)) == ["link_throttled"]
    assert kinds(sent(due=2_570, passed_on=0, left=2_569)) == []
    assert kinds(sent(due=2_570, passed_on=100, left=2_670)) == []
    assert kinds(sent(due=100_000, passed_on=0, left=99_950)) == []
    assert kinds(sent(due=2_570, passed_on=0, left=3_000)) == []
    unknown = sent(due=2_570, passed_on=0, left=0) | {"ip.out_transmits": [None] * 3}
    assert kinds(unknown) == []


def test_beside_others_it_is_said_how_long_ours_waited(seen: Callable[..., Seen]) -> None:
    columns = counters(ours_ms=1000, user=3000)
    columns[f"process.{OURS}.run_delay_ns"] = [0, 0, 1_000_000_000]
    (found,) = sample_warnings("system", seen(columns).window)
    assert found.figures["waited_cores"] == 0.5


def test_memory_read_back_from_swap_is_named(kinds: Callable[..., list[str]]) -> None:
    assert kinds(counters() | {"memory.swap_in_pages": [7, 7, 9]}) == ["swapped"]


@pytest.mark.parametrize(
    ("after", "kind"),
    [
        (replace(QUIET, oom_kills=4), "out_of_memory"),
        (replace(QUIET, throttled=1), "throttled"),
        (replace(QUIET, rebuilding=True), "raid_rebuilding"),
    ],
)
def test_an_incident_between_two_looks_is_named(after: Incidents, kind: str) -> None:
    assert [each.kind for each in incident_warnings("local", QUIET, after)] == [kind]
    assert list(incident_warnings("local", QUIET, QUIET)) == []


def test_a_machine_without_such_counters_is_not_accused() -> None:
    none = Incidents(oom_kills=None, throttled=None, rebuilding=False)
    assert list(incident_warnings("local", none, none)) == []


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        ({}, ["link_throttled", "retransmits", "steal"]),
        ({"line.rate": "off"}, ["link_throttled", "retransmits", "steal"]),
        ({"line.rate": 2e7, "thp": "never"}, ["steal"]),
    ],
)
def test_what_a_declared_line_does_is_no_disturbance(
    settings: dict[str, Level], left: list[str]
) -> None:
    kinds = (WarningKind.LINK_THROTTLED, WarningKind.RETRANSMITS, WarningKind.STEAL)
    found = [TrialWarning(kind=kind, figures={"machine": "system"}) for kind in kinds]
    assert [each.kind for each in without_effects_of_a_line(found, settings)] == left
