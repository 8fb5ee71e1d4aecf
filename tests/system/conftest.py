"""Daemons of the tests' own, one for each module that asks."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.platforms.conftest import carrier, name, network, undo
from tests.platforms.guests import SMALL, built, guest_settings
from tests.platforms.needs import need
from tests.system.busybox import BUSYBOX
from tests.system.dockerd import Dockerd
from tests.system.libvirtd import Libvirtd, missing, running
from tests.system.lxc import Lxc

from steelyard.hosts.machines import LOCAL, open_machine
from steelyard.study import catalogue
from steelyard.systems.contract.bench import Bench
from steelyard.systems.platform import AttachedDisk, Platform, RawDisk
from steelyard.systems.platforms import PLATFORMS

__all__ = ["carrier", "name", "network", "undo"]
DISK_BYTES = 512 * 2**20
IMAGE = "steelyard-test"
"""The image in the daemon of Docker: busybox alone."""


@pytest.fixture(scope="module")
def dockerd() -> Iterator[Dockerd]:
    need("dockerd", "docker", "docker-init", "ip", "nsenter", root=True)
    _need_busybox()
    with (
        tempfile.TemporaryDirectory(prefix="sydk") as folder,
        Dockerd(Path(folder), _unique("steelyarddk")) as made,
    ):
        made.import_busybox(IMAGE)
        yield made


@pytest.fixture(scope="module")
def libvirtd() -> Iterator[Libvirtd]:
    if missing():
        pytest.skip(f"needs {', '.join(missing())}")
    if running():
        pytest.skip("a libvirtd of somebody else serves here; it is left alone")
    with (
        tempfile.TemporaryDirectory(prefix="sylv") as folder,
        Libvirtd(Path(folder), _unique("steelyardlv")) as made,
    ):
        yield made


@pytest.fixture(scope="module")
def lxc() -> Iterator[Lxc]:
    need("lxc-execute", "lxc-attach", "ip", "nsenter", "unshare", root=True)
    _need_busybox()
    with (
        tempfile.TemporaryDirectory(prefix="sylx") as folder,
        Lxc(Path(folder), _unique("steelyardlx")) as made,
    ):
        yield made


@pytest.fixture(scope="session")
def guest_bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """With a whole system in an emulated guest: systemd, tuned, the tools of every filesystem."""
    guest_settings()
    image = built("debian-tuned", "guest")
    settings = {**SMALL, "image": image, "memory": 1 << 30, "cpus": 2, "network": "lab"}
    made = Bench(
        PLATFORMS["qemu"],
        catalogue.platform("qemu"),
        settings,
        lambda: open_machine(LOCAL),
        tmp_path_factory.mktemp("guest"),
    )
    yield made
    made.close()


@pytest.fixture(scope="session")
def guest(guest_bench: Bench) -> Platform:
    return guest_bench.place()


@pytest.fixture(scope="session")
def disks(guest: Platform) -> list[AttachedDisk]:
    """Two, empty, attached while it runs."""
    return [guest.attach(RawDisk(f"data-{number}", DISK_BYTES)) for number in (1, 2)]


def _unique(name: str) -> str:
    """So that tests of several working copies may run side by side."""
    return f"{name}{uuid.uuid4().hex[:6]}"


def _need_busybox() -> None:
    if not BUSYBOX.exists():
        pytest.skip("needs busybox-static")
