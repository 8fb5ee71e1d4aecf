"""Studies that change machines in every trial: settings, disks, networks, on every platform."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_STUDY = """\
study: torture
question: Does a machine that is changed all the time come back as it was?
systems:
SYSTEMS
workload: {use: smtp, body: 1 KiB, recipients: 3}
load: {users: 1}
generator: {calibrate: false}
responses: {throughput: {primary: true}}
trials:
  {margin: 2 %, window: 100 ms, warmup: 20 ms, reset: RESET, budget: {trials: 20 per cell}}
sample: {every: 100 ms}
"""
_SERVICE = "service: {use: sink-smtp, store: maildir, sync: none}"


@dataclass(frozen=True)
class Torture:
    """A study whose sessions are killed within the first ``most_events`` lines of their ledger.

    ``files`` lie beside it, by path.
    """

    systems: str
    reset: str = "process"
    most_events: int = 90
    longest_delay_s: float = 0.15
    files: Mapping[str, str] = field(default_factory=dict)

    def study(self) -> str:
        """The study file."""
        systems = self.systems.replace("SERVICE", _SERVICE)
        return _STUDY.replace("SYSTEMS", systems).replace("RESET", self.reset)


HERE = Torture(
    """\
  disks:
    platform: native
    SERVICE
    disks: {data: {count: 2, size: 128 MiB, layout: own-raid1, filesystem: btrfs}}
    settings:
      scheduler: mq-deadline
      read_ahead: 64 KiB
      cgroup: {cpus: 0.9}
      sysctl: {vm.swappiness: 13}
  box:
    platform: podman
    network: lab
    SERVICE
    host_settings: {sysctl: {vm.dirty_bytes: 536870912}}"""
)
"""This machine with disks and settings, and a container on a lab network."""

CONFINED = Torture(
    """\
  groups:
    platform: native
    network: lab
    confine: {cpus: 1, memory: 256 MiB}
    SERVICE
    disks: {data: {size: 128 MiB, filesystem: ext4, mount: noatime}}
    settings:
      tuned: ./lean/tuned.conf
      mount: "noatime,commit=30"
      thp: madvise
      cgroup: {memory: 64 MiB}
  machine:
    platform: nspawn
    network: lab
    cpus: 1
    memory: 256 MiB
    SERVICE
    host_settings: {sysctl: {vm.dirty_ratio: 33}, thp: never}""",
    files={"lean/tuned.conf": "[main]\nsummary=torture\n\n[sysctl]\nvm.swappiness=17\n"},
)
"""A part of this machine by control groups and namespaces, and a container of systemd-nspawn."""

FAR = Torture(
    """\
  plain:
    platform: ssh
    host: steelyard-far
    SERVICE
  changed:
    platform: ssh
    host: steelyard-far
    SERVICE
    disks: {data: {count: 2, size: 128 MiB, layout: own-raid0, filesystem: btrfs}}
    settings: {read_ahead: 64 KiB, cgroup: {cpus: 0.9}, sysctl: {vm.swappiness: 13}}""",
    most_events=60,
)
"""A machine behind ``ssh``."""

GUESTS = Torture(
    """\
  plain:
    platform: qemu
    memory: 256 MiB
    accel: tcg
    network: lab
    SERVICE
  changed:
    platform: qemu
    memory: 256 MiB
    accel: tcg
    network: lab
    SERVICE
    disks: {data: {size: 128 MiB, filesystem: ext4, attach: live}}
    settings: {module: {bfq: loaded}, scheduler: bfq, sysctl: {vm.swappiness: 13}}
    host_settings: {sysctl: {vm.swappiness: 17}}""",
    reset="snapshot",
    most_events=70,
    longest_delay_s=3,
)
"""Emulated guests on a lab network, with a disk that is attached while they run."""


def docker(image: str) -> Torture:
    """Containers of a daemon that outlives every controller."""
    systems = """\
  plain:
    platform: docker
    image: IMAGE
    SERVICE
  changed:
    platform: docker
    image: IMAGE
    memory: 256 MiB
    SERVICE
    host_settings: {sysctl: {vm.dirty_bytes: 536870912}}"""
    return Torture(systems.replace("IMAGE", image), "container", 30, 1)


def lxc(image: str, bridge: str, guest_address: str) -> Torture:
    """Containers that a monitor of their own keeps when every controller has died."""
    systems = """\
  plain:
    platform: lxc
    image: IMAGE
    network: BRIDGE
    guest_address: ADDRESS
    SERVICE
  changed:
    platform: lxc
    image: IMAGE
    network: BRIDGE
    guest_address: ADDRESS
    cpuset: "0"
    memory: 256 MiB
    SERVICE
    host_settings: {sysctl: {vm.swappiness: 17}}"""
    for place, value in {"IMAGE": image, "BRIDGE": bridge, "ADDRESS": guest_address}.items():
        systems = systems.replace(place, value)
    return Torture(systems, "container", 30, 1)


def libvirt(image: str, network: str, guest_address: str) -> Torture:
    """Domains of a daemon that outlives every controller."""
    domain = {
        "platform": "libvirt",
        "image": image,
        "accel": "tcg",
        "memory": "256 MiB",
        "network": network,
        "guest_address": guest_address,
        "disk_cache": "unsafe",
    }
    written = "\n    ".join(f"{key}: {value}" for key, value in domain.items())
    systems = """\
  plain:
    DOMAIN
    SERVICE
  changed:
    DOMAIN
    SERVICE
    disks: {data: {size: 128 MiB, filesystem: ext4, attach: live}}
    settings: {sysctl: {vm.swappiness: 13}}
    host_settings: {sysctl: {vm.dirty_bytes: 536870912}}"""
    return Torture(systems.replace("DOMAIN", written), "snapshot", 40, 3)
