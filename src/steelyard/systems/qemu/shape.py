"""From what a study says of a system to the machine that QEMU is to be."""

from __future__ import annotations

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.lab_network import Seat
from steelyard.study.platform.settings import DiskSettings, QemuSettings, SharedSettings
from steelyard.systems.platform import Ground
from steelyard.systems.qemu.accelerator import Accelerator
from steelyard.systems.qemu.source import Source
from steelyard.systems.qemu.words import Machine, Nic
from steelyard.systems.settings.command_line import boot_words

_USER_SEAT = Seat("", "10.0.2.15", 24, "10.0.2.2", "52:54:00:12:34:56")
"""The address that QEMU's own network has for its only guest."""
_SPARE_PORTS = 2


def shape(ground: Ground, source: Source, accelerator: Accelerator) -> Machine:
    """The machine of one instance; on the lab network its tap device is made.

    Raises:
        SystemFailure: there is no network to stand in.
    """
    settings, place = QemuSettings.of(ground.spec.settings), seat(ground)
    disks = sum(DiskSettings.of(disk).count for disk in ground.spec.disks.values())
    return Machine(
        label=ground.label,
        folder=ground.folder,
        accel=accelerator.name,
        cpus=settings.cpus,
        memory_bytes=settings.memory,
        kernel=source.kernel,
        initrd=source.initrd,
        start=source.start,
        firmware=source.firmware,
        disk_bus=settings.disk_bus,
        disk_cache=settings.disk_cache,
        nic=_nic(ground, settings, place),
        address=f"{place.address}/{place.prefix_length}",
        gateway=place.gateway,
        root_ports=disks + _SPARE_PORTS,
        kernel_words=f"{settings.kernel_words or ''} {boot_words(ground.spec.inside)}".strip(),
    )


def seat(ground: Ground) -> Seat:
    """Where the machine stands in its network."""
    if on_user_network(ground):
        return _USER_SEAT
    if ground.network is None:
        message = f"{ground.label} has no network to stand in"
        raise SystemFailure("not_supported", message, "write `network: user`")
    return ground.network.seat(ground.label)


def on_user_network(ground: Ground) -> bool:
    """Whether it has QEMU's own network instead of the run's."""
    return SharedSettings.of(ground.spec.settings).network == "user"


def _nic(ground: Ground, settings: QemuSettings, place: Seat) -> Nic:
    if ground.network is None or on_user_network(ground):
        return Nic(settings.nic, place.mac, None, tuple(map(int, settings.ports)))
    return Nic(settings.nic, place.mac, ground.network.tap(place))
