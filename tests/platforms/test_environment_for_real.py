"""A snapshot of this machine sees what a run may leave on it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.platforms.loops import loop_device
from tests.platforms.needs import need

from steelyard.hosts.environment import differences, snapshot
from steelyard.hosts.host import Host


def test_a_process_of_the_run_is_seen_and_the_one_that_looks_is_not(
    host_machine: Host, name: str
) -> None:
    assert snapshot(host_machine, name)["process"] == {}
    with subprocess.Popen(["sleep", "600"], env={"STEELYARD_MARK": name}) as sleeper:
        try:
            assert list(snapshot(host_machine, name)["process"]) == [str(sleeper.pid)]
        finally:
            sleeper.kill()


def test_mounts_loop_devices_and_folders_of_ours_are_seen(
    host_machine: Host, name: str, tmp_path: Path
) -> None:
    need("losetup", "findmnt", "mkfs.ext4", root=True)
    before = snapshot(host_machine)
    folder = Path("/dev/shm", name)
    folder.mkdir()
    try:
        with loop_device(tmp_path / "disk.img", size_mib=32) as loop:
            loop.mounted(tmp_path / "mnt")
            found = differences(before, snapshot(host_machine))
            seen = {(one.kind, one.name) for one in found if one.reason is None}
            wanted = {
                ("loop device", loop.name),
                ("mount", str(tmp_path / "mnt")),
                ("folder", str(folder)),
            }
            assert wanted <= seen
    finally:
        folder.rmdir()
    after = differences(before, snapshot(host_machine))
    ours = (str(folder), str(tmp_path))
    assert not [one for one in after if any(mark in str(one) for mark in ours)]
