"""What a virtual machine is made of, and what is said where it cannot be; nothing is started."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from tests.unit.hosts.stand_in import Machine, said

from steelyard.engine.messages import Ran
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.lab_network import Interface, LabNetwork
from steelyard.hosts.undo.log import UndoLog
from steelyard.records.ledger import Ledger
from steelyard.study.model import SystemSpec
from steelyard.systems.images.recipe import shipped
from steelyard.systems.images.store import EngineFacts, Image, Manifest
from steelyard.systems.platform import InstanceContext
from steelyard.systems.qemu.accelerator import Accelerator
from steelyard.systems.qemu.guest_image import check_modules, guest_image
from steelyard.systems.qemu.machine import shape
from steelyard.systems.qemu.overlays import Backing, make_overlay
from steelyard.systems.qemu.snapshot import set_clock
from steelyard.systems.qemu.source import Source

SETTINGS: dict[str, Any] = {
    "cpus": 2,
    "memory": 256 << 20,
    "nic": "virtio",
    "disk_bus": "virtio",
    "disk_cache": "none",
}
INTERFACE = Interface("steelyard-x-fast-1", "10.64.0.10", 24, "10.64.0.1", "52:00:00:00:00:0a")


class Network:
    """A lab network that gives the one interface there is."""

    def interface(self, label: str) -> Interface:
        assert label == INTERFACE.label
        return INTERFACE

    def tap(self, interface: Interface) -> str:
        return f"tap{interface.address.rpartition('.')[2]}"


def image(modules: tuple[str, ...] = ("virtio_net", "virtio_blk")) -> Image:
    manifest = Manifest(
        name="debian-minimal",
        kind="guest",
        digest="0" * 64,
        recipe={},
        init="engine",
        files={},
        packages={},
        engine=EngineFacts(version="0", sha256="0"),
        kernel="6.1-cloud",
        boot_modules=modules,
        took_s=1,
    )
    return Image("/images/debian-minimal-0", manifest)


def context(folder: Path, *, lab: bool, **more: Any) -> InstanceContext:
    spec = SystemSpec(
        name="fast",
        platform="qemu",
        settings={**SETTINGS, **more},
        disks={"data": {"count": 2}, "log": {}},
    )
    with Ledger(folder / "ledger.jsonl") as ledger:
        network = cast("LabNetwork", Network()) if lab else None
        host_machine = Machine().host()
        return InstanceContext(
            spec, 1, INTERFACE.label, lambda: host_machine, UndoLog(ledger), "/run/place", network
        )


TCG = Accelerator("tcg", "asked for")
BUILT = Source(
    Backing("/images/debian-minimal-0/root.qcow2", "1:2:3:4"),
    kernel="/images/debian-minimal-0/kernel",
    initrd="initrd",
    start="engine",
    facts={},
)


def test_a_machine_stands_on_its_address_and_has_room_for_its_disks(tmp_path: Path) -> None:
    machine = shape(context(tmp_path, lab=True), BUILT, TCG)
    assert (machine.nic.tap, machine.nic.mac) == ("tap10", INTERFACE.mac)
    assert (machine.address, machine.gateway) == ("10.64.0.10/24", "10.64.0.1")
    assert machine.root_ports >= 3
    assert machine.kernel == "/images/debian-minimal-0/kernel"


def test_on_qemus_own_network_ports_are_forwarded_even_beside_a_lab(tmp_path: Path) -> None:
    place = context(tmp_path, lab=True, network="user", ports=("8025",))
    machine = shape(place, BUILT, TCG)
    assert (machine.nic.tap, machine.nic.ports) == (None, (8025,))


def test_without_any_network_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(SystemFailure, match="no network"):
        shape(context(tmp_path, lab=False), BUILT, TCG)


def test_a_card_that_the_guests_kernel_cannot_drive_is_named_with_a_way_out() -> None:
    with pytest.raises(SystemFailure) as refused:
        check_modules(image(), "e1000", "virtio")
    assert refused.value.kind == "image_unusable"
    assert "has no virtio_pci" in refused.value.message
    assert "e1000" in refused.value.message
    assert "debian-bench" in str(refused.value.hint)


def test_an_image_of_another_recipe_is_not_taken() -> None:
    machine = Machine(tools={"sh -c printf": lambda _: said(stdout="/cache")})
    machine.files["/cache/steelyard/images/debian-minimal-0123456789abcdef/manifest.json"] = "{}"
    with pytest.raises(SystemFailure) as missing:
        guest_image(machine.host(), "debian-minimal")
    assert missing.value.kind == "image_missing"


def test_a_file_that_is_not_what_was_built_makes_an_image_unusable() -> None:
    folder = f"/cache/steelyard/images/{shipped('debian-minimal').folder_name('guest')}"
    machine = Machine(tools={"sh -c printf": lambda _: said(stdout="/cache")})
    document = image().manifest.model_dump(mode="json")
    document["files"] = {"kernel": {"sha256": "0", "size_bytes": 5}}
    machine.files[f"{folder}/manifest.json"] = json.dumps(document)
    with pytest.raises(SystemFailure) as unusable:
        guest_image(machine.host(), "debian-minimal")
    assert unusable.value.kind == "image_unusable"
    assert f"{folder}/kernel" in unusable.value.message


BELOW = Backing("/images/root.qcow2", "1:2:3:4")
CHAIN = [{"filename": "/run/overlay.qcow2"}, {"filename": BELOW.path}]
EMPTY = [{"start": 0, "length": 4096, "depth": 1, "data": True}]
FULL = [{"start": 0, "length": 4096, "depth": 0, "data": True}]


def disks(*, identity: str = BELOW.identity, extents: Any = EMPTY, chain: Any = CHAIN) -> Machine:
    def tool(text: str) -> Any:
        def answer(_: list[str]) -> Ran:
            return said(stdout=text)

        return answer

    return Machine(
        tools={
            "stat": tool(identity + "\n"),
            "qemu-img info": tool(json.dumps(chain)),
            "qemu-img map": tool(json.dumps(extents)),
        }
    )


def test_an_empty_overlay_on_the_right_ground_proves_a_reset() -> None:
    proof = make_overlay(disks().host(), "/run/overlay.qcow2", BELOW)
    assert proof == {
        "overlay.backing": "1:2:3:4",
        "overlay.chain": "overlay.qcow2 < root.qcow2",
        "overlay.bytes": "0",
    }


@pytest.mark.parametrize(
    "wrong", [{"identity": "1:2:3:5"}, {"extents": FULL}, {"chain": CHAIN[:1]}]
)
def test_another_ground_or_an_overlay_that_holds_something_is_no_reset(wrong: Any) -> None:
    with pytest.raises(SystemFailure) as refused:
        make_overlay(disks(**wrong).host(), "/run/overlay.qcow2", BELOW)
    assert refused.value.kind == "reset_not_proved"


def test_a_restored_guest_gets_the_time_of_its_host() -> None:
    class HostMachine(Machine):
        def clock(self) -> Any:
            return type("Clock", (), {"realtime_ns": 1_795_280_050_000_000_007})()

    inside = Machine()
    set_clock(inside.host(), cast("Any", HostMachine()))
    assert inside.changes == [("run", "date", "--utc", "--set", "@1795280050.000000007")]
