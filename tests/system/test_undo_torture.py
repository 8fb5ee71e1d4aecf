"""A hundred kills, over every setting, layout and platform that this machine has."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.platforms.alone import alone_with_the_machine
from tests.platforms.guests import IMAGE as GUEST_IMAGE
from tests.platforms.guests import built_folder, guest_settings
from tests.platforms.needs import need
from tests.platforms.sshd import ADDRESS, Sshd
from tests.platforms.test_undo_torture import seed_of
from tests.platforms.torture import studies
from tests.platforms.torture.session import Session, StudySession, Victim
from tests.platforms.torture.studies import Torture
from tests.platforms.torture.torture import left_behind, survive
from tests.system.conftest import IMAGE
from tests.system.dockerd import Dockerd
from tests.system.libvirtd import GUEST, Libvirtd
from tests.system.lxc import BRIDGE, Lxc
from tests.system.lxc import GUEST as LXC_GUEST

pytestmark = pytest.mark.system
VICTIMS: tuple[Victim, ...] = ("controller", "both", "agent, then controller")


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    tools = ("losetup", "mkfs.ext4", "mkfs.btrfs", "podman", "ip", "nsenter", "tuned", "unshare")
    need(*tools, root=True)
    with alone_with_the_machine():
        yield


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for a session whose machine is behind an ``ssh`` server that runs."""
    with Sshd(tmp_path / "sshd").running(monkeypatch):
        yield tmp_path / "far"


def of_study(
    folder: Path, torture: Torture, case: str, enter: tuple[str, ...] = ()
) -> StudySession:
    return StudySession(folder, "local", seed_of(f"system {case}"), enter=enter, torture=torture)


def in_docker(folder: Path, dockerd: Dockerd, case: str) -> StudySession:
    """A session that sees the network of Docker."""
    return of_study(folder, studies.docker(IMAGE), case, tuple(dockerd.enter([])))


def in_libvirt(folder: Path, libvirtd: Libvirtd, case: str) -> StudySession:
    """A session that sees the network of libvirt."""
    torture = studies.libvirt(built_folder(GUEST_IMAGE, "guest"), libvirtd.name, GUEST)
    return of_study(folder, torture, case, tuple(libvirtd.enter([])))


@pytest.mark.parametrize("number", range(30))
def test_a_kill_of_changes_here_is_survived(tmp_path: Path, number: int) -> None:
    victims: tuple[Victim, ...] = ("controller", "agent", "both")
    survive(Session(tmp_path, "local", seed_of(f"system here {number}")), victims[number % 3])


@pytest.mark.parametrize("number", range(12))
def test_a_kill_of_a_real_session_is_survived(tmp_path: Path, number: int) -> None:
    survive(of_study(tmp_path, studies.HERE, f"study {number}"), VICTIMS[number % 3])


@pytest.mark.parametrize("number", range(10))
def test_a_kill_of_a_confined_system_is_survived(tmp_path: Path, number: int) -> None:
    need("systemd-nspawn")
    survive(of_study(tmp_path, studies.CONFINED, f"confined {number}"), VICTIMS[number % 3])


@pytest.mark.parametrize("number", range(10))
def test_a_kill_of_changes_far_away_is_survived(far: Path, number: int) -> None:
    victims: tuple[Victim, ...] = ("ssh", "controller", "both")
    survive(Session(far, ADDRESS, seed_of(f"system far {number}")), victims[number % 3])


@pytest.mark.parametrize("number", range(6))
def test_a_kill_of_a_session_far_away_is_survived(far: Path, number: int) -> None:
    survive(of_study(far, studies.FAR, f"far study {number}"), VICTIMS[number % 3])


@pytest.mark.parametrize("number", range(8))
def test_a_kill_beside_guests_is_survived(tmp_path: Path, number: int) -> None:
    guest_settings()
    survive(of_study(tmp_path, studies.GUESTS, f"guests {number}"), VICTIMS[number % 3])


@pytest.mark.parametrize("number", range(10))
def test_a_kill_beside_containers_of_docker_is_survived(
    tmp_path: Path, dockerd: Dockerd, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    monkeypatch.setenv("DOCKER_HOST", dockerd.socket)
    session = in_docker(tmp_path, dockerd, f"docker {number}")
    survive(session, VICTIMS[number % 3])
    assert dockerd.docker("ps", "--all", "--quiet") == ""


@pytest.mark.parametrize("number", range(10))
def test_a_kill_beside_containers_of_lxc_is_survived(tmp_path: Path, lxc: Lxc, number: int) -> None:
    torture = studies.lxc(str(lxc.image), BRIDGE, LXC_GUEST)
    enter = tuple(lxc.enter([]))
    survive(of_study(tmp_path, torture, f"lxc {number}", enter), VICTIMS[number % 3])


@pytest.mark.parametrize("number", range(4))
def test_a_kill_beside_domains_of_libvirt_is_survived(
    tmp_path: Path, libvirtd: Libvirtd, number: int
) -> None:
    survive(in_libvirt(tmp_path, libvirtd, f"libvirt {number}"), VICTIMS[number % 3])


def test_a_container_of_docker_that_a_killed_session_left_is_seen(
    tmp_path: Path, dockerd: Dockerd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", dockerd.socket)
    session = in_docker(tmp_path, dockerd, "docker, seen")
    session.sees = lambda: dockerd.docker("ps", "--quiet") != ""
    seen = left_behind(session, events=1)
    assert [line for line in seen if line.startswith("container of docker")], seen


def test_a_domain_of_libvirt_that_a_killed_session_left_is_seen(
    tmp_path: Path, libvirtd: Libvirtd
) -> None:
    session = in_libvirt(tmp_path, libvirtd, "libvirt, seen")
    session.sees = lambda: libvirtd.virsh("list", "--name").strip() != ""
    seen = left_behind(session, events=1)
    assert [line for line in seen if line.startswith("domain")], seen
    assert [line for line in seen if line.startswith("process")], seen
