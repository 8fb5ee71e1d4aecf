"""Inverses of storage on this machine: loop devices, mounts, values of the kernel."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.host import Host
from steelyard.hosts.machines import Machines
from steelyard.hosts.undo.actions.files import RemoveTree, RestoreFile, WriteValue, sha256_of
from steelyard.hosts.undo.actions.storage import DetachLoop, Unmount, WipeSignatures

TOOLS = ("losetup", "mkfs.ext4", "mount", "umount", "wipefs", "blkid")
MISSING = [tool for tool in TOOLS if shutil.which(tool) is None]
pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="only root attaches loop devices and mounts"),
    pytest.mark.skipif(bool(MISSING), reason=f"not on this machine: {', '.join(MISSING)}"),
]


@pytest.fixture
def host() -> Iterator[Host]:
    with Machines() as machines:
        yield machines.open("local")


def run(*argv: str | Path, check: bool = True) -> str:
    words = [str(word) for word in argv]
    return subprocess.run(words, check=check, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def image(tmp_path: Path) -> Iterator[Path]:
    """A file that a loop device may have behind it; whatever the test leaves is detached."""
    file = tmp_path / "disk.img"
    with file.open("wb") as empty:
        empty.truncate(16 * 2**20)
    yield file
    run("umount", tmp_path / "mnt", check=False)
    for line in run("losetup", "--list", "--noheadings", "--output", "NAME,BACK-FILE").splitlines():
        device, _, behind = line.partition(" ")
        if behind.strip().startswith(str(file)):
            run("losetup", "--detach", device)


@pytest.fixture
def mounted(image: Path) -> tuple[str, Path]:
    """The loop device of the image, with a filesystem that is mounted."""
    device = run("losetup", "--find", "--show", image)
    run("mkfs.ext4", "-q", device)
    place = image.parent / "mnt"
    place.mkdir()
    run("mount", device, place)
    return device, place


def test_signatures_go_from_a_disk_that_another_process_has_for_a_moment(
    host: Host, image: Path
) -> None:
    device = run("losetup", "--find", "--show", image)
    run("mkfs.ext4", "-q", device)
    held = os.open(device, os.O_RDONLY | os.O_EXCL)
    Timer(0.3, os.close, [held]).start()
    WipeSignatures(device, backing_file=str(image)).apply(host)
    assert run("blkid", "--probe", image, check=False) == ""


def attached(image: Path) -> bool:
    return bool(run("losetup", "--associated", image))


def test_all_of_it_is_undone_in_order_and_twice_does_no_harm(
    host: Host, image: Path, mounted: tuple[str, Path]
) -> None:
    device, place = mounted
    inverses = [
        Unmount(str(place), device),
        WipeSignatures(device, backing_file=str(image)),
        DetachLoop(str(image)),
    ]
    for inverse in inverses:
        inverse.apply(host)
    assert not place.is_mount()
    assert not attached(image)
    assert run("blkid", "--probe", image, check=False) == ""
    for inverse in inverses:
        inverse.apply(host)


def test_a_folder_is_kept_while_something_is_mounted_in_it(
    host: Host, mounted: tuple[str, Path]
) -> None:
    device, place = mounted
    (place / "precious").touch()
    with pytest.raises(AgentRefusal, match=f"{device} is mounted at {place}"):
        RemoveTree(str(place.parent)).apply(host)
    assert (place / "precious").exists()


def test_a_busy_filesystem_stays_and_so_does_its_loop_device(
    host: Host, image: Path, mounted: tuple[str, Path]
) -> None:
    device, place = mounted
    with (place / "open").open("w"):
        with pytest.raises(AgentRefusal, match="busy"):
            Unmount(str(place), device).apply(host)
        with pytest.raises(AgentRefusal, match="still in use"):
            DetachLoop(str(image)).apply(host)
    Unmount(str(place), device).apply(host)
    DetachLoop(str(image)).apply(host)
    assert not attached(image)


def test_who_looks_at_a_loop_device_for_a_moment_does_not_keep_it(host: Host, image: Path) -> None:
    with Path(run("losetup", "--find", "--show", image)).open("rb") as device:
        looking = subprocess.Popen(["sleep", "0.5"], stdin=device)
    DetachLoop(str(image)).apply(host)
    looking.wait()
    assert not attached(image)


def test_a_deleted_file_does_not_hide_its_loop_device(host: Host, image: Path) -> None:
    run("losetup", "--find", "--show", image)
    image.unlink()
    DetachLoop(str(image)).apply(host)
    assert str(image) not in run("losetup", "--list")


def test_a_value_of_the_kernel_is_written_again(host: Host, image: Path) -> None:
    device = run("losetup", "--find", "--show", image)
    file = Path("/sys/block", Path(device).name, "queue/read_ahead_kb")
    before = file.read_text(encoding="ascii").strip()
    file.write_text("64", encoding="ascii")
    WriteValue(str(file), before, host.boot_id).apply(host)
    assert file.read_text(encoding="ascii").strip() == before


def test_a_file_gets_its_content_and_mode_again(host: Host, tmp_path: Path) -> None:
    file = tmp_path / "settings.conf"
    file.write_text("ours\n", encoding="utf-8")
    inverse = RestoreFile(str(file), "theirs\n", 0o640, sha256_of("ours\n"))
    inverse.apply(host)
    assert file.read_text(encoding="utf-8") == "theirs\n"
    assert file.stat().st_mode & 0o777 == 0o640
    RestoreFile(str(file), None, None, sha256_of("theirs\n")).apply(host)
    assert not file.exists()
