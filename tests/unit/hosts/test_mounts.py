"""The kernel's table of mounts, with every oddity it has."""

from __future__ import annotations

import pytest

from steelyard.hosts.mounts import mount_of, mounted_at, mounts_below, read_mounts

TABLE = """\
1 0 254:0 / / rw,relatime - ext4 /dev/root rw,errors=remount-ro
36 1 7:0 / /mnt/a\\040b rw,noatime shared:1 master:2 - xfs /dev/loop0 rw,attr2
37 1 0:41 / /mnt/over rw - tmpfs tmpfs rw,size=64k
38 37 7:1 /sub /mnt/over rw - ext4 /dev/loop1 rw
"""


def test_a_place_with_a_blank_in_its_name_is_read() -> None:
    mount = read_mounts(TABLE)[1]
    assert (mount.mount_point, mount.filesystem, mount.source) == ("/mnt/a b", "xfs", "/dev/loop0")
    assert mount.options == ("rw", "noatime", "attr2")


def test_of_two_mounts_on_one_place_the_last_is_seen() -> None:
    seen = mounted_at(TABLE, "/mnt/over")
    assert seen is not None
    assert (seen.source, seen.root) == ("/dev/loop1", "/sub")


def test_what_is_mounted_below_a_folder_is_found_and_neighbours_are_not() -> None:
    assert [m.mount_point for m in mounts_below(TABLE, "/mnt/over")] == ["/mnt/over"] * 2
    assert mounts_below(TABLE, "/mnt/ove") == []
    assert len(mounts_below(TABLE, "/")) == 4


@pytest.mark.parametrize(
    ("path", "source"),
    [("/mnt/over/x", "/dev/loop1"), ("/mnt/overt", "/dev/root"), ("/mnt/a b", "/dev/loop0")],
)
def test_a_path_lies_in_the_nearest_mount_that_is_seen(path: str, source: str) -> None:
    mount = mount_of(TABLE, path)
    assert mount is not None
    assert mount.source == source
