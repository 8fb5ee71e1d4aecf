"""``reset: boot`` of a machine behind ``ssh``, on one that is really restarted: a guest."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from steelyard.hosts.host import Host
from steelyard.hosts.undo.log import UndoLog
from steelyard.study.model import SystemSpec
from steelyard.systems.platform import InstanceContext
from steelyard.systems.ssh import Ssh

pytestmark = pytest.mark.system


def test_a_machine_behind_ssh_is_restarted_and_its_boot_id_proves_it(
    far_guest: str, host_machine: Host, undo: UndoLog, tmp_path: Path
) -> None:
    settings = {"host": far_guest, "may_reboot": True}
    spec = SystemSpec(name="far", platform="ssh", settings=settings)
    label = f"steelyard-{os.getpid():08x}-far-1"
    place = Ssh(InstanceContext(spec, 1, label, lambda: host_machine, undo, str(tmp_path)))
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
