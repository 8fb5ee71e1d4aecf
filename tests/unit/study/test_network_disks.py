"""The URL of a disk that a server offers: what it names, and where it may stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from steelyard.errors import StudyError
from steelyard.study.declared.network_disks import PATTERN, NetworkDisk, read_network_disk
from steelyard.study.read import read_study
from steelyard.units import UnitError

STUDY = """\
study: s
question: q?
systems:
  one: {{platform: qemu, network: user, disks: {{data: {{{disk}}}}}}}
  two: {{platform: qemu, network: user, disks: {{made: {{size: 1 GiB}}}}}}
factors: {{{factors}}}
workload: {{use: dd}}
trials: {{margin: 5 %}}
"""
URL = "nbd://10.0.0.2/data"


@pytest.mark.parametrize(
    ("url", "disk"),
    [
        (URL, ("nbd", "10.0.0.2", 10809, "data", 0)),
        ("nbd://store:10810/a/b%20c", ("nbd", "store", 10810, "a/b c", 0)),
        ("nbd://[fe80::1]:10810/data", ("nbd", "fe80::1", 10810, "data", 0)),
        ("iscsi://store/iqn.2026-11.org.x:d/7", ("iscsi", "store", 3260, "iqn.2026-11.org.x:d", 7)),
        ("nfs://store/srv/disks/a.raw", ("nfs", "store", 2049, "/srv/disks/a.raw", 0)),
    ],
)
def test_a_url_names_a_server_and_what_it_offers(
    url: str, disk: tuple[str, str, int, str, int]
) -> None:
    assert read_network_disk(url) == NetworkDisk(url, *disk)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "url",
    [
        "data",
        "file:///srv/data",
        "NBD://store/data",
        "nbd://store",
        "nbd://store/",
        "nbd:///data",
        "nbd://store:0/data",
        "nbd://store:70000/data",
        "nbd://store:port/data",
        "nbd://store/data?tls",
        "nbd://store/a b",
        "iscsi://store/iqn.2026-11.org.x:d",
        "iscsi://store/data/1",
        "nfs://store/data",
        "nfs://store/srv/",
        "nfs://store:2049/srv/a.raw",
    ],
)
def test_what_names_no_disk_is_refused_with_the_form_to_write(url: str) -> None:
    with pytest.raises(UnitError) as refused:
        read_network_disk(url)
    assert "://HOST" in refused.value.hint


@pytest.mark.parametrize(
    "url",
    [
        "nbd://me:hidden@store/data",
        "iscsi://me%hidden@store/iqn.2026-11.org.x:d/1",
        "smb://me:hidden@store/data",
        "nbd://${env:hidden}@store/data",
    ],
)
def test_a_password_is_refused_and_never_repeated(url: str) -> None:
    with pytest.raises(UnitError) as refused:
        read_network_disk(url)
    assert "hidden" not in refused.value.message + refused.value.hint


def read(tmp_path: Path, disk: str, factors: str = "") -> None:
    file = tmp_path / "study.yaml"
    file.write_text(STUDY.format(disk=disk, factors=factors), encoding="utf-8")
    read_study(file)


def test_a_disk_of_a_server_is_compared_with_one_that_is_made(tmp_path: Path) -> None:
    read(
        tmp_path, f'url: "{URL}", size: 1 GiB, overwrite: blank, filesystem: xfs, cache: writeback'
    )


def test_servers_are_levels_of_a_factor_and_each_level_is_read(tmp_path: Path) -> None:
    levels = f'disks.data.url: ["{URL}", "iscsi://store/iqn.2026-11.org.x:d/1"]'
    with pytest.raises(StudyError) as error:
        read(tmp_path, "size: 1 GiB", levels)
    assert ["overwrite" in each.hint for each in error.value.complaints] == [True]
    read(tmp_path, "size: 1 GiB, overwrite: blank", levels)


@pytest.mark.parametrize(
    ("factors", "line"),
    [
        ('disks.data.url: ["nbd://store/data", "nbd://store"]', 6),
        ("system.network: [user, lab]", 4),
        ("system.instances: [1, 2]", 4),
        ("disks.data.layout: [single, raid0]", 4),
    ],
)
def test_no_level_of_a_factor_leads_around_a_rule(tmp_path: Path, factors: str, line: int) -> None:
    with pytest.raises(StudyError) as error:
        read(tmp_path, f'url: "{URL}", overwrite: blank', factors)
    assert [each.line for each in error.value.complaints] == [line]


def test_an_editor_accepts_what_reading_accepts() -> None:
    assert re.search(PATTERN, URL)
    assert not re.search(PATTERN, "nbd://me:hidden@store/data")
