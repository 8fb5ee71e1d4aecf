"""A folder on disks that only a client of the kernel has, in a machine behind ``ssh``: by several
paths (multipath), by NBD, by iSCSI, by NFS. Servers are on the same machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.system.far_guest import NAME, Size, laboratory

from steelyard.records.archive import open_run
from steelyard.records.schema import Outcome, TrialRecord

pytestmark = pytest.mark.system
PACKAGES = (
    *(
        "e2fsprogs",
        "multipath-tools",
        "nbd-server",
        "nbd-client",
        "tgt",
        "open-iscsi",
        "nfs-kernel-server",
    ),
)
MODULES = (
    "dm-multipath",
    "dm-service-time",
    "virtio_scsi",
    "sd_mod",
    "nbd",
    "iscsi_tcp",
    "nfs",
    "nfsv4",
    "nfsd",
)
TRIALS, LONGEST_S = 8, 1800
STUDY = """\
study: folders
question: How much slower is writing on {folder} than on the machine's own disk?
systems:
  one: {{platform: ssh, host: {machine}, disks: {{data: {{folder: /var/own, size: 16 MiB}}}}}}
factors: {{disks.data.folder: [/var/own, {folder}]}}
compare: disks.data.folder
workload: {{command: [dd, if=/dev/zero, "of={{mount}}/file", bs=64k, count=32, conv=fdatasync]}}
trials: {{margin: 20 %, budget: {{trials: 4 per cell}}}}
"""
READY = """\
set -e
mkdir -p /var/own /mnt/paths /mnt/nbd /mnt/iscsi /mnt/nfs /srv/nfs
modprobe -a {modules}
cat > /etc/multipath.conf << 'END'
defaults {
find_multipaths no
user_friendly_names yes
path_checker tur
polling_interval 1
}
blacklist {
device {
vendor "IET"
product ".*"
}
}
END
multipathd
ready() { [ "$(multipath -ll | grep -c 'active ready')" = 2 ]; }
for i in $(seq 60); do ready && break; multipath > /dev/null; sleep 1; done
ready
mkfs.ext4 -q /dev/mapper/mpatha
mount /dev/mapper/mpatha /mnt/paths
truncate -s 64M /var/nbd.image /var/iscsi.image
printf '[generic]\\n[data]\\nexportname=/var/nbd.image\\n' > /etc/nbd-server/config
nbd-server -C /etc/nbd-server/config
for i in $(seq 30); do nbd-client 127.0.0.1 -N data /dev/nbd0 && break; sleep 1; done
mkfs.ext4 -q /dev/nbd0
mount /dev/nbd0 /mnt/nbd
tgtd
for i in $(seq 30); do tgtadm --lld iscsi --op show --mode target && break; sleep 1; done
tgtadm --lld iscsi --op new --mode target --tid 1 -T iqn.2026-11.test:data
tgtadm --lld iscsi --op new --mode logicalunit --tid 1 --lun 1 -b /var/iscsi.image
tgtadm --lld iscsi --op bind --mode target --tid 1 -I ALL
iscsiadm -m discovery -t sendtargets -p 127.0.0.1
iscsiadm -m node -T iqn.2026-11.test:data -p 127.0.0.1 --login
for i in $(seq 30); do disk=$(ls /dev/disk/by-path/*iscsi*lun-1) && break; sleep 1; done
mkfs.ext4 -q "$disk"
mount "$disk" /mnt/iscsi
mount -t tmpfs tmpfs /srv/nfs
systemctl start nfs-server
exportfs -o rw,no_root_squash,fsid=1 127.0.0.1:/srv/nfs
mount -t nfs4 127.0.0.1:/srv/nfs /mnt/nfs
"""


def paths_to_one_disk(image: Path) -> tuple[str, ...]:
    """Two controllers, each with the same disk: a machine sees two, with one name."""
    with image.open("wb") as file:
        file.truncate(128 * 2**20)
    words: list[str] = []
    for number in (1, 2):
        words += ["-device", f"virtio-scsi-pci,id=bus{number}"]
        words += ["-drive", f"file={image},format=raw,if=none,id=path{number},file.locking=off"]
        disk = f"scsi-hd,drive=path{number},bus=bus{number}.0,wwn=0x5000c50015ea71ac"
        words += ["-device", f"{disk},serial=one,share-rw=on"]
    return tuple(words)


def on_the_machine(script: str) -> str:
    """What a script printed there."""
    ended = subprocess.run(
        ["ssh", NAME, "sh", "-s"],
        input=script, capture_output=True, text=True, timeout=LONGEST_S, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-2000:]
    return ended.stdout


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """With every such disk mounted."""
    folder = tmp_path_factory.mktemp("disks")
    size = Size(more=paths_to_one_disk(folder / "disk.raw"), packages=PACKAGES, modules=MODULES)
    with pytest.MonkeyPatch.context() as patch, laboratory(folder, patch, {NAME: size}):
        on_the_machine(READY.replace("{modules}", " ".join(MODULES)))
        yield


def measured(place: Path, folder: str) -> list[TrialRecord]:
    """The good trials of a study that writes below ``folder``, too."""
    (place / "study.yaml").write_text(STUDY.format(folder=folder, machine=NAME), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "steelyard", "run", "study.yaml"],
        cwd=place, env={**os.environ, "NO_COLOR": "1"}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=LONGEST_S, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, (ran.stdout + ran.stderr)[-3000:]
    (run,) = (place / "results" / "folders").iterdir()
    good = [record for record in open_run(run).records() if record.outcome is Outcome.OK]
    assert len(good) == TRIALS
    return good


@pytest.mark.parametrize(
    ("folder", "device", "filesystem"),
    [
        ("/mnt/paths", "/dev/mapper/mpatha", "ext4"),
        ("/mnt/nbd", "/dev/nbd0", "ext4"),
        ("/mnt/iscsi", "/dev/sd", "ext4"),
        ("/mnt/nfs", "127.0.0.1:/srv/nfs", "nfs4"),
    ],
    ids=["by_several_paths", "by_nbd", "by_iscsi", "by_nfs"],
)
def test_a_folder_on_such_a_disk_is_measured_and_is_the_same_afterwards(
    machine: None, tmp_path: Path, folder: str, device: str, filesystem: str
) -> None:
    before = on_the_machine(f"ls -A {folder}; grep ' {folder} ' /proc/mounts")
    records = measured(tmp_path, folder)
    told = (facts for record in records for facts in record.facts.values())
    facts = next(each for each in told if each.get("disks.data.folder") == folder)
    assert str(facts["disks.data.device"]).startswith(device)
    assert facts["disks.data.filesystem"] == filesystem
    assert on_the_machine(f"ls -A {folder}; grep ' {folder} ' /proc/mounts") == before


def test_a_path_that_fails_meanwhile_fails_no_trial(machine: None, tmp_path: Path) -> None:
    """What has two paths goes on with the other one; the tests of damage find nothing."""
    states = "/sys/block/*/device/wwid"
    first = on_the_machine(f"grep -l 5000c50015ea71ac {states} | head -n 1").strip()
    state = first.replace("wwid", "state")
    try:
        on_the_machine(f"echo offline > {state}")
        measured(tmp_path, "/mnt/paths")
        assert "failed" in on_the_machine("multipath -ll")
    finally:
        on_the_machine(f"echo running > {state}")
