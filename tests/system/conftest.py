"""Daemons of the tests' own, one for each module that asks."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.platforms.conftest import host_machine, name, network, undo
from tests.platforms.guests import SMALL, built, guest_settings
from tests.platforms.needs import need
from tests.system.busybox import BUSYBOX
from tests.system.dockerd import Dockerd
from tests.system.far_guest import reached
from tests.system.libvirtd import Libvirtd, missing, running
from tests.system.lxc import Lxc

from steelyard.hosts.machines import LOCAL, open_machine
from steelyard.study import catalogue
from steelyard.systems.conformance.bench import Bench
from steelyard.systems.platform import AttachedDisk, Platform, RawDisk
from steelyard.systems.platforms import PLATFORMS

__all__ = ["host_machine", "name", "network", "undo"]
DISK_BYTES = 512 * 2**20
IMAGE = "steelyard-test"
"""The image in the daemon of Docker: busybox alone."""
PASSED = os.environ.get("PASSED")
"""A file of names of tests that have passed, a line each: they are not run again, so that hours of
tests that were interrupted go on where they were. Whoever changes the code removes it."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what has passed before."""
    if PASSED is None or not Path(PASSED).exists():
        return
    passed = set(Path(PASSED).read_text("utf-8").splitlines())
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid in passed])
    items[:] = [item for item in items if item.nodeid not in passed]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Notes a test that has passed; its end counts, where what it leaves behind is looked at."""
    if PASSED is None:
        return
    if report.when == "call" and report.passed:
        _running.add(report.nodeid)
    if report.when == "teardown" and report.passed and report.nodeid in _running:
        with Path(PASSED).open("a", encoding="utf-8") as file:
            file.write(f"{report.nodeid}\n")


_running: set[str] = set()


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


@pytest.fixture
def far_guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name for ``ssh`` of a machine of its own that may be restarted."""
    with reached(tmp_path, monkeypatch) as name:
        yield name


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
