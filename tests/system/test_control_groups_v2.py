"""Limits by control groups of version 2, on a machine that has no others: a guest by `ssh`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.machines import Machines
from steelyard.hosts.ssh import SCHEME
from steelyard.hosts.tool import tell
from steelyard.hosts.undo.log import UndoLog
from steelyard.study.model import SystemSpec
from steelyard.systems.native import Native
from steelyard.systems.platform import InstanceContext

pytestmark = pytest.mark.system
MEMORY_BYTES = 64 * 2**20
TWO_LOOPS = "loop() { n=0; while [ $n -lt 20000 ]; do n=$((n + 1)); done; }; loop & loop; wait"
TOO_MUCH = ["dd", "if=/dev/zero", "of=/dev/null", f"bs={2 * MEMORY_BYTES}", "count=1"]


@pytest.fixture
def machine(far_guest: str) -> Iterator[Host]:
    with Machines() as machines:
        host = machines.open(SCHEME + far_guest)
        kinds = {line.split()[2] for line in host.read_file("/proc/self/mounts").splitlines()}
        assert "cgroup2" in kinds
        assert "cgroup" not in kinds
        yield host


@pytest.fixture
def confined(machine: Host, undo: UndoLog, name: str) -> Iterator[Native]:
    """Not up: at first systemd gives new groups no processors to share."""
    settings = {"confine": {"cpus": 1, "memory": MEMORY_BYTES}}
    spec = SystemSpec(name="a", platform="native", settings=settings)
    folder = f"/var/tmp/{name}"
    tell(machine, ["mkdir", folder])
    place = Native(InstanceContext(spec, 1, name, lambda: machine, undo, folder))
    try:
        yield place
    finally:
        place.down()
    assert undo.pending() == []
    assert tell(machine, ["find", "/sys/fs/cgroup", "-name", f"{name}*"]) == ""


def counts(host: Host, file: str) -> dict[str, int]:
    """Of a file with a name and a number in each line."""
    lines = (line.split() for line in host.read_file(file).splitlines())
    return {name: int(count) for name, count in lines}


def test_processor_and_memory_of_what_is_confined_are_limited_and_told(
    machine: Host, confined: Native
) -> None:
    with pytest.raises(SystemFailure) as refused:
        confined.up()
    words, _, _ = (refused.value.hint or "").removeprefix("in version 2: ").partition(";")
    tell(machine, words.split())
    confined.up()
    confined.reset("process")
    (folder,) = confined.costs().cgroups.values()
    assert machine.read_file(f"{folder}/cpu.max").split() == ["100000", "100000"]
    before = counts(machine, f"{folder}/cpu.stat")
    machine.start_sampling(interval_s=0.1, processes={}, disks={}, cgroups=confined.costs().cgroups)
    ran = confined.host().run(["sh", "-c", TWO_LOOPS], timeout_s=120)
    samples = machine.stop_sampling()
    assert ran.succeeded, ran.stderr
    after = counts(machine, f"{folder}/cpu.stat")
    assert after["nr_throttled"] > before["nr_throttled"]

    told = samples.columns["cgroup.confined.cpu_ns"]
    assert None not in told
    assert before["usage_usec"] * 1000 <= told[0] < told[-1] <= after["usage_usec"] * 1000
    assert samples.columns["cgroup.confined.memory_bytes"][-1]

    assert not confined.host().run(TOO_MUCH, timeout_s=120).succeeded
    assert counts(machine, f"{folder}/memory.events")["oom_kill"] == 1
    assert confined.host().run(["true"], timeout_s=60).succeeded
