"""Disks that are made, and ports that are named: what cannot be is refused where it is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import StudyError
from steelyard.study.read import read_study

DISKS = """\
study: disks
question: q?
systems:
  one: {platform: native, disks: {data: {%s}}}
  two: {platform: native, disks: {data: {size: 1 GiB}}}
factors: {%s}
workload: {use: dd}
trials: {margin: 5 %%}
"""
PORTS = """\
study: ports
question: q?
systems:
  one: {platform: native, %s}
  two: {platform: native, %s}
workload: {use: %s}
load: {users: 1}
trials: {margin: 5 %%, window: 200 ms, warmup: 50 ms, reset: %s}
"""


def places(folder: Path, text: str) -> list[tuple[int, int]]:
    """Line and column of every mistake of a study."""
    (folder / "study.yaml").write_text(text, encoding="utf-8")
    try:
        read_study(folder)
    except StudyError as error:
        return [(complaint.line, complaint.column) for complaint in error.complaints]
    return []


def place(text: str, written: str) -> list[tuple[int, int]]:
    """Line and column where the last of these words begins."""
    before = text[: text.rindex(written)]
    return [(before.count("\n") + 1, len(before) - before.rfind("\n"))]


FINE = [
    "count: 2, layout: raid1",
    "count: 2, layout: own-raid1, filesystem: btrfs",
    "size: 120 MiB, filesystem: btrfs",
    "size: 16 MiB, filesystem: btrfs, mkfs: -M",
    "size: 200 MiB, count: 2, layout: raid0, filesystem: xfs",
    "size: 104 KiB, filesystem: ext2",
    "size: 2 MiB, filesystem: ext3",
    "size: 2 MiB",
    "size: 64 KiB, mkfs: -O ^has_journal -N 16",
]
WRONG = [
    ("layout: raid1", "raid1"),
    ("count: 2, layout: own-raid1", "own-raid1"),
    ("size: 16 MiB, filesystem: btrfs", "16 MiB"),
    ("size: 120 MiB, count: 2, layout: own-raid0, filesystem: btrfs", "120 MiB"),
    ("size: 200 MiB, filesystem: xfs", "200 MiB"),
    ("size: 103 KiB, filesystem: ext2", "103 KiB"),
    ("size: 2047 KiB, filesystem: ext3", "2047 KiB"),
    ("size: 4 KiB", "4 KiB"),
    ("size: 0 B", "0 B"),
    ("size: 0 B, mkfs: -N 16", "0 B"),
    ("folder: /mnt/usb, size: 0 B", "0 B"),
]


@pytest.mark.parametrize("disk", FINE)
def test_a_disk_that_can_be_made_is_taken(tmp_path: Path, disk: str) -> None:
    assert places(tmp_path, DISKS % (disk, "")) == []


@pytest.mark.parametrize(("disk", "wrong"), WRONG)
def test_a_disk_that_cannot_be_made_is_a_mistake_where_it_is_written(
    tmp_path: Path, disk: str, wrong: str
) -> None:
    text = DISKS % (disk, "")
    assert places(tmp_path, text) == place(text, wrong)


def test_levels_of_a_disk_that_cannot_come_together_are_a_mistake_at_the_factor(
    tmp_path: Path,
) -> None:
    disk = "size: 1 GiB, count: 2"
    text = DISKS % (disk, "disks.data.layout: [single, own-raid0]")
    text = text.replace("{size: 1 GiB}", f"{{{disk}}}")
    assert places(tmp_path, text) == place(text, "[single, own-raid0]")


SINK = "service: {use: sink-http, port: 8080}"


def test_systems_that_stay_up_side_by_side_cannot_name_the_same_port(tmp_path: Path) -> None:
    text = PORTS % (SINK, SINK, "http", "none")
    assert places(tmp_path, text) == place(text, "8080")
    assert places(tmp_path, PORTS % (SINK, SINK, "http", "service")) == []
    assert places(tmp_path, PORTS % (SINK, SINK.replace("8080", "8081"), "http", "none")) == []
    lab = f"network: lab, {SINK}"
    assert places(tmp_path, PORTS % (lab, lab, "http", "none")) == []


def test_one_service_cannot_name_the_same_port_twice(tmp_path: Path) -> None:
    two = "service: {use: dovecot, imap_port: 1430, pop3_port: 1430}"
    text = PORTS % (two, "service: {use: dovecot}", "imap", "service")
    assert places(tmp_path, text) == place(text, "1430")


def test_instances_on_one_network_cannot_name_a_port(tmp_path: Path) -> None:
    walled = "instances: 2, confine: {cpus: 1}, service: {use: sink-http}"
    named = walled.replace("sink-http", "sink-http, port: 8080")
    text = PORTS % (named, walled, "http", "service")
    assert places(tmp_path, text) == place(text, "8080")
