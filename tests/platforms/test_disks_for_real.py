"""Disks on loop devices: every filesystem that this kernel has, mounted and nothing left after."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.platforms.loops import LoopDevice, loop_device, said
from tests.platforms.needs import need

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.mounts import MOUNT_TABLE, mounted_at
from steelyard.hosts.undo.log import UndoLog
from steelyard.systems.disks import DiskPlan, caching_places, drop_caches, prepare, take_down
from steelyard.systems.platform import AttachedDisk, RawDisk

SIZE_MIB = 320
KNOWN = Path("/proc/filesystems").read_text(encoding="ascii").split()
HERE = [fs for fs in ("ext2", "ext3", "ext4", "xfs", "btrfs") if fs in KNOWN]


@pytest.fixture
def loops(tmp_path: Path) -> Iterator[list[LoopDevice]]:
    need("losetup", "findmnt", "wipefs", root=True)
    with ExitStack() as stack:
        files = [tmp_path / f"{number}.img" for number in (1, 2)]
        yield [stack.enter_context(loop_device(file, size_mib=SIZE_MIB)) for file in files]


@pytest.fixture
def disks(loops: list[LoopDevice]) -> list[AttachedDisk]:
    return [
        AttachedDisk(RawDisk(f"data-{number}", SIZE_MIB * 2**20), loop.device, ("host page cache",))
        for number, loop in enumerate(loops, start=1)
    ]


def plan(tmp_path: Path, **more: str) -> DiskPlan:
    return DiskPlan("data", str(tmp_path / "mnt"), **more)


def signatures(disks: list[AttachedDisk]) -> list[str]:
    return [said("blkid", "--probe", disk.device, check=False) for disk in disks]


@pytest.mark.parametrize("filesystem", HERE)
def test_a_filesystem_is_made_mounted_and_gone_without_a_trace(
    host_machine: Host, undo: UndoLog, disks: list[AttachedDisk], tmp_path: Path, filesystem: str
) -> None:
    need(f"mkfs.{filesystem}")
    wanted = plan(tmp_path, filesystem=filesystem, mount_options="noatime")
    prepared = prepare(host_machine, disks, wanted, undo)
    (tmp_path / "mnt" / "file").write_text("x" * 2**20, encoding="ascii")
    mounted = mounted_at(Path(MOUNT_TABLE).read_text(encoding="utf-8"), wanted.mount_point)
    assert mounted is not None
    assert (mounted.filesystem, mounted.source) == (filesystem, disks[0].device)
    assert "noatime" in prepared.facts["disks.data.mounted_with"]
    assert prepared.facts["disks.data.mkfs.version"] != "not told"
    places = caching_places(host_machine, prepared)
    assert places[0] == "page cache of the system"
    assert places[-1] == "host page cache"
    take_down(host_machine, prepared, undo)
    assert not (tmp_path / "mnt").exists()
    assert signatures(disks) == ["", ""]
    assert undo.pending() == []


@pytest.mark.parametrize("layout", ["own-raid0", "own-raid1"])
@pytest.mark.skipif("btrfs" not in KNOWN, reason="this kernel has no btrfs")
def test_btrfs_builds_its_own_array_over_both_disks(
    host_machine: Host, undo: UndoLog, disks: list[AttachedDisk], tmp_path: Path, layout: str
) -> None:
    need("mkfs.btrfs")
    wanted = plan(tmp_path, filesystem="btrfs", layout=layout)
    prepared = prepare(host_machine, disks, wanted, undo)
    used = said("btrfs", "filesystem", "usage", "-b", wanted.mount_point)
    assert f"Data,{layout.removeprefix('own-').upper()}" in used
    take_down(host_machine, prepared, undo)
    assert undo.pending() == []


@pytest.mark.skipif(Path("/proc/mdstat").exists(), reason="this kernel has md; guests try it")
def test_an_array_where_the_kernel_has_none_is_not_available_here(
    host_machine: Host, undo: UndoLog, disks: list[AttachedDisk], tmp_path: Path
) -> None:
    need("mdadm", "modprobe")
    with pytest.raises(SystemFailure, match="raid0 is not available here") as caught:
        prepare(host_machine, disks, plan(tmp_path, layout="raid0"), undo)
    assert caught.value.kind == "not_supported"
    assert undo.pending() == []


@pytest.mark.parametrize("filesystem", ["jfs", "reiserfs", "f2fs"])
def test_a_filesystem_that_the_kernel_lacks_is_not_available_here(
    host_machine: Host, undo: UndoLog, disks: list[AttachedDisk], tmp_path: Path, filesystem: str
) -> None:
    need("modprobe")
    if filesystem in KNOWN or Path(f"/sys/module/{filesystem}").exists():
        pytest.skip(f"this kernel has {filesystem}")
    with pytest.raises(SystemFailure, match=f"{filesystem} is not available here"):
        prepare(host_machine, disks, plan(tmp_path, filesystem=filesystem), undo)


def test_a_step_that_fails_undoes_those_before_it(
    host_machine: Host, undo: UndoLog, disks: list[AttachedDisk], tmp_path: Path
) -> None:
    with pytest.raises(SystemFailure, match="mount"):
        prepare(host_machine, disks, plan(tmp_path, mount_options="no_such_option"), undo)
    assert signatures(disks) == ["", ""]
    assert not (tmp_path / "mnt").exists()
    assert undo.pending() == []


def test_what_a_tool_complains_of_is_reported_and_not_its_usage(
    host_machine: Host, undo: UndoLog, disks: list[AttachedDisk], tmp_path: Path
) -> None:
    need("mkfs.xfs")
    wanted = plan(tmp_path, filesystem="xfs", mkfs_options="-b size=777")
    with pytest.raises(SystemFailure, match="value 777 for -b size") as caught:
        prepare(host_machine, disks, wanted, undo)
    assert "sage:" not in caught.value.last_words


def test_a_place_where_something_is_mounted_is_not_covered(
    host_machine: Host,
    undo: UndoLog,
    disks: list[AttachedDisk],
    loops: list[LoopDevice],
    tmp_path: Path,
) -> None:
    loops[1].mounted(tmp_path / "mnt")
    with pytest.raises(SystemFailure) as caught:
        prepare(host_machine, disks[:1], plan(tmp_path), undo)
    assert caught.value.kind == "name_taken"
    assert (tmp_path / "mnt").is_mount()


def test_caches_are_dropped_once_where_two_agents_share_a_kernel(host_machine: Host) -> None:
    need(root=True)
    assert drop_caches(host_machine, host_machine) == ["local"]


@pytest.mark.skipif(shutil.which("mkfs.ext4") is None, reason="needs mkfs.ext4")
def test_options_of_mkfs_are_read(
    host_machine: Host, undo: UndoLog, disks: list[AttachedDisk], tmp_path: Path
) -> None:
    prepared = prepare(host_machine, disks, plan(tmp_path, mkfs_options="-b 1024"), undo)
    assert "Block size:               1024" in said("tune2fs", "-l", disks[0].device)
    assert "-b 1024" in prepared.facts["disks.data.mkfs"]
    take_down(host_machine, prepared, undo)
