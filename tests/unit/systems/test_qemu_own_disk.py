"""A disk of the user's own: QEMU's arguments, what cloud-init reads, what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.hosts.stand_in import Machine as HostMachine
from tests.unit.hosts.stand_in import said
from tests.unit.systems.test_qemu_words import MACHINE, after

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.undo.log import UndoLog
from steelyard.records.ledger import Ledger
from steelyard.study.model import SystemSpec
from steelyard.systems.platform import InstanceContext
from steelyard.systems.qemu.cloud_init import files_of
from steelyard.systems.qemu.command_line import Machine, qemu_argv
from steelyard.systems.qemu.source import Source, provide
from steelyard.systems.qemu.ssh_console import forwarded_port

PUBLIC = "ssh-ed25519 AAAA steelyard-abc-own-1"
USERNET = """\
Hub -1 (control):
  Protocol[State]    FD  Source Address  Port   Dest. Address  Port RecvQ SendQ
  TCP[HOST_FORWARD]  12       127.0.0.1 40123       10.0.3.15    22     0     0
"""


def own(**changes: Any) -> Machine:
    kept = {name: getattr(MACHINE, name) for name in MACHINE.__dataclass_fields__}
    return Machine(**(kept | {"kernel": None, "initrd": None, "start": None} | changes))


def test_a_disk_of_the_users_own_starts_by_its_boot_loader_and_has_no_port_for_an_agent() -> None:
    words = qemu_argv(own())
    assert "-kernel" not in words
    assert "-append" not in words
    assert not [word for word in words if "virtserialport" in word]
    root, read = (
        next(i for i, word in enumerate(words) if f"drive={name}" in word)
        for name in ("root", "cloud-init")
    )
    assert words[root].endswith("bootindex=0")
    assert root < read


def test_control_has_a_card_of_its_own_that_leads_nowhere_else() -> None:
    control, measured = after(qemu_argv(own()), "-netdev")
    assert "restrict=on" in control
    assert "hostfwd=tcp:127.0.0.1:0-:22" in control
    assert measured.startswith("tap")


def test_a_kernel_that_is_given_gets_the_words_of_the_study_and_no_others() -> None:
    words = qemu_argv(own(kernel="/srv/vmlinuz", kernel_words="root=/dev/vda1"))
    assert after(words, "-kernel") == ["/srv/vmlinuz"]
    assert after(words, "-append") == ["root=/dev/vda1"]
    assert "-initrd" not in words


def test_a_disk_of_the_users_own_starts_by_bios_unless_the_study_says_uefi() -> None:
    assert "-bios" not in qemu_argv(own())
    assert after(qemu_argv(own(firmware="/srv/OVMF.fd")), "-bios") == ["/srv/OVMF.fd"]


def test_cloud_init_lets_root_in_with_the_key_of_the_run() -> None:
    files = files_of("steelyard-abc-own-1", PUBLIC)
    head, _, body = files["user-data"].partition("\n")
    assert head == "#cloud-config"
    user = json.loads(body)
    assert user["disable_root"] is False
    assert user["users"] == [{"name": "root", "ssh_authorized_keys": [PUBLIC]}]
    assert json.loads(files["meta-data"])["instance-id"] == "steelyard-abc-own-1"


def test_the_forwarded_port_is_the_one_that_qemu_tells() -> None:
    assert forwarded_port(USERNET) == 40123
    with pytest.raises(SystemFailure, match="no forwarded port"):
        forwarded_port("Hub -1 (control):\n")


def host_machine() -> HostMachine:
    return HostMachine(
        tools={
            "realpath": lambda argv: said(stdout=f"/srv/{argv[-1].removeprefix('./')}\n"),
            "stat": lambda _: said(stdout="1:2:3:4\n"),
            "qemu-img info": lambda _: said(stdout='{"format": "raw"}'),
            "sha256sum": lambda _: said(stdout="ab12  /srv/mine.img\n"),
            "ssh-keygen": lambda _: said(),
            "rm": lambda _: said(),
        },
        files={"/srv/mine.img": "", "/srv/vmlinuz": "", "/run/place/key.pub": PUBLIC + "\n"},
    )


def provided(tmp_path: Path, machine: HostMachine, **settings: Any) -> Source:
    spec = SystemSpec(name="own", platform="qemu", settings={"image": "./mine.img", **settings})
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        host = machine.host()
        label = "steelyard-abc-own-1"
        return provide(InstanceContext(spec, 1, label, lambda: host, UndoLog(ledger), "/run/place"))


def test_a_disk_is_found_whole_with_its_format_and_digest(tmp_path: Path) -> None:
    source = provided(tmp_path, host_machine(), kernel="./vmlinuz")
    assert (source.disk.path, source.disk.format) == ("/srv/mine.img", "raw")
    assert (source.kernel, source.initrd, source.start) == ("/srv/vmlinuz", None, None)
    assert source.facts["image.digest"] == "ab12"


def test_the_firmware_is_found_where_distributions_have_it(tmp_path: Path) -> None:
    machine = host_machine()
    machine.files["/usr/share/qemu/ovmf-x86_64.bin"] = ""
    source = provided(tmp_path, machine, firmware="uefi")
    assert source.firmware == source.facts["image.firmware"] == "/usr/share/qemu/ovmf-x86_64.bin"
    assert provided(tmp_path, machine, firmware="bios").firmware is None


@pytest.mark.parametrize(
    ("settings", "kind", "words"),
    [
        ({"image": "./none.qcow2"}, "image_missing", "/srv/none.qcow2"),
        ({"initrd": "./initrd.img"}, "image_unusable", "`kernel`"),
        ({"kernel_words": "quiet"}, "image_unusable", "`kernel`"),
        ({"image": "debian-minimal", "key": "/root/key"}, "image_unusable", "`key`"),
        ({"image": "debian-minimal", "firmware": "uefi"}, "image_unusable", "`firmware: uefi`"),
        ({"firmware": "uefi"}, "tool_missing", "/usr/share/ovmf/OVMF.fd"),
    ],
)
def test_what_cannot_be_started_is_named(
    tmp_path: Path, settings: dict[str, Any], kind: str, words: str
) -> None:
    with pytest.raises(SystemFailure) as refused:
        provided(tmp_path, host_machine(), **settings)
    assert refused.value.kind == kind
    assert words in refused.value.message


def test_a_file_that_is_no_disk_is_said_to_be_none(tmp_path: Path) -> None:
    machine = host_machine()
    machine.tools["qemu-img info"] = lambda _: said(1, stderr="qemu-img: not a disk")
    with pytest.raises(SystemFailure) as refused:
        provided(tmp_path, machine)
    assert refused.value.kind == "image_unusable"
