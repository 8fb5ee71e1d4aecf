"""Disks on a machine that is not there: arrays, and disks that are not ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.hosts.stand_in import MOUNT_TABLE, Machine, runs, said

from steelyard.engine.messages import Ran
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.undo.log import UndoLog
from steelyard.records.ledger import Ledger
from steelyard.study import catalogue
from steelyard.study.declared.machine import filesystems
from steelyard.systems.disks import (
    DiskPlan,
    caching_places,
    check_disk,
    drop_caches,
    prepare,
    take_down,
)
from steelyard.systems.disks.check import TEST_FILE
from steelyard.systems.platform import AttachedDisk, RawDisk

PLAN = DiskPlan("data", "/srv/data", layout="raid1", filesystem="jfs", mount_options="noatime")
DISKS = [
    AttachedDisk(RawDisk(f"data-{n}", 2**30), f"/dev/vd{letter}", ("QEMU: cache none",))
    for n, letter in enumerate("bc", start=1)
]


@pytest.fixture
def undo(tmp_path: Path) -> Iterator[UndoLog]:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        yield UndoLog(ledger)


class Guest(Machine):
    """A machine with md and jfs, and two disks with serial numbers."""

    array = ""

    @classmethod
    def made(cls) -> Guest:
        files = {
            MOUNT_TABLE: "",
            "/proc/filesystems": "nodev\ttmpfs\n\tjfs\n\text4\n",
            "/proc/mdstat": "Personalities : [raid0] [raid1]\n",
            "/sys/block/vdb/serial": "data-1",
            "/sys/block/vdc/serial": "data-2",
            "/sys/block/vdb/queue/write_cache": "write back\n",
        }
        guest = cls(files=files)
        guest.tools |= {
            "find /sys/block": lambda _: said(stdout="/sys/block/md0\n"),
            "mdadm --create": guest.create,
            "mdadm --detail --scan": lambda _: said(stdout=guest.array),
            "mdadm --detail --export": lambda _: said(stdout="MD_LEVEL=raid1\nMD_UUID=x\n"),
            "mdadm --stop": lambda _: guest.stop(),
            "mount": guest.mount,
            "umount": lambda _: guest.unmount(),
            "test ! -d": lambda _: said(1),
            "mkfs.jfs -V": lambda _: said(stderr="mkfs.jfs version 1.1.15\n"),
        }
        return guest

    def create(self, words: list[str]) -> Ran:
        [uuid] = [word.removeprefix("--uuid=") for word in words if word.startswith("--uuid=")]
        self.array = f"ARRAY {words[2]} metadata=1.2 name=x:1 UUID={uuid}\n"
        return said()

    def stop(self) -> Ran:
        self.array = ""
        return said()

    def mount(self, words: list[str]) -> Ran:
        line = f"40 1 9:1 / {words[-1]} rw,noatime - jfs {words[-2]} rw\n"
        self.files[MOUNT_TABLE] = line
        return said()

    def unmount(self) -> Ran:
        self.files[MOUNT_TABLE] = ""
        return said()

    def sync_filesystem(self, path: str) -> None:
        self.changes.append(("sync", path))


def test_every_filesystem_a_study_may_name_is_known_and_the_other_way_round() -> None:
    assert set(catalogue.disk_settings()["filesystem"].choices) == set(filesystems())


def test_an_array_is_made_in_step_and_every_step_is_undone_in_reverse(undo: UndoLog) -> None:
    guest = Guest.made()
    prepared = prepare(guest.host(), DISKS, PLAN, undo)
    assert prepared.device == "/dev/md1", "md0 is somebody else's"
    assert prepared.facts["disks.data.array.level"] == "raid1"
    assert prepared.facts["disks.data.mkfs.version"] == "mkfs.jfs version 1.1.15"
    made = [line for line in runs(guest) if line.startswith(("mdadm --create", "mkfs.jfs -q"))]
    assert "--assume-clean --raid-devices=2 /dev/vdb /dev/vdc" in made[0]
    assert made[1] == "mkfs.jfs -q /dev/md1"
    guest.changes.clear()
    take_down(guest.host(), prepared, undo)
    changing = ("umount", "rmdir", "mdadm --stop", "wipefs")
    assert [line for line in runs(guest) if line.startswith(changing)] == [
        "umount /srv/data",
        "rmdir /srv/data",
        "mdadm --stop /dev/md1",
        "wipefs --all --quiet /dev/vdc",
        "wipefs --all --quiet /dev/vdb",
    ]
    assert undo.pending() == []


@pytest.mark.parametrize(("sectors", "kinds"), [("0\n", []), ("128\n", ["copies_differ"])])
def test_the_copies_of_a_mirror_are_compared_by_the_kernel(
    undo: UndoLog, sectors: str, kinds: list[str]
) -> None:
    guest = Guest.made()
    prepared = prepare(guest.host(), DISKS, PLAN, undo)
    guest.files |= {
        "/sys/block/md1/md/sync_action": "idle\n",
        "/sys/block/md1/md/mismatch_cnt": sectors,
        f"{PLAN.mount_point}/{TEST_FILE}": "",
    }
    check = check_disk(guest.host(), prepared, "/sums", instance=1, every_file=False)
    assert [damage.kind for damage in check.damage] == kinds
    assert check.checked == ("copies", "filesystem", "files")
    order = [line.split(" -", 1)[0].split(" /")[0] for line in runs(guest)]
    assert order.index("mdadm") < order.index("fsck.jfs"), "the copies, then the filesystem"


@pytest.mark.parametrize(("code", "damaged"), [(0, False), (4, True), (16, False)])
def test_only_the_exit_codes_of_damage_are_damage(undo: UndoLog, code: int, damaged: bool) -> None:
    guest = Guest.made()
    guest.files |= {f"/srv/data/{TEST_FILE}": ""}
    prepared = prepare(guest.host(), DISKS, DiskPlan("data", "/srv/data", filesystem="jfs"), undo)
    guest.tools["fsck.jfs"] = lambda _: said(code, stdout="it is what it is")
    check = check_disk(guest.host(), prepared, "/sums", instance=1, every_file=False)
    assert bool(check.damage) is damaged
    assert ("filesystem" in check.not_checked) is (code == 16)


def test_the_places_that_cache_are_listed_from_the_service_outwards(undo: UndoLog) -> None:
    guest = Guest.made()
    prepared = prepare(guest.host(), DISKS, PLAN, undo)
    assert caching_places(guest.host(), prepared) == (
        "page cache of the system",
        "jfs: a journal",
        "/dev/vdb: write back cache",
        "QEMU: cache none",
        "/dev/vdc: write cache not known",
    )


def test_a_disk_with_another_serial_number_is_never_written_to(undo: UndoLog) -> None:
    guest = Guest.made()
    guest.files["/sys/block/vdc/serial"] = "of-somebody"
    with pytest.raises(SystemFailure, match="is not the disk data-2") as caught:
        prepare(guest.host(), DISKS, PLAN, undo)
    assert caught.value.kind == "name_taken"
    assert not [line for line in runs(guest) if line.startswith(("mkfs", "mdadm --create"))]


@pytest.mark.parametrize(
    ("size", "found", "ours"), [(2**30, 2, True), (2**30, 0, False), (7, 2, False)]
)
def test_a_disk_without_serial_number_is_ours_only_if_empty_and_of_the_size(
    undo: UndoLog, size: int, found: int, ours: bool
) -> None:
    guest = Guest.made()
    del guest.files["/sys/block/vdb/serial"]
    guest.tools |= {
        "blockdev": lambda _: said(stdout=f"{size}\n"),
        "blkid": lambda _: said(found),
    }
    plan = DiskPlan("data", "/srv/data", filesystem="jfs")
    if ours:
        assert prepare(guest.host(), DISKS, plan, undo).members == (DISKS[0],)
    else:
        with pytest.raises(SystemFailure, match="is not the disk data-1"):
            prepare(guest.host(), DISKS, plan, undo)


def test_one_disk_is_no_array(undo: UndoLog) -> None:
    with pytest.raises(SystemFailure, match="needs two disks"):
        prepare(Guest.made().host(), DISKS[:1], PLAN, undo)


def test_only_btrfs_builds_its_own_arrays(undo: UndoLog) -> None:
    plan = DiskPlan("data", "/srv/data", layout="own-raid0", filesystem="ext4")
    with pytest.raises(SystemFailure, match="ext4 builds no arrays itself"):
        prepare(Guest.made().host(), DISKS, plan, undo)


def test_a_guest_and_its_host_both_drop_their_caches(undo: UndoLog) -> None:
    class Dropping(Machine):
        def drop_caches(self) -> None:
            self.changes.append(("drop", self.name))

    guest, host_machine = Dropping(name="inside:a", boot_id="boot-2"), Dropping()
    assert drop_caches(guest.host(), host_machine.host()) == ["inside:a", "local"]
    container = Dropping(name="inside:b")
    assert drop_caches(container.host(), host_machine.host()) == ["local"]
    assert container.changes == []
