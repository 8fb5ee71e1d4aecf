"""The disk of the torture loses what was not synced, and nothing else."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from bench.torture.disk import TOOLS, Disk

NEEDS = [tool for tool in TOOLS if shutil.which(tool) is None]
pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or bool(NEEDS) or not Path("/dev/loop-control").exists(),
    reason=f"root, loop devices and {', '.join(TOOLS)} are needed",
)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    case = tmp_path / "case"
    case.mkdir()
    made = Disk(case / "results")
    yield made
    made.close()


def test_what_was_synced_comes_back_and_what_was_not_is_gone(disk: Disk) -> None:
    (disk.place / "synced").write_bytes(b"one")
    disk.sync()
    (disk.place / "synced").write_bytes(b"two, longer")
    (disk.place / "not-synced").write_bytes(b"three")
    disk.copy()
    disk.come_back()
    assert {path.name: path.read_bytes() for path in disk.place.iterdir()} == {"synced": b"one"}


def test_a_file_that_was_synced_before_it_was_renamed_has_a_name(disk: Disk) -> None:
    with (disk.place / ".new").open("xb") as file:
        file.write(b"whole")
        file.flush()
        os.fsync(file.fileno())
    (disk.place / ".new").rename(disk.place / "whole")
    disk.copy()
    disk.come_back()
    (only,) = disk.place.iterdir()
    assert (only.name, only.read_bytes()) == (".new", b"whole")
