"""A folder in place of a disk: which may be named, and what may stand beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from steelyard.errors import StudyError
from steelyard.study.declared.folders import system_folder
from steelyard.study.read import read_study

STUDY = """\
study: s
question: q?
systems:
  one: {{platform: {platform}, disks: {{data: {{{disk}}}}}}}
  two: {{platform: native}}
workload: {{use: dd}}
trials: {{margin: 5 %}}
"""


@pytest.mark.parametrize(
    "path", ["/", "//", "/etc", "/etc/", "/usr/share", "/var", "/home", "/mnt/../etc", "//usr/lib"]
)
def test_a_folder_of_the_system_is_known_however_it_is_spelt(path: str) -> None:
    assert system_folder(path) is not None


@pytest.mark.parametrize("path", ["/mnt/usb", "/home/me/data", "/var/tmp", "/tmp", "/etcetera"])
def test_a_folder_for_data_is_none_of_the_system(path: str) -> None:
    assert system_folder(path) is None


def read(tmp_path: Path, disk: str, platform: str = "native") -> None:
    file = tmp_path / "study.yaml"
    file.write_text(STUDY.format(disk=disk, platform=platform), encoding="utf-8")
    read_study(file)


def test_a_folder_with_the_room_it_needs_is_a_disk(tmp_path: Path) -> None:
    read(tmp_path, "folder: /mnt/usb, size: 10 GiB")


@pytest.mark.parametrize(
    ("disk", "platform", "said"),
    [
        ("folder: /etc", "native", "system's own folder /etc"),
        ("folder: mnt/usb", "native", "mnt/usb"),
        ("folder: /mnt/usb, filesystem: xfs", "native", "no place next to `folder`"),
        ("folder: /mnt/usb", "podman", "`podman` is none"),
    ],
)
def test_a_mistake_is_named_with_its_line(
    tmp_path: Path, disk: str, platform: str, said: str
) -> None:
    with pytest.raises(StudyError) as error:
        read(tmp_path, disk, platform)
    (complaint,) = error.value.complaints
    assert said in complaint.message
    assert complaint.line == 4
