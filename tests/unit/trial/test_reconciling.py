"""A guest's own account of its processors against that of its host, on known samples."""

from __future__ import annotations

import pytest

from steelyard.records.counters import Counters
from steelyard.records.missing import ColumnMissing
from steelyard.records.schema import CostRecord
from steelyard.records.warnings import WarningKind
from steelyard.trial.observe.guest_cpu import hidden_wait_warnings, reconciled
from steelyard.trial.observe.responses import Seen, measure_responses
from steelyard.trial.observe.window import WindowSamples

S = 1_000_000_000


def window(**cores: float) -> WindowSamples:
    """Ten seconds of counters that grow by so many cores; ``__`` stands for a dot."""
    counters = {name.replace("__", "."): [0, round(rate * 10 * S)] for name, rate in cores.items()}
    return WindowSamples(Counters({"monotonic_ns": [0, 10 * S], **counters}), {})


def inside(busy: float, steal: float) -> WindowSamples:
    states = {"cpu__user_ns": busy, "cpu__nice_ns": 0, "cpu__system_ns": 0, "cpu__irq_ns": 0}
    return window(**states, cpu__softirq_ns=0, cpu__steal_ns=steal)


def outside(*, vcpu: float, waited: float, qemu: float) -> WindowSamples:
    seen = window(
        threads__instance__vcpu__cpu_ns=vcpu,
        threads__instance__vcpu__run_delay_ns=waited,
        process__instance__cpu_ns=qemu,
    )
    threads = {"threads.instance.vcpu.threads": [2, 2]}
    return WindowSamples(Counters({**seen.counters.columns, **threads}), {})


def costs(guest: WindowSamples, host: WindowSamples) -> CostRecord:
    found = reconciled(Seen(None, guest, host))
    assert found is not None
    return found


def test_both_sides_of_a_guest_are_reported_in_cores() -> None:
    found = costs(inside(0.9, 0.0), outside(vcpu=0.6, waited=0.3, qemu=0.75))
    expected = CostRecord(
        instance_cores=0.75,
        vcpus=2,
        vcpu_cores=0.6,
        vcpu_wait_cores=0.3,
        busy_inside_cores=0.9,
        stolen_inside_cores=0.0,
    )
    assert found.model_dump() == pytest.approx(expected.model_dump())


def test_waiting_that_the_guest_does_not_see_is_a_warning_with_both_sides() -> None:
    found = costs(inside(0.9, 0.0), outside(vcpu=0.6, waited=0.3, qemu=0.75))
    (warning,) = hidden_wait_warnings("system", found)
    assert (warning.state, warning.kind) == ("suspect", WarningKind.HIDDEN_WAIT)
    assert warning.figures["machine"] == "system"
    assert warning.figures["busy_inside_cores"] == pytest.approx(0.9)
    assert warning.figures["vcpu_wait_cores"] == pytest.approx(0.3)


@pytest.mark.parametrize(("steal", "waited"), [(0.28, 0.3), (0.0, 0.09)])
def test_waiting_that_the_guest_sees_or_that_is_small_is_no_warning(
    steal: float, waited: float
) -> None:
    found = costs(inside(0.6, steal), outside(vcpu=0.6, waited=waited, qemu=0.75))
    assert hidden_wait_warnings("system", found) == []


def test_a_container_has_its_control_groups_cores_and_no_processors_of_its_own() -> None:
    host = window(cgroup__instance__cpu_ns=0.4, process__instance__cpu_ns=0.3)
    found = costs(inside(0.9, 0.0), host)
    assert found == CostRecord(instance_cores=0.4)
    assert hidden_wait_warnings("system", found) == []


def test_a_control_group_that_could_not_be_read_leaves_the_processes() -> None:
    seen = window(process__instance__cpu_ns=0.3)
    unread = Counters({**seen.counters.columns, "cgroup.instance.cpu_ns": [None, None]})
    host = WindowSamples(unread, {"cgroup.instance.cpu_ns": "gone"})
    wanted = {"host.instance_cpu": "cores"}
    told = measure_responses(wanted, Seen(None, inside(0, 0), host))["host.instance_cpu"]
    assert told.value == pytest.approx(0.3)


def test_the_second_instance_is_not_charged_with_what_stands_for_the_first() -> None:
    host = window(cgroup__instance__cpu_ns=0.4, cgroup__instance2__cpu_ns=0.1)
    seen = Seen(None, inside(0, 0), host, column="instance2")
    told = measure_responses({"host.instance_cpu": "cores"}, seen)["host.instance_cpu"]
    assert told.value == pytest.approx(0.1)


def not_sampled(column: str) -> ColumnMissing:
    return ColumnMissing(kind="column_not_sampled", column=column)


def test_what_was_not_sampled_is_missing_with_a_reason_and_never_zero() -> None:
    wanted = {"host.vcpu_cpu": "cores", "host.vcpu_wait": "cores"}
    told = measure_responses(wanted, Seen(None, inside(0, 0), window(process__x__cpu_ns=1)))
    assert [(one.value, one.missing) for one in told.values()] == [
        (None, not_sampled("threads.instance.vcpu.cpu_ns")),
        (None, not_sampled("threads.instance.vcpu.run_delay_ns")),
    ]
    assert reconciled(Seen(None, inside(0, 0), None)) is None
