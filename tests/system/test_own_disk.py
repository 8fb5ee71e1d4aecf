"""A disk of a user's own, with cloud-init and an ssh server, started by QEMU for real."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.platforms.cloud_image import cloud_image
from tests.platforms.guests import SMALL
from tests.platforms.needs import need
from tests.platforms.sshd import make_key
from tests.system.uefi_disk import uefi_disk

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.lab_network import NamespaceNetwork
from steelyard.hosts.undo.actions.qemu import machines
from steelyard.hosts.undo.log import UndoLog
from steelyard.study.model import SystemSpec
from steelyard.systems.platform import InstanceContext, RawDisk
from steelyard.systems.qemu.platform import Qemu

pytestmark = pytest.mark.system
Make = Callable[..., Qemu]
UEFI = Path("/usr/share/ovmf/OVMF.fd")


@pytest.fixture
def make(
    host_machine: Host, undo: UndoLog, network: NamespaceNetwork, name: str, tmp_path: Path
) -> Iterator[Make]:
    need("qemu-system-x86_64", "qemu-img", "ip", "nsenter", "ssh", "ssh-keygen", root=True)
    made: list[Qemu] = []
    disk = str(cloud_image() / "disk.qcow2")

    def one(**more: Any) -> Qemu:
        settings = {**SMALL, "memory": 512 << 20, "image": disk, "network": "lab", **more}
        network.up()
        spec = SystemSpec(name="own", platform="qemu", settings=settings)
        folder = tmp_path / "machine"
        folder.mkdir()
        context = InstanceContext(
            spec, 1, f"{name}-own-1", lambda: host_machine, undo, str(folder), network
        )
        made.append(Qemu(context))
        return made[-1]

    yield one
    for place in made:
        place.down()
        assert machines(host_machine, place.context.label) == []


def test_it_starts_by_its_own_boot_loader_and_is_entered_with_a_key_of_the_run(
    make: Make, host_machine: Host, network: NamespaceNetwork
) -> None:
    place = make()
    place.up()
    inside = place.host()
    assert "BOOT_IMAGE=/vmlinuz" in inside.read_file("/proc/cmdline")
    assert inside.run(["id", "-u"], timeout_s=60).stdout == "0\n"

    argv = ["@engine", "sink", "http", "--listen", "0.0.0.0:18925"]
    inside.start("sink", argv, directory=place.folder(), ready_timeout_s=60)
    load = [host_machine.engine, "load", f"http://{place.address()}:18925/", "-c", "1", "-n", "20"]
    ran = host_machine.run(network.enter(load), timeout_s=120)
    assert ran.succeeded, ran.stderr

    disk = place.attach(RawDisk("data-1", 32 << 20))
    assert inside.run(["mkfs.ext4", "-q", disk.device], timeout_s=60).succeeded
    place.detach(disk)

    inside.write_file("/root/left", "by the last trial", create=True)
    before = inside.boot_id
    cold = place.reset("boot")
    assert cold.evidence["boot_id"] != before
    assert cold.evidence["overlay.bytes"] == "0"
    assert not place.host().path_facts("/root/left").exists
    first = place.reset("snapshot")
    assert first.evidence["overlay.bytes"] == "0"
    assert place.reset("snapshot").evidence == first.evidence
    assert place.facts()["image.name"] == place.context.spec.settings["image"]


def test_it_starts_from_a_kernel_that_is_given_with_words_of_the_study(make: Make) -> None:
    folder = cloud_image()
    words = "root=LABEL=cloud console=ttyS0 quiet no_timer_check steelyard.test=given"
    place = make(
        kernel=str(folder / "vmlinuz"), initrd=str(folder / "initrd.img"), kernel_words=words
    )
    place.up()
    assert place.host().read_file("/proc/cmdline").strip() == words


def test_a_disk_with_uefi_and_without_cloud_init_is_entered_with_a_key_of_the_users(
    make: Make, tmp_path: Path
) -> None:
    if not UEFI.exists():
        pytest.skip("needs ovmf")
    key = tmp_path / "user"
    make_key(key)
    disk = uefi_disk(tmp_path, key.with_suffix(".pub"))
    place = make(image=str(disk), key=str(key), firmware="uefi")
    place.up()
    inside = place.host()
    assert inside.path_facts("/sys/firmware/efi").exists
    assert inside.run(["id", "-u"], timeout_s=60).stdout == "0\n"
    assert place.facts()["image.firmware"] == str(UEFI)


def test_what_is_no_disk_is_named_before_anything_is_started(make: Make, tmp_path: Path) -> None:
    missing = make(image=str(tmp_path / "none.qcow2"))
    with pytest.raises(SystemFailure) as refused:
        missing.up()
    assert refused.value.kind == "image_missing"
