"""QEMU's command line, and what is attached to a machine while it runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.undo.actions.qemu import name_argv
from steelyard.systems.platform import RawDisk
from steelyard.systems.qemu.command_line import (
    CACHES,
    Machine,
    Nic,
    join_words,
    kernel_words,
    modules,
    qemu_argv,
)
from steelyard.systems.qemu.disks import block_node, devices, serial
from steelyard.systems.qemu.overlays import base_names, own_bytes

MACHINE = Machine(
    label="steelyard-abc-fast-1",
    folder="/run/place",
    accel="tcg",
    cpus=2,
    memory_bytes=512 << 20,
    kernel="/images/kernel",
    start="engine",
    disk_bus="virtio",
    disk_cache="none",
    nic=Nic("virtio", "52:00:00:00:00:0a", "tap10"),
    address="10.77.0.10/24",
    gateway="10.77.0.1",
)


def after(words: list[str], option: str) -> list[str]:
    """What stands behind each occurrence of an option."""
    return [
        words[at + 1] for at, word in enumerate(words) if word == option and at + 1 < len(words)
    ]


def test_a_machine_has_what_was_asked_for_and_nothing_else() -> None:
    words = qemu_argv(MACHINE)
    assert "-nodefaults" in words
    assert after(words, "-smp") == ["2"]
    assert after(words, "-m") == [f"{512 * 1024}k"]
    assert after(words, "-accel") == ["tcg,thread=multi"]
    assert after(words, "-kernel") == ["/images/kernel"]
    assert after(words, "-netdev") == ["tap,id=net,ifname=tap10,script=no,downscript=no"]
    assert "-incoming" not in words


def test_a_machine_bears_its_label_where_the_inverse_looks_for_it() -> None:
    assert after(qemu_argv(MACHINE), "-name") == [name_argv("steelyard-abc-fast-1")]
    assert after(qemu_argv(MACHINE), "-pidfile") == ["/run/place/qemu.pid"]


def test_control_goes_through_a_serial_port_and_not_through_the_network() -> None:
    words = qemu_argv(MACHINE)
    assert "virtserialport,chardev=agent,name=steelyard.agent" in after(words, "-device")
    assert not [word for word in words if "hostfwd" in word]


def test_a_restored_machine_differs_by_its_memory_alone() -> None:
    cold, restored = qemu_argv(MACHINE), qemu_argv(MACHINE.restored_from("snapshot.state"))
    assert restored[: len(cold)] == cold
    assert restored[len(cold) :] == ["-S", "-incoming", "exec:cat snapshot.state"]


@pytest.mark.parametrize("cache", CACHES)
def test_a_cache_mode_decides_how_the_disk_is_opened_and_what_the_guest_sees(cache: str) -> None:
    direct, no_flush, write_cache = CACHES[cache]
    words = qemu_argv(replace(MACHINE, disk_cache=cache))
    (drive,) = after(words, "-blockdev")
    assert f"file.cache.direct={'on' if direct else 'off'}" in drive
    assert f",cache.no-flush={'on' if no_flush else 'off'}" in drive
    (disk,) = [word for word in after(words, "-device") if "drive=root" in word]
    assert disk.endswith(f"write-cache={'on' if write_cache else 'off'}")


def test_without_a_lab_network_only_the_ports_asked_for_are_forwarded() -> None:
    nic = Nic("e1000", "52:54:00:12:34:56", None, (8025, 8080))
    (backend,) = after(qemu_argv(replace(MACHINE, nic=nic)), "-netdev")
    forwards = [part for part in backend.split(",") if part.startswith("hostfwd")]
    assert forwards == ["hostfwd=tcp:127.0.0.1:8025-:8025", "hostfwd=tcp:127.0.0.1:8080-:8080"]


def test_the_guest_gets_its_address_and_what_to_load() -> None:
    words = kernel_words(replace(MACHINE, kernel_words="mitigations=off nosmt"))
    assert "steelyard.address=10.77.0.10/24" in words
    assert f"steelyard.modules={','.join(modules('virtio', 'virtio'))}" in words
    assert words[-2:] == ["mitigations=off", "nosmt"]
    assert "ahci" in modules("e1000", "sata")


def test_a_socket_is_joined_by_its_folder_because_its_path_may_be_too_long() -> None:
    words = join_words("/bin/engine", "/" + "deep/" * 40, "qmp.sock")
    assert words[:2] == ["sh", "-c"]
    assert words[-1] == "qmp.sock"


def test_an_attached_disk_bears_its_name_as_serial_number() -> None:
    disk = RawDisk("data-1", 1 << 30, cache="directsync")
    (device,) = devices(disk, 3)
    assert (device["serial"], device["bus"], device["write-cache"]) == ("data-1", "port3", "off")
    assert block_node(disk, "/d/data-1.raw")["cache"] == {"direct": True, "no-flush": False}


def test_a_scsi_disk_brings_its_controller() -> None:
    controller, device = devices(RawDisk("data-1", 1 << 30, bus="scsi"), 1)
    assert device["bus"] == f"{controller['id']}.0"


def test_a_bus_that_takes_no_disk_while_it_runs_is_refused() -> None:
    with pytest.raises(SystemFailure, match="bus sata"):
        devices(RawDisk("data-1", 1 << 30, bus="sata"), 1)


def test_long_names_of_disks_keep_serial_numbers_apart() -> None:
    one, two = serial("a-very-long-name-of-a-disk-1"), serial("a-very-long-name-of-a-disk-2")
    assert one != two
    assert len(one) == len(two) == 20


def test_only_what_an_overlay_holds_itself_counts() -> None:
    below = {"start": 0, "length": 4096, "depth": 1, "data": True}
    own = {"start": 4096, "length": 512, "depth": 0, "data": True}
    hole = {"start": 8192, "length": 4096, "depth": 0, "data": False}
    assert own_bytes([below, hole]) == 0
    assert own_bytes([below, own, hole]) == 512
    assert base_names([{"filename": "/a/over.qcow2"}, {"filename": "/b/root.qcow2"}]) == [
        "over.qcow2",
        "root.qcow2",
    ]
