"""Disks of real servers in real guests: nothing is left, and a dead server is no damage."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.integration.conftest import Steelyard
from tests.integration.servers.offered_disks import Offered, by_iscsi, by_nbd, by_nfs
from tests.platforms.guests import guest_settings

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.qemu import machines
from steelyard.hosts.undo.log import UndoLog
from steelyard.records.archive import open_run
from steelyard.records.schema import Outcome
from steelyard.study.declared.network_disks import read_network_disk
from steelyard.study.model import SystemSpec
from steelyard.systems.disks import DiskPlan, caching_places, prepare, take_down
from steelyard.systems.platform import InstanceContext, RawDisk
from steelyard.systems.qemu.platform import Qemu

SIZE = 64 << 20
EDGE = 1 << 20
LONGEST_S = 3600
"""A dozen trials of two emulated guests, on a machine that has much else to do."""
Server = Callable[[Path, int], AbstractContextManager[Offered]]
SERVERS = pytest.mark.parametrize("server", [by_nbd, by_iscsi, by_nfs])


@pytest.fixture
def guest(host_machine: Host, undo: UndoLog, name: str, tmp_path: Path) -> Iterator[Qemu]:
    settings = {**guest_settings(), "network": "user"}
    spec = SystemSpec(name="there", platform="qemu", settings=settings)
    folder = tmp_path / "machine"
    folder.mkdir()
    label = f"{name}-there-1"
    place = Qemu(InstanceContext(spec, 1, label, lambda: host_machine, undo, str(folder)))
    place.up()
    yield place
    place.down()
    assert machines(host_machine, label) == []


def disk_of(offered: Offered, *, anything: bool = False, cache: str = "none") -> RawDisk:
    offer = read_network_disk(offered.url)
    return RawDisk("data-1", SIZE // 2, cache=cache, offered=offer, anything=anything)


@SERVERS
def test_what_a_guest_writes_lies_at_the_server_until_the_disk_is_taken_off(
    guest: Qemu, undo: UndoLog, server: Server, tmp_path: Path
) -> None:
    with server(tmp_path, SIZE) as offered:
        beyond = b"of somebody"
        with offered.file.open("r+b") as file:
            file.seek(SIZE // 2)
            file.write(beyond)
        attached = guest.attach(disk_of(offered, cache="writeback"))
        assert guest.host().run(["blockdev", "--getsize64", attached.device], timeout_s=60).stdout
        plan = DiskPlan("data", "/srv/data")
        prepared = prepare(guest.host(), [attached], plan, undo)
        assert prepared.facts["disks.data.url"] == offered.url
        assert any(offered.url in place for place in caching_places(guest.host(), prepared))
        guest.host().write_file("/srv/data/file", "written inside " * 4096, create=True)
        guest.host().sync_filesystem("/srv/data")
        assert b"written inside" in offered.file.read_bytes()
        with pytest.raises(SystemFailure):
            guest.attach(disk_of(offered))
        take_down(guest.host(), prepared, undo)
        guest.detach(attached)
        assert attached.failed() is None
        content = offered.file.read_bytes()
        assert content[:EDGE] == bytes(EDGE)
        assert content[SIZE // 2 - EDGE : SIZE // 2] == bytes(EDGE)
        assert content[SIZE // 2 :].startswith(beyond)
        again = guest.attach(disk_of(offered))
        guest.detach(again)


@SERVERS
@pytest.mark.system  # another guest or two, which take a minute each
def test_a_guest_that_is_thrown_away_leaves_the_disk_blank(
    guest: Qemu, undo: UndoLog, server: Server, tmp_path: Path
) -> None:
    with server(tmp_path, SIZE) as offered:
        attached = guest.attach(disk_of(offered))
        prepare(guest.host(), [attached], DiskPlan("data", "/srv/data"), undo)
        assert offered.file.read_bytes()[:EDGE] != bytes(EDGE)
        guest.down()
        assert offered.file.read_bytes()[:EDGE] == bytes(EDGE)
        guest.up()


@SERVERS
@pytest.mark.system  # another guest or two, which take a minute each
def test_a_server_that_dies_is_seen_by_what_failed_or_by_asking_it(
    guest: Qemu, undo: UndoLog, server: Server, tmp_path: Path
) -> None:
    with server(tmp_path, SIZE) as offered:
        attached = guest.attach(disk_of(offered))
        prepare(guest.host(), [attached], DiskPlan("data", "/srv/data"), undo)
        assert attached.failed() is None
        os.kill(offered.pid, signal.SIGKILL)
        if server is by_nbd:  # clients of iSCSI and NFS wait for it to come back
            write = "echo lost > /srv/data/file; sync -f /srv/data/file"
            guest.host().run(["sh", "-c", write], timeout_s=120)
    said = attached.failed()
    assert said is not None
    assert offered.url in said


MARK = "written by the workload that is to lose its disk"
WRITE = (
    "if grep -q ' {mount} .*noatime' /proc/self/mounts; then "
    f"echo {MARK} > {{mount}}/x; i=0; while [ $i -lt 600 ]; do "
    "dd if=/dev/zero of={mount}/y bs=4096 count=1 conv=fsync status=none || exit 9; "
    "sleep 0.1; i=$((i + 1)); done; fi; sleep 0.1"
)
STUDY = """\
study: tiny
question: Is the disk of the server as fast?
defaults: {image: IMAGE, accel: tcg, memory: 256 MiB, network: user}
systems:
  here: {platform: qemu, disks: {data: {size: 32 MiB}}}
  there:
    platform: qemu
    disks: {data: {size: 32 MiB, mount: noatime, url: "URL", overwrite: blank}}
