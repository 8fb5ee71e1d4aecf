"""Disks on loop devices that are damaged on purpose: found; and those that are not: clean."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from tests.platforms.loops import LoopDevice, loop_device, said
from tests.platforms.needs import need

from steelyard.hosts.host import Host
from steelyard.hosts.undo.log import UndoLog
from steelyard.records.disk_checks import DiskCheck
from steelyard.study.declared.machine import filesystems
from steelyard.study.platform.settings import DiskSettings
from steelyard.systems.disks import (
    DiskPlan,
    Prepared,
    check_disk,
    prepare,
    take_down,
    use_folder,
    write_test_file,
)
from steelyard.systems.disks import check as check_module
from steelyard.systems.disks.check import TEST_FILE, await_release
from steelyard.systems.platform import AttachedDisk, RawDisk

SIZE_MIB = 320
SIZE_BYTES = SIZE_MIB * 2**20
KNOWN = Path("/proc/filesystems").read_text(encoding="ascii").split()
HERE = [fs for fs in ("ext2", "ext3", "ext4", "xfs", "btrfs") if fs in KNOWN]
Spoil = Callable[[Prepared, list[LoopDevice]], None]


@pytest.fixture
def loops(tmp_path: Path) -> Iterator[list[LoopDevice]]:
    need("losetup", "findmnt", "wipefs", root=True)
    with ExitStack() as stack:
        files = [tmp_path / f"{number}.img" for number in (1, 2)]
        yield [stack.enter_context(loop_device(file, size_mib=SIZE_MIB)) for file in files]


class Disk:
    """A disk with a test file and 1 MiB that a workload wrote."""

    def __init__(self, host: Host, undo: UndoLog, loops: list[LoopDevice], plan: DiskPlan) -> None:
        need(filesystems()[plan.filesystem].make[0], filesystems()[plan.filesystem].check[0])
        raw = [RawDisk(f"data-{n}", SIZE_BYTES) for n in (1, 2)]
        attached = [
            AttachedDisk(one, loop.device, ()) for one, loop in zip(raw, loops, strict=True)
        ]
        self.host, self.undo, self.loops = host, undo, loops
        self.place = Path(plan.mount_point)
        self.sums = str(self.place.parent / "sums")
        self.prepared = prepare(host, attached, plan, undo)
        write_test_file(host, self.prepared, SIZE_BYTES, self.sums)
        self.written = bytes(range(256)) * 4096
        (self.place / "written").write_bytes(self.written)

    def spoil(self, spoil: Callable[[], object]) -> None:
        """Does something to the disk while it is not mounted."""
        said("umount", self.place)
        await_release(self.host, self.prepared.device)
        spoil()
        for loop in self.loops:
            said("blockdev", "--flushbufs", loop.device)
        said("mount", "-t", self.prepared.plan.filesystem, self.prepared.device, self.place)

    def flip_a_byte_of(self, content: bytes) -> None:
        for loop in self.loops:
            with loop.file.open("r+b") as file:
                at = file.read().find(content[:4096])
                if at >= 0:
                    file.seek(at + 1000)
                    file.write(bytes([content[1000] ^ 1]))
                    return
        raise AssertionError("the content is nowhere on the disks")

    def checked(self, *, every_file: bool = False) -> DiskCheck:
        check = check_disk(self.host, self.prepared, self.sums, instance=1, every_file=every_file)
        take_down(self.host, self.prepared, self.undo)
        assert not self.place.exists()
        assert self.undo.pending() == []
        return check


def kinds(check: DiskCheck) -> list[str]:
    return [damage.kind for damage in check.damage]


@pytest.fixture
def disk(
    host_machine: Host, undo: UndoLog, loops: list[LoopDevice], tmp_path: Path
) -> Callable[..., Disk]:
    def made(**more: str) -> Disk:
        return Disk(host_machine, undo, loops, DiskPlan("data", str(tmp_path / "mnt"), **more))

    return made


@pytest.mark.parametrize("filesystem", HERE)
def test_a_disk_that_nothing_happened_to_is_clean(
    disk: Callable[..., Disk], filesystem: str
) -> None:
    check = disk(filesystem=filesystem, mount_options="noatime").checked(every_file=True)
    assert check.damage == ()
    assert check.not_checked == {}
    assert check.checked == ("filesystem", "files")
    assert check.files == 2, "the test file and what a workload wrote"


def test_damaged_metadata_of_ext4_is_found_and_not_mounted_again(disk: Callable[..., Disk]) -> None:
    need("debugfs")
    made = disk()
    device = made.prepared.device
    made.spoil(lambda: said("debugfs", "-w", "-R", "clri <11>", device))
    check = made.checked()
    assert kinds(check) == ["filesystem_damaged"]
    assert check.checked == ("filesystem",)
    assert "files" in check.not_checked


def test_a_flipped_byte_of_the_test_file_is_found_by_its_checksum(
    disk: Callable[..., Disk],
) -> None:
    made = disk()
    content = (made.place / TEST_FILE).read_bytes()
    made.spoil(lambda: made.flip_a_byte_of(content))
    check = made.checked()
    (damage,) = check.damage
    assert damage.kind == "content_changed"
    assert (damage.files, damage.names, damage.test_file) == (1, (TEST_FILE,), True)
    assert check.checked == ("filesystem", "files"), "ext4 has no checksums of data"


@pytest.mark.parametrize("layout", ["single", "own-raid1"])
@pytest.mark.skipif("btrfs" not in KNOWN, reason="this kernel has no btrfs")
def test_a_flipped_byte_is_found_by_the_checksums_of_btrfs_in_either_copy(
    disk: Callable[..., Disk], layout: str
) -> None:
    made = disk(filesystem="btrfs", layout=layout)
    made.spoil(lambda: made.flip_a_byte_of(made.written))
    assert kinds(made.checked()) == ["filesystem_damaged"]


def test_what_is_lost_between_the_page_cache_and_the_disk_is_found_where_all_files_are_read(
    disk: Callable[..., Disk], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = disk()
    unmounted = said("findmnt", "-no", "SOURCE", made.place)
    run = Host.run

    def spoiled(host: Host, argv: list[str], **more: object) -> object:
        ran = run(host, argv, **more)  # type: ignore[arg-type]
        if argv[0] == "umount" and unmounted:
            monkeypatch.setattr(Host, "run", run)
            await_release(host, made.prepared.device)
            made.flip_a_byte_of(made.written)
            said("blockdev", "--flushbufs", made.prepared.device)
        return ran

    monkeypatch.setattr(Host, "run", spoiled)
    (damage,) = made.checked(every_file=True).damage
    assert damage.kind == "content_changed"
    assert (damage.names, damage.test_file) == (("written",), False)


def test_of_a_folder_that_was_there_only_what_was_written_is_compared(
    host_machine: Host, undo: UndoLog, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "kept").write_text("kept", encoding="utf-8")
    wanted = DiskSettings(folder=str(mine), size=SIZE_BYTES)
    found = []
    for spoilt in (False, True):
        prepared = use_folder(host_machine, "data", wanted, "steelyard-1-data", undo)
        sums = str(tmp_path / "sums")
        write_test_file(host_machine, prepared, SIZE_BYTES, sums)
        if spoilt:
            with (Path(prepared.plan.mount_point) / TEST_FILE).open("r+b") as file:
                file.write(b"not what was written")
        found.append(check_disk(host_machine, prepared, sums, instance=1, every_file=False))
        take_down(host_machine, prepared, undo)
    assert [each.checked for each in found] == [("files",), ("files",)]
    assert [kinds(each) for each in found] == [[], ["content_changed"]]
    assert [path.name for path in mine.iterdir()] == ["kept"]


def test_a_disk_that_another_mount_namespace_holds_is_not_checked_instead_of_damaged(
    disk: Callable[..., Disk], monkeypatch: pytest.MonkeyPatch
) -> None:
    need("unshare")
    monkeypatch.setattr(check_module, "_RELEASE_S", 0.5)
    made = disk()
    words = ["unshare", "--mount", "--propagation", "private", "sleep", "600"]
    with subprocess.Popen(words) as other:
        mounts = Path(f"/proc/{other.pid}/mountinfo")
        own = Path("/proc/self/ns/mnt").readlink()
        while Path(f"/proc/{other.pid}/ns/mnt").readlink() == own:
            time.sleep(0.01)
        assert made.prepared.device in mounts.read_text(encoding="utf-8")
        found = check_disk(made.host, made.prepared, made.sums, instance=1, every_file=False)
        other.kill()
    assert found.damage == ()
    assert found.checked == ()
    assert set(found.not_checked) == {"filesystem", "files"}
    await_release(made.host, made.prepared.device)
    take_down(made.host, made.prepared, made.undo)


def test_a_test_file_that_somebody_removed_is_no_damage(disk: Callable[..., Disk]) -> None:
    made = disk()
    (made.place / TEST_FILE).unlink()
    check = made.checked()
    assert check.damage == ()
    assert check.checked == ("filesystem",)
    assert "files" in check.not_checked
