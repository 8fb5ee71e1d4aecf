"""CPUs by number, and what a machine that lacks some of them says."""

from __future__ import annotations

import pytest
from tests.unit.hosts.stand_in import Machine, runs, said

from steelyard.hosts.failures import SystemFailure
from steelyard.systems.pinning import check_cpus, cpu_numbers, pin_each, within
from steelyard.systems.platform import Threads


def machine(allowed: str) -> Machine:
    status = said(stdout=f"Cpus_allowed_list:\t{allowed}\n")
    return Machine(tools={"taskset": lambda _: status})


def test_cpus_are_read_as_the_kernel_writes_them() -> None:
    assert cpu_numbers("0-2,5,7-7") == {0, 1, 2, 5, 7}


def test_without_a_declaration_a_command_stays_as_it_is() -> None:
    assert within(None, ["true"]) == ["true"]
    assert within("0-1", ["true"]) == ["taskset", "--cpu-list", "0-1", "true"]


def test_cpus_that_the_machine_has_are_good_however_they_are_written() -> None:
    check_cpus(machine("0-2").host(), "0,1,2")


def test_cpus_that_the_kernel_would_leave_out_in_silence_are_refused() -> None:
    with pytest.raises(SystemFailure, match="only 0-1") as refused:
        check_cpus(machine("0-1").host(), "0-7")
    assert refused.value.kind == "not_supported"


def test_cpus_of_which_the_machine_has_none_are_refused_as_such() -> None:
    refusing = machine("0-1")
    refusing.tools["taskset"] = lambda _: said(1, stderr="failed to set affinity: Invalid argument")
    refusing.files["/sys/devices/system/cpu/online"] = "0-1\n"
    with pytest.raises(SystemFailure) as refused:
        check_cpus(refusing.host(), "9")
    assert refused.value.kind == "not_supported"
    assert "0-1" in refused.value.message
    with pytest.raises(SystemFailure) as broken:
        check_cpus(refusing.host(), "0")
    assert broken.value.kind == "tool_failed"


def test_each_processor_of_a_guest_is_pinned_to_the_cpu_of_its_place() -> None:
    seen = machine("0-3")
    pin_each(seen.host(), Threads(9, (41, 42)), "3,1")
    assert runs(seen) == ["taskset --cpu-list --pid 3 41", "taskset --cpu-list --pid 1 42"]


def test_too_few_cpus_for_the_processors_are_refused_and_none_is_pinned() -> None:
    seen = machine("0-3")
    with pytest.raises(SystemFailure, match="1 CPUs for 2 processors"):
        pin_each(seen.host(), Threads(9, (41, 42)), "3")
    assert runs(seen) == []