workload: WORKLOAD
trials: {margin: 50 %, settle: 0, reset: service, retry: 0, budget: {trials: 6 per cell}}
"""


@pytest.fixture
def steelyard(tmp_path: Path) -> Iterator[Steelyard]:
    tool = Steelyard(tmp_path)
    yield tool
    assert tool.wait_until_no_process() == []


def measure(steelyard: Steelyard, url: str, workload: dict[str, object]) -> tuple[int, str]:
    words = {"IMAGE": guest_settings()["image"], "URL": url, "WORKLOAD": json.dumps(workload)}
    text = STUDY
    for name, value in words.items():
        text = text.replace(name, str(value))
    (steelyard.folder / "study.yaml").write_text(text, encoding="utf-8")
    done = steelyard.run("run", ".", "--seed", "1", longest_s=LONGEST_S)
    return done.returncode, done.stderr


@pytest.mark.system
def test_a_study_compares_a_disk_of_a_server_with_one_of_this_machine(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    with by_nbd(tmp_path, SIZE) as offered:
        code, said = measure(steelyard, offered.url, {"use": "dd", "total": "4 MiB"})
        assert code in (0, 1), said
        assert offered.file.read_bytes()[:EDGE] == bytes(EDGE)
    run = open_run(steelyard.folder / "results" / "tiny")
    records = list(run.records())
    assert {each.outcome for each in records} == {Outcome.OK}
    assert all(check.not_checked == {} for each in records for check in each.disk_checks)
    facts = {each.cell.system: each.facts["system"] for each in records}
    assert facts["there"]["disks.data.url"] == offered.url
    assert "disks.data.url" not in facts["here"]
    assert offered.url in (run.path / "report" / "findings.json").read_text(encoding="utf-8")


@pytest.mark.system
def test_a_server_that_dies_in_a_trial_is_no_damage_and_no_failure_to_undo(
    steelyard: Steelyard, tmp_path: Path
) -> None:
    with by_nbd(tmp_path, SIZE) as offered:
        ended = threading.Event()
        killer = threading.Thread(target=_kill_when_marked, args=(offered, ended))
        killer.start()
        measure(steelyard, offered.url, {"use": "command", "command": ["sh", "-c", WRITE]})
        ended.set()
        killer.join()
    run = open_run(steelyard.folder / "results" / "tiny")
    there = [each for each in run.records() if each.cell.system == "there"]
    assert there
    assert {each.outcome for each in there} == {Outcome.UNREACHABLE}
    assert all(not check.damage for each in there for check in each.disk_checks)
    first = there[0].failure
    assert first is not None
    assert offered.url in first.message
    here = {each.outcome for each in run.records() if each.cell.system == "here"}
    assert Outcome.OK in here
    assert here <= {Outcome.OK, Outcome.SYSTEM_NOT_READY}, "a busy machine may start a guest late"


def _kill_when_marked(offered: Offered, ended: threading.Event) -> None:
    while not ended.wait(0.05):
        if MARK.encode() in offered.file.read_bytes():
            os.kill(offered.pid, signal.SIGKILL)
            return
