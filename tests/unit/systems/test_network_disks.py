"""Disks that a server offers: what QEMU is told of them, and what keeps one from being used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.hosts.stand_in import MOUNT_TABLE, Machine, runs, said

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.undo.log import UndoLog
from steelyard.records.ledger import Ledger
from steelyard.study.declared.network_disks import read_network_disk
from steelyard.study.platform.settings import DiskSettings
from steelyard.systems.disks import DiskPlan, prepare, use_folder
from steelyard.systems.platform import AttachedDisk, RawDisk
from steelyard.systems.qemu.disks import block_node
from steelyard.systems.qemu.network_disks import failed_requests, make_blank, refuse_unusable

SIZE = 64 << 20
NBD = read_network_disk("nbd://store:10810/data")
ISCSI = read_network_disk("iscsi://[fe80::1]/iqn.2026-11.org.x:d/3")
NFS = read_network_disk("nfs://store/srv/a.raw")
OPEN_FAILS = 'qemu-img: Could not open \'json:{"driver": "raw"}\': '


@pytest.fixture
def undo(tmp_path: Path) -> Iterator[UndoLog]:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        yield UndoLog(ledger)


def node(disk: Any, **more: Any) -> dict[str, Any]:
    made: dict[str, Any] = block_node(RawDisk("data-1", SIZE, offered=disk, **more), "/d.raw")
    return made


def test_every_protocol_is_a_node_of_its_own_below_the_beginning_that_is_used() -> None:
    below = {disk.protocol: node(disk)["file"] for disk in (NBD, ISCSI, NFS)}
    assert below["nbd"]["server"] == {"type": "inet", "host": "store", "port": "10810"}
    assert below["nbd"]["export"] == "data"
    assert (below["iscsi"]["portal"], below["iscsi"]["lun"]) == ("[fe80::1]:3260", 3)
    assert below["nfs"]["path"] == "/srv/a.raw"
    assert {each["driver"] for each in below.values()} == set(below)
    assert node(NBD)["size"] == SIZE
    assert "size" not in node(None), "a file has the size that it was made with"


@pytest.mark.parametrize(("cache", "ignored"), [("none", False), ("unsafe", True)])
def test_flushes_reach_the_server_unless_the_cache_mode_ignores_them(
    cache: str, ignored: bool
) -> None:
    assert node(NBD, cache=cache)["file"]["cache"]["no-flush"] is ignored


def server(size: int = SIZE, *, found: str = "", **tools: Any) -> Machine:
    """A machine whose tools say this of a disk that a server offers."""
    spoilt = said(1, stdout="Pattern verification failed at offset 1024, 512 bytes")
    return Machine(
        tools={
            "qemu-img info": lambda _: said(stdout=json.dumps({"virtual-size": size})),
            "qemu-io -r": lambda _: spoilt if found else said(),
            "sh -c": lambda _: said(stdout=found),
            **tools,
        }
    )


def refused(machine: Machine, *, anything: bool = False) -> SystemFailure:
    with pytest.raises(SystemFailure) as failure:
        refuse_unusable(machine.host(), NBD, SIZE, anything=anything)
    return failure.value


def test_a_blank_disk_with_room_enough_is_used() -> None:
    machine = server(2 * SIZE)
    refuse_unusable(machine.host(), NBD, SIZE, anything=False)
    (looked,) = [line for line in runs(machine) if line.startswith("qemu-io")]
    assert f"read -P 0 {SIZE - (1 << 20)} {1 << 20}" in looked, "at the end of what is used, too"


@pytest.mark.parametrize(
    ("found", "word"), [("ext4\n", "ext4"), ("gpt\n", "gpt"), ("\n", "without a known signature")]
)
def test_what_is_not_blank_is_named_and_left_alone(found: str, word: str) -> None:
    failure = refused(server(found=found))
    assert failure.kind == "name_taken"
    assert word in failure.message


def test_whoever_says_that_anything_may_be_lost_is_not_asked_again() -> None:
    machine = server(found="ext4\n")
    refuse_unusable(machine.host(), NBD, SIZE, anything=True)
    assert not [line for line in runs(machine) if "qemu-io" in line]


def test_a_disk_that_is_too_small_is_refused_whatever_lies_on_it() -> None:
    assert refused(server(SIZE - 512), anything=True).kind == "no_space"


@pytest.mark.parametrize(
    ("why", "kind"),
    [
        ("Failed to connect to 'store:10810': Connection refused", "unreachable"),
        ("Requested export not available", "unreachable"),
        ("Unknown driver 'nbd'", "tool_missing"),
    ],
)
def test_why_it_cannot_be_opened_is_a_kind_and_quemus_own_words(why: str, kind: str) -> None:
    machine = server(**{"qemu-img info": lambda _: said(1, stderr=OPEN_FAILS + why)})
    failure = refused(machine)
    assert failure.kind == kind
    if kind == "unreachable":
        assert failure.message.endswith(why)


def test_both_ends_of_what_was_used_become_blank_again() -> None:
    machine = server()
    make_blank(machine.host(), NBD, SIZE)
    (wrote,) = runs(machine)
    assert f"write -z 0 {1 << 20} -c write -z {SIZE - (1 << 20)} {1 << 20} -c flush" in wrote


def test_only_failed_requests_of_this_disk_count() -> None:
    stats = [
        {"node-name": "root", "stats": {"failed_wr_operations": 9}},
        {"node-name": "data-1", "stats": {"failed_wr_operations": 2, "failed_rd_operations": 0}},
    ]
    assert failed_requests(stats, "data-1") == {"writes": 2}
    assert failed_requests(stats, "data-2") == {}


def test_the_facts_name_protocol_and_server_but_not_of_a_disk_that_was_made(undo: UndoLog) -> None:
    def mount(words: list[str]) -> Any:
        machine.files[MOUNT_TABLE] = f"40 1 9:1 / {words[-1]} rw - ext4 {words[-2]} rw\n"
        return said()

    files = {MOUNT_TABLE: "", "/proc/filesystems": "\text4\n", "/sys/block/vdb/serial": "data-1"}
    machine = Machine(files=files, tools={"mount": mount})
    machine.sync_filesystem = lambda _: None  # type: ignore[attr-defined]
    facts = {}
    for offered in (NBD, None):
        machine.files[MOUNT_TABLE] = ""
        disk = AttachedDisk(RawDisk("data-1", SIZE, offered=offered), "/dev/vdb")
        facts[offered] = prepare(machine.host(), [disk], DiskPlan("data", "/srv/data"), undo).facts
    assert facts[NBD]["disks.data.protocol"] == "nbd"
    assert facts[NBD]["disks.data.url"] == NBD.url
    assert not {"disks.data.protocol", "disks.data.url"} & set(facts[None])


def test_of_a_folder_on_nfs_the_facts_name_server_and_filesystem(undo: UndoLog) -> None:
    table = "40 1 0:50 / /mnt/nfs rw,noatime - nfs4 store:/srv rw,vers=4.2,addr=10.0.0.2\n"
    machine = Machine(
        files={MOUNT_TABLE: table, "/mnt/nfs/x": ""},
        tools={"realpath": lambda _: said(stdout="/mnt/nfs\n")},
    )
    used = use_folder(machine.host(), "data", DiskSettings(folder="/mnt/nfs", size=1), "own", undo)
    assert used.facts["disks.data.device"] == "store:/srv"
    assert used.facts["disks.data.filesystem"] == "nfs4"
    assert "addr=10.0.0.2" in used.facts["disks.data.mounted_with"]
