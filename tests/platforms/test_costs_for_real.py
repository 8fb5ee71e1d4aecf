"""What instances cost the machine that carries them, and where they run, on the real thing."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from tests.platforms.guests import guest_settings
from tests.platforms.needs import need

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.lab_network import NamespaceNetwork
from steelyard.hosts.undo.log import UndoLog
from steelyard.study.model import SystemSpec
from steelyard.systems.native import Native
from steelyard.systems.platform import VCPU, Costs, InstanceContext, Platform
from steelyard.systems.podman.platform import Podman
from steelyard.systems.qemu.platform import Qemu

SPIN = ["sh", "-c", "n=0; while [ $n -lt 2000 ]; do n=$((n + 1)); done"]
NO_CPU = "4095"


def context(
    host_machine: Host, undo: UndoLog, label: str, folder: Path, **settings: object
) -> InstanceContext:
    spec = SystemSpec(name="a", platform="any", settings=settings)
    return InstanceContext(spec, 1, label, lambda: host_machine, undo, str(folder))


def spent_ns(host_machine: Host, place: Platform, column: str, costs: Costs) -> int:
    """How far the counter of the host goes while something is computed inside."""
    threads = {name: (group.process, group.ids) for name, group in costs.threads.items()}
    host_machine.start_sampling(
        interval_s=0.1, processes={}, disks={}, cgroups=costs.cgroups, threads=threads
    )
    try:
        ran = place.host().run(SPIN, timeout_s=120)
        assert ran.succeeded, ran.stderr
        time.sleep(0.2)
    finally:
        samples = host_machine.stop_sampling()
    assert samples.missing.get(column) is None
    first, last = samples.columns[column][0], samples.columns[column][-1]
    assert first is not None
    assert last is not None
    return last - first


def test_the_processors_of_a_guest_are_known_pinned_and_sampled(
    host_machine: Host, undo: UndoLog, network: NamespaceNetwork, name: str, tmp_path: Path
) -> None:
    settings = guest_settings()
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("needs two processors")
    network.up()
    more = {"cpus": 2, "vcpu_cpus": "1,0", "cpuset": "0-1", "network": "lab"}
    spec = SystemSpec(name="a", platform="qemu", settings={**settings, **more})
    place = Qemu(
        InstanceContext(spec, 1, f"{name}-a-1", lambda: host_machine, undo, str(tmp_path), network)
    )
    try:
        place.up()
        costs = place.costs()
        vcpus = costs.threads[VCPU]
        assert len(vcpus.ids) == 2
        told = {thread.id: thread for thread in host_machine.thread_places(vcpus.process).threads}
        assert [told[number].allowed_cpus for number in vcpus.ids] == ["1", "0"]
        assert [told[number].name for number in vcpus.ids] == ["CPU 0/TCG", "CPU 1/TCG"]
        assert {told[vcpus.process].allowed_cpus} == {"0-1"}
        assert spent_ns(host_machine, place, f"threads.{VCPU}.cpu_ns", costs) > 0
    finally:
        place.down()


def test_a_container_is_sampled_by_its_control_group(
    host_machine: Host, undo: UndoLog, name: str, tmp_path: Path
) -> None:
    need("podman", root=True)
    settings = {"network": "host", "cpuset": "0"}
    place = Podman(context(host_machine, undo, f"{name}-a-1", tmp_path, **settings))
    try:
        place.up()
        costs = place.costs()
        (group,) = costs.cgroups
        (pid,) = costs.processes.values()
        places = host_machine.thread_places(pid).threads
        assert {thread.allowed_cpus for thread in places} == {"0"}
        host_machine.start_sampling(interval_s=0.1, processes={}, disks={}, cgroups=costs.cgroups)
        ran = place.host().run(["@engine", "kernel", "linpack", "--size", "200"], timeout_s=60)
        samples = host_machine.stop_sampling()
        assert ran.succeeded, ran.stderr
        used = samples.columns[f"cgroup.{group}.cpu_ns"]
        assert used[0] is not None
        assert used[-1] is not None
        assert used[-1] > used[0]
        assert samples.columns[f"cgroup.{group}.memory_bytes"][0]
    finally:
        place.down()


def test_a_native_system_runs_on_the_processors_that_it_declares_and_needs_no_root(
    host_machine: Host, undo: UndoLog, name: str, tmp_path: Path
) -> None:
    need("taskset")
    first = str(min(os.sched_getaffinity(0)))
    place = Native(context(host_machine, undo, name, tmp_path, confine={"cpuset": first}))
    try:
        place.up()
        ran = place.host().run(["grep", "Cpus_allowed_list", "/proc/self/status"], timeout_s=60)
        assert ran.stdout.split()[-1] == first
        assert place.facts() == {"confined.by": f"affinity={first}"}
    finally:
        place.down()


def test_a_limit_that_something_else_undid_is_found_before_the_next_trial(
    host_machine: Host, undo: UndoLog, name: str, tmp_path: Path
) -> None:
    need("ip", root=True)
    place = Native(context(host_machine, undo, name, tmp_path, confine={"cpus": 1}))
    try:
        place.up()
        place.reset("service")
        (file,) = limits(host_machine, name)
        held = host_machine.read_file(file).strip()
        host_machine.write_file(file, "-1" if file.endswith("quota_us") else "max")
        with pytest.raises(SystemFailure, match=f"{file} was {held} and is") as refused:
            place.reset("service")
        assert refused.value.kind == "reset_not_proved"
    finally:
        place.down()


def limits(host_machine: Host, name: str) -> list[str]:
    """The file that holds the limit on processors, whichever version the machine has."""
    words = ["find", "/sys/fs/cgroup", "-path", f"*/{name}/cpu.*"]
    files = host_machine.run(words, timeout_s=60).stdout.split()
    return [each for each in files if each.endswith(("/cpu.cfs_quota_us", "/cpu.max"))]


def test_a_processor_that_the_machine_has_not_is_refused(
    host_machine: Host, undo: UndoLog, name: str, tmp_path: Path
) -> None:
    need("taskset")
    settings = {"confine": {"cpuset": f"0,{NO_CPU}"}}
    with pytest.raises(SystemFailure, match="only 0 to run on") as refused:
        Native(context(host_machine, undo, name, tmp_path, **settings)).up()
    assert refused.value.kind == "not_supported"
