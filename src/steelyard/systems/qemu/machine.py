"""From what a study says of a system to the machine that QEMU is to be."""

from __future__ import annotations

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.lab_network import Interface
from steelyard.study.platform.settings import DiskSettings, QemuSettings, SharedSettings
from steelyard.systems.platform import InstanceContext
from steelyard.systems.qemu.accelerator import Accelerator
from steelyard.systems.qemu.command_line import Machine, Nic
from steelyard.systems.qemu.source import Source
from steelyard.systems.settings.command_line import boot_arguments

_USER_INTERFACE = Interface("", "10.0.2.15", 24, "10.0.2.2", "52:54:00:12:34:56")
"""The address that QEMU's own network has for its only guest."""
_SPARE_PORTS = 2


def shape(context: InstanceContext, source: Source, accelerator: Accelerator) -> Machine:
    """The machine of one instance; on the lab network its tap device is made.

    Raises:
        SystemFailure: there is no network to stand in.
    """
    settings, place = QemuSettings.of(context.spec.settings), interface(context)
    disks = sum(DiskSettings.of(disk).count for disk in context.spec.disks.values())
    return Machine(
        label=context.label,
        folder=context.folder,
        accel=accelerator.name,
        cpus=settings.cpus,
        memory_bytes=settings.memory,
        kernel=source.kernel,
        initrd=source.initrd,
        start=source.start,
        firmware=source.firmware,
        disk_bus=settings.disk_bus,
        disk_cache=settings.disk_cache,
        nic=_nic(context, settings, place),
        address=f"{place.address}/{place.prefix_length}",
        gateway=place.gateway,
        root_ports=disks + _SPARE_PORTS,
        kernel_words=" ".join(
            filter(None, (settings.kernel_words, boot_arguments(context.spec.inside)))
        ),
    )


def interface(context: InstanceContext) -> Interface:
    """Where the machine stands in its network."""
    if on_user_network(context):
        return _USER_INTERFACE
    if context.network is None:
        message = f"{context.label} has no network to stand in"
        raise SystemFailure("not_supported", message, "write `network: user`")
    return context.network.interface(context.label)


def on_user_network(context: InstanceContext) -> bool:
    """Whether it has QEMU's own network instead of the run's."""
    return SharedSettings.of(context.spec.settings).network == "user"


def _nic(context: InstanceContext, settings: QemuSettings, place: Interface) -> Nic:
    if context.network is None or on_user_network(context):
        return Nic(settings.nic, place.mac, None, tuple(map(int, settings.ports)))
    return Nic(settings.nic, place.mac, context.network.tap(place))
