"""Every filesystem on every layout of md, in a guest: the kernel of this machine may lack them."""

from __future__ import annotations

import pytest
from tests.system.conftest import DISK_BYTES

from steelyard.hosts.host import Host
from steelyard.hosts.machines import LOCAL
from steelyard.study.declared.machine import filesystems
from steelyard.systems.conformance.bench import Bench
from steelyard.systems.disks import (
    DiskPlan,
    caching_places,
    check_disk,
    drop_caches,
    prepare,
    take_down,
    write_test_file,
)
from steelyard.systems.platform import AttachedDisk, Platform

pytestmark = pytest.mark.system


def arrays(host: Host) -> str:
    """What md shows; nothing once its modules are unloaded."""
    there = host.path_facts("/proc/mdstat").exists
    return host.read_file("/proc/mdstat") if there else ""


@pytest.mark.parametrize("filesystem", filesystems())
@pytest.mark.parametrize("layout", ["single", "raid0", "raid1"])
def test_every_layout_bears_every_filesystem_and_leaves_no_trace(
    guest_bench: Bench, guest: Platform, disks: list[AttachedDisk], layout: str, filesystem: str
) -> None:
    host = guest.host()
    plan = DiskPlan("data", "/srv/data", layout, filesystem, mount_options="noatime")
    prepared = prepare(host, disks, plan, guest_bench.undo)
    before = [p for p in guest_bench.undo.pending() if p in prepared.undos]
    assert before, "nothing was planned"
    if layout != "single":
        assert prepared.facts["disks.data.array.level"] == layout
        assert "[UU]" in host.read_file("/proc/mdstat") or layout == "raid0"
    host.write_file("/srv/data/file", "x" * 65536, create=True)
    assert len(caching_places(host, prepared)) > 2
    assert drop_caches(host, guest_bench.host_machine()) == [host.name, LOCAL]
    assert host.read_file("/srv/data/file") == "x" * 65536
    take_down(host, prepared, guest_bench.undo)
    assert "active" not in arrays(host)
    assert "/srv/data" not in host.read_file("/proc/self/mountinfo")
    for disk in disks:
        probed = host.run(["blkid", "--probe", disk.device], timeout_s=30)
        assert probed.stdout == ""


def test_a_stopped_session_leaves_an_array_that_its_inverses_undo(
    guest_bench: Bench, guest: Platform, disks: list[AttachedDisk]
) -> None:
    host = guest.host()
    prepared = prepare(host, disks, DiskPlan("data", "/srv/data", "raid1", "xfs"), guest_bench.undo)
    for pending in reversed(prepared.undos):
        guest_bench.undo.apply(host, pending)
        pending.inverse.apply(host)
    assert "active" not in arrays(host)


@pytest.mark.parametrize("spoilt", [False, True])
def test_a_block_in_which_two_copies_differ_is_damage(
    guest_bench: Bench, guest: Platform, disks: list[AttachedDisk], spoilt: bool
) -> None:
    host = guest.host()
    plan, sums = DiskPlan("data", "/srv/data", "raid1", "ext4"), "/run/steelyard-sums"
    prepared = prepare(host, disks, plan, guest_bench.undo)
    write_test_file(host, prepared, DISK_BYTES, sums)
    if spoilt:
        place = [f"of={disks[1].device}", "bs=1M", f"seek={DISK_BYTES * 3 // 4 >> 20}", "count=1"]
        host.run(["dd", "if=/dev/urandom", *place, "oflag=direct"], timeout_s=60)
    check = check_disk(host, prepared, sums, instance=1, every_file=False)
    take_down(host, prepared, guest_bench.undo)
    assert check.not_checked == {}
    assert check.checked == ("copies", "filesystem", "files")
    assert [damage.kind for damage in check.damage] == (["copies_differ"] if spoilt else [])
