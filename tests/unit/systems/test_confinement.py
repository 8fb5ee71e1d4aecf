"""Limits become control groups of whichever version the machine has."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from steelyard.hosts.failures import SystemFailure
from steelyard.systems.confinement import Group, enter, plan_groups

ONE = """\
proc /proc proc rw 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0
"""
TWO = "cgroup2 /sys/fs/cgroup cgroup2 rw,nsdelegate 0 0\n"
OWN = "4:memory:/above\n1:cpu,cpuacct:/\n0::/\n"


def planned(mounts: str, enabled: str = "", **wanted: int) -> list[Group]:
    return plan_groups(wanted, "steelyard-7-a-1", mounts, OWN, lambda _: enabled)


def test_of_version_1_each_limit_has_a_group_below_the_agents_own() -> None:
    assert planned(ONE, cpus=2, memory=1 << 20) == [
        Group(
            "/sys/fs/cgroup/cpu,cpuacct/steelyard-7-a-1",
            (("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "200000")),
        ),
        Group(
            "/sys/fs/cgroup/memory/above/steelyard-7-a-1", (("memory.limit_in_bytes", "1048576"),)
        ),
    ]


def test_of_version_2_both_limits_share_one_group() -> None:
    assert planned(TWO, "cpuset cpu memory", cpus=1, memory=1 << 20) == [
        Group(
            "/sys/fs/cgroup/steelyard-7-a-1",
            (("cpu.max", "100000 100000"), ("memory.max", "1048576")),
        )
    ]


@pytest.mark.parametrize("mounts", ["", TWO])
def test_a_controller_that_is_not_there_is_named(mounts: str) -> None:
    with pytest.raises(SystemFailure, match="controller memory") as refused:
        planned(mounts, "cpu", memory=1 << 20)
    assert refused.value.kind == "not_supported"


def test_without_limits_words_stay_as_they_are() -> None:
    assert enter([], ["true"]) == ["true"]


def test_words_run_after_every_group_was_entered(tmp_path: Path) -> None:
    groups = [Group(str(tmp_path / name), ()) for name in ("a", "b")]
    for group in groups:
        Path(group.folder).mkdir()
    ran = subprocess.run(enter(groups, ["echo", "two words"]), capture_output=True, check=True)
    assert ran.stdout == b"two words\n"
    assert [(Path(g.folder) / "cgroup.procs").read_text() for g in groups] == ["0\n", "0\n"]


def test_words_do_not_run_outside_a_group_that_cannot_be_entered(tmp_path: Path) -> None:
    ran = subprocess.run(
        enter([Group(str(tmp_path / "gone"), ())], ["echo", "ran"]),
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 126
    assert ran.stdout == b""
