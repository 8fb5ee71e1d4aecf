"""Changes a machine and takes it back, round after round, until it is killed.

``python -m tests.platforms.torture.driver RUN ADDRESS LABEL SEED``: everything that a session does
to machines, without its waiting, so that a kill falls between two changes nearly always.
"""

from __future__ import annotations

import random
import sys
from itertools import count
from pathlib import Path
from typing import Any

from steelyard.engine.patience import Patience
from steelyard.hosts.host import Host
from steelyard.hosts.lab_network import NamespaceNetwork
from steelyard.hosts.undo.actions.files import RemoveTree
from steelyard.hosts.undo.log import UndoLog
from steelyard.hosts.undo.ours import SCRATCH
from steelyard.records.ledger import Ledger
from steelyard.study.model import SystemSpec
from steelyard.systems.disks import DiskPlan, prepare, take_down
from steelyard.systems.loop_disks import LoopDisks
from steelyard.systems.platform import AttachedDisk, InstanceContext, RawDisk
from steelyard.systems.podman.platform import Podman
from steelyard.systems.settings import Place, apply_settings, revert_settings
from steelyard.trial.session_state.machines import SessionMachines

DISK_BYTES = 128 * 2**20
FILESYSTEMS = (
    ("ext2", "single"),
    ("ext4", "single"),
    ("btrfs", "single"),
    ("btrfs", "own-raid1"),
)
PROFILE_NAME = "./tuned.conf"
PROFILE = "[main]\nsummary=torture\n\n[sysctl]\nvm.swappiness=17\nvm.dirty_ratio=33\n"


class Driver:
    """One controller on one machine."""

    def __init__(self, run: Path, address: str, label: str, seed: int) -> None:
        self.run = run
        self.address = address
        self.label = label
        self.random = random.Random(seed)
        self.undo = UndoLog(Ledger(run / "ledger.jsonl"))
        self.machines = SessionMachines(self.undo, Patience())

    def round(self, number: int) -> None:
        """Everything once, and back."""
        host = self.host_machine()
        folder = f"{self.run}/{SCRATCH}/context-{number}"
        made = self.undo.plan(host.name, RemoveTree(folder))
        host.make_directory(folder)
        context = self.context(folder, f"{self.label}-disks-{number}")
        loops = LoopDisks(context)
        disks = [self.disk(loops, f"data-{n}") for n in (1, 2)]
        filesystem, layout = self.random.choice(FILESYSTEMS)
        plan = DiskPlan("data", f"{folder}/mnt", layout, filesystem)
        prepared = prepare(host, disks, plan, self.undo)
        devices = tuple(disk.device for disk in disks)
        profiles = {PROFILE_NAME: PROFILE}
        place = Place(f"{self.label}-set-{number}", plan.mount_point, devices, profiles)
        applied = apply_settings(host, self.settings(filesystem), self.undo, place)
        worker = ["sh", "-c", "echo ready; exec sleep 600"]
        host.start("worker", worker, directory=folder, ready_timeout_s=60)
        self.container(folder, number)
        host.stop("worker", grace_s=1)
        revert_settings(host, applied, self.undo)
        take_down(host, prepared, self.undo)
        loops.remove_all()
        self.undo.apply(host, made)

    def disk(self, loops: LoopDisks, name: str) -> AttachedDisk:
        raw = RawDisk(name, DISK_BYTES)
        return AttachedDisk(raw, loops.make(raw))

    def settings(self, filesystem: str) -> dict[str, Any]:
        """Some of all that this machine has, in a random number."""
        known: dict[str, Any] = {
            "tuned": PROFILE_NAME,
            "scheduler": self.random.choice(["none", "mq-deadline"]),
            "read_ahead": 65536,
            "cgroup.cpus": 0.5,
            "cgroup.memory": 64 * 2**20,
            "sysctl.vm.swappiness": 13,
            "sysctl.vm.dirty_bytes": 512 * 2**20,
        }
        if filesystem == "ext4":
            known["mount"] = "noatime"
        return dict(self.random.sample(list(known.items()), self.random.randint(2, len(known))))

    def container(self, folder: str, number: int) -> None:
        """A container in a lab network, every other round."""
        if self.address != "local" or number % 2:
            return
        network = NamespaceNetwork(self.host_machine, self.undo, f"{self.label}-{number}")
        network.up()
        podman = Podman(self.context(folder, f"{self.label}-box-{number}", network))
        podman.up()
        podman.host().facts()
        podman.down()
        network.down()

    def context(
        self, folder: str, label: str, network: NamespaceNetwork | None = None
    ) -> InstanceContext:
        settings = {"network": "lab", "cpus": 1, "memory": 256 << 20, "storage": "overlay"}
        spec = SystemSpec(name="torture", platform="podman", settings=settings)
        return InstanceContext(spec, 1, label, self.host_machine, self.undo, folder, network)

    def host_machine(self) -> Host:
        return self.machines.at(self.address)


def main() -> None:
    run, address, label, seed = sys.argv[1:]
    driver = Driver(Path(run), address, label, int(seed))
    for number in count():
        driver.round(number)


if __name__ == "__main__":
    main()
