"""A machine behind the real ``ssh``, on a server of the tests' own."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.platforms.sshd import ADDRESS, Sshd, make_key

from steelyard.engine.locate import find_engine
from steelyard.errors import EngineError
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.ssh import open_ssh
from steelyard.hosts.undo.log import UndoLog
from steelyard.study.model import SystemSpec
from steelyard.systems.platform import InstanceContext
from steelyard.systems.ssh import Ssh


@pytest.fixture
def sshd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sshd]:
    server = Sshd(tmp_path / "sshd")
    with server.running(monkeypatch):
        yield server


@pytest.fixture
def far(sshd: Sshd) -> Iterator[Host]:
    host = open_ssh(ADDRESS)
    yield host
    host.close()


def system(host: Host, undo: UndoLog, folder: Path, **settings: object) -> Ssh:
    spec = SystemSpec(name="a", platform="ssh", settings={"host": "steelyard-far", **settings})
    label = f"steelyard-{hashlib.sha256(str(folder).encode()).hexdigest()[:8]}-a-1"
    return Ssh(InstanceContext(spec, 1, label, lambda: host, undo, str(folder)))


def test_the_engine_is_carried_once_and_verified(sshd: Sshd) -> None:
    first = open_ssh(ADDRESS)
    digest = hashlib.sha256(find_engine().read_bytes()).hexdigest()
    carried = Path(first.engine)
    assert carried == sshd.cache / f"engine-{digest[:16]}"
    assert hashlib.sha256(carried.read_bytes()).hexdigest() == digest
    first.close()
    made = carried.stat().st_ino
    open_ssh(ADDRESS).close()
    assert carried.stat().st_ino == made


def test_an_engine_that_was_damaged_there_is_carried_again(sshd: Sshd) -> None:
    first = open_ssh(ADDRESS)
    carried = Path(first.engine)
    first.close()
    carried.unlink()
    carried.write_bytes(b"#!/bin/sh\nexit 7\n")
    carried.chmod(0o700)
    again = open_ssh(ADDRESS)
    assert again.run(["@engine", "--version"], timeout_s=60).exit_code == 0
    again.close()


def test_further_commands_share_the_connection_of_the_agent(sshd: Sshd, far: Host) -> None:
    ran = subprocess.run(far.way(["echo", "two words", "$HOME"]), capture_output=True, check=True)
    assert ran.stdout == b"two words $HOME\n"
    assert len(sshd.sessions()) == 1


def test_a_changed_host_key_ends_it_with_its_name(sshd: Sshd) -> None:
    make_key(sshd.folder / "other")
    sshd.trust(sshd.folder / "other.pub")
    with pytest.raises(SystemFailure, match="not the one that known_hosts has") as refused:
        open_ssh(ADDRESS)
    assert refused.value.kind == "host_key"
    assert not sshd.cache.exists()


def test_an_unknown_host_key_is_never_accepted(sshd: Sshd) -> None:
    (sshd.folder / "known_hosts").write_text("")
    with pytest.raises(SystemFailure, match="not known here") as refused:
        open_ssh(ADDRESS)
    assert refused.value.kind == "host_key"
    assert (sshd.folder / "known_hosts").read_text() == ""


def test_a_key_that_is_not_accepted_is_said_so(sshd: Sshd) -> None:
    make_key(sshd.folder / "user.new")
    (sshd.folder / "user.new").replace(sshd.folder / "user")
    (sshd.folder / "user.pub").write_text((sshd.folder / "host.pub").read_text())
    with pytest.raises(SystemFailure, match="lets no one in") as refused:
        open_ssh(ADDRESS)
    assert refused.value.kind == "no_rights"


def test_a_machine_that_is_down_is_unreachable(sshd: Sshd) -> None:
    sshd.stop()
    with pytest.raises(SystemFailure, match="refused") as refused:
        open_ssh(ADDRESS)
    assert refused.value.kind == "unreachable"
    assert not refused.value.for_operator


def test_a_connection_that_breaks_is_noticed_and_opened_again(
    sshd: Sshd, host_machine: Host, undo: UndoLog, tmp_path: Path
) -> None:
    place = system(host_machine, undo, tmp_path)
    place.up()
    try:
        before = place.host()
        sshd.break_connections()
        with pytest.raises(EngineError):
            before.clock()
        assert place.host() is not before
        place.host().clock()
    finally:
        place.down()


def test_what_the_agent_started_ends_with_the_connection(sshd: Sshd, far: Host) -> None:
    started = far.start(
        "sink",
        ["@engine", "sink", "http", "--listen", "127.0.0.1:0"],
        directory="/tmp",
        ready_timeout_s=60,
    )
    assert Path(f"/proc/{started.pid}").exists()
    far.close()
    assert not Path(f"/proc/{started.pid}").exists()


def test_nothing_is_restarted_unless_the_study_allows_it(
    sshd: Sshd, host_machine: Host, undo: UndoLog, tmp_path: Path
) -> None:
    place = system(host_machine, undo, tmp_path)
    place.up()
    try:
        with pytest.raises(SystemFailure, match="may_reboot") as refused:
            place.reset("boot")
        assert refused.value.kind == "not_supported"
    finally:
        place.down()


def test_a_folder_that_is_there_already_is_left_alone(
    sshd: Sshd, host_machine: Host, undo: UndoLog, tmp_path: Path
) -> None:
    place = system(host_machine, undo, tmp_path)
    folder = Path(place.folder())
    folder.mkdir()
    try:
        (folder / "theirs").touch()
        with pytest.raises(SystemFailure) as refused:
            place.up()
        assert refused.value.kind == "name_taken"
        place.down()
        assert (folder / "theirs").exists()
    finally:
        (folder / "theirs").unlink()
        folder.rmdir()
