"""``reset: boot`` of a machine behind ``ssh``, on one that is really restarted: a guest."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.platforms.cloud_image import cloud_image
from tests.platforms.needs import need
from tests.platforms.sshd import free_port, make_key

from steelyard.hosts.host import Host
from steelyard.hosts.undo import UndoLog
from steelyard.study.model import SystemSpec
from steelyard.systems.platform import Ground
from steelyard.systems.qemu.cloud_init import files_of
from steelyard.systems.ssh import Ssh

pytestmark = pytest.mark.system
NAME = "steelyard-guest"
LONGEST_S = 900
_CONFIG = """\
Host {name}
  HostName 127.0.0.1
  Port {port}
  User root
  IdentityFile {folder}/user
  IdentitiesOnly yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile none
  StrictHostKeyChecking {checking}
"""


@contextmanager
def guest(folder: Path, port: int) -> Iterator[None]:
    """A machine that restarts when it is told to; what QEMU forwards leads to its ssh server."""
    image = cloud_image()
    seed = folder / "cloud-init"
    seed.mkdir()
    public = (folder / "user.pub").read_text().strip()
    for name, text in files_of("steelyard-far", public).items():
        (seed / name).write_text(text.replace("52:54:00:73:79:01", "52:54:00:12:34:56"))
    overlay = folder / "overlay.qcow2"
    below = ["-F", "qcow2", "-b", str(image / "disk.qcow2")]
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", *below, overlay], check=True)
    words = ["qemu-system-x86_64", "-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max"]
    words += ["-m", "512", "-nodefaults", "-display", "none"]
    words += ["-serial", f"file:{folder}/console.log"]
    words += ["-drive", f"file={overlay},if=virtio,cache=unsafe"]
    words += ["-drive", f"file=fat:{seed},if=virtio,read-only=on,format=vvfat,label=CIDATA"]
    words += ["-netdev", f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{port}-:22"]
    words += ["-device", "virtio-net-pci,netdev=net,romfile="]
    running = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    try:
        yield
    finally:
        running.kill()
        running.wait()


@pytest.fixture
def far(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of the guest for ``ssh``; its host key is known from the first connection on."""
    need("qemu-system-x86_64", "qemu-img", "ssh", "ssh-keygen", root=True)
    make_key(tmp_path / "user")
    port = free_port()
    config, wrapper = tmp_path / "config", tmp_path / "bin" / "ssh"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {config} "$@"\n', encoding="utf-8")
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")

    def configure(checking: str) -> None:
        text = _CONFIG.format(name=NAME, port=port, folder=tmp_path, checking=checking)
        config.write_text(text, encoding="utf-8")

    with guest(tmp_path, port):
        configure("accept-new")
        until_s = time.monotonic() + LONGEST_S
        first = ["ssh", "-oBatchMode=yes", "-oConnectTimeout=10", NAME, "cloud-init status --wait"]
        while subprocess.run(first, capture_output=True, check=False).returncode == 255:
            assert time.monotonic() < until_s, (tmp_path / "console.log").read_text()[-2000:]
            time.sleep(1)
        configure("yes")
        yield NAME


def test_a_machine_behind_ssh_is_restarted_and_its_boot_id_proves_it(
    far: str, carrier: Host, undo: UndoLog, tmp_path: Path
) -> None:
    settings = {"host": far, "may_reboot": True}
    spec = SystemSpec(name="far", platform="ssh", settings=settings)
    label = f"steelyard-{os.getpid():08x}-far-1"
    place = Ssh(Ground(spec, 1, label, lambda: carrier, undo, str(tmp_path)))
    place.up()
    try:
        before = place.host().boot_id
        place.host().write_file(f"{place.folder()}/kept", "on the disk", create=True)
        proof = place.reset("boot")
        assert proof.evidence["boot_id"] != before
        assert place.host().boot_id == proof.evidence["boot_id"]
        assert place.host().read_file(f"{place.folder()}/kept") == "on the disk"
        assert place.reset("process").evidence == proof.evidence
    finally:
        place.down()
