"""QEMU's command line: pure, from the settings of a system and the image it starts from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from steelyard.hosts.undo.actions.qemu import name_argv

QEMU = "qemu-system-x86_64"
MACHINE = "q35"
CPU = "max"
AGENT_SOCKET, QMP_SOCKET = "agent.sock", "qmp.sock"
CONSOLE, OVERLAY, INITRD = "console.log", "overlay.qcow2", "initrd"
AGENT_PORT = "steelyard.agent"
CLOUD_INIT = "cloud-init"
CONTROL_NET, CONTROL_MAC = "10.0.3.0/24", "52:54:00:73:79:01"
"""Only QEMU and the guest see them: every machine can have the same."""

_NICS = {
    "virtio": ("virtio-net-pci", "virtio_net"),
    "e1000": ("e1000", "e1000"),
    "e1000e": ("e1000e", "e1000e"),
    "rtl8139": ("rtl8139", "8139cp"),
}
_BUSES: dict[str, tuple[tuple[str, ...], str, tuple[str, ...]]] = {
    "virtio": ((), "virtio-blk-pci,drive=root", ("virtio_blk",)),
    "scsi": (
        ("virtio-scsi-pci,id=rootbus",),
        "scsi-hd,drive=root,bus=rootbus.0",
        ("virtio_scsi", "sd_mod"),
    ),
    "ide": (
        ("piix3-ide,id=rootbus",),
        "ide-hd,drive=root,bus=rootbus.0",
        ("ata_piix", "sd_mod"),
    ),
    "sata": ((), "ide-hd,drive=root,bus=ide.0", ("ahci", "sd_mod")),
}
"""The controller, the disk on it, and the modules of the kernel that find it."""
CACHES: dict[str, tuple[bool, bool, bool]] = {
    "none": (True, False, True),
    "writeback": (False, False, True),
    "writethrough": (False, False, False),
    "directsync": (True, False, False),
    "unsafe": (False, True, True),
}
"""By mode: passes the host's page cache by, ignores flushes, has a write cache (qemu(1))."""


@dataclass(frozen=True)
class Nic:
    """The guest's network card: on a tap device, or on QEMU's own network where ``tap`` is none."""

    model: str
    mac: str
    tap: str | None
    ports: tuple[int, ...] = ()


@dataclass(frozen=True)
class Machine:
    """All that makes a machine what it is. ``folder`` holds its files, sizes are bytes.

    ``start`` is what the first program of a built image is to start; ``None`` for a disk of the
    user's own, which is entered by ``ssh``. Without ``kernel`` the disk's own boot loader starts.
    ``address`` has its prefix length. ``incoming`` is the file of a memory snapshot,
    ``firmware`` what QEMU starts instead of its own BIOS.
    """

    label: str
    folder: str
    accel: str
    cpus: int
    memory_bytes: int
    kernel: str | None
    disk_bus: str
    disk_cache: str
    nic: Nic
    address: str
    gateway: str
    start: str | None = None
    initrd: str | None = INITRD
    root_ports: int = 4
    kernel_words: str = ""
    incoming: str | None = None
    firmware: str | None = None

    def restored_from(self, state: str) -> Machine:
        """The same machine, with its memory from a file."""
        return replace(self, incoming=state)


def qemu_argv(machine: Machine) -> list[str]:
    """The command line; file names are relative to the machine's folder, where it is started.

    One monitor greets on stdout, which says that QEMU is there; the other is for orders.
    """
    return [
        QEMU,
        *("-name", name_argv(machine.label)),
        *("-pidfile", f"{machine.folder}/qemu.pid"),
        *("-machine", f"{MACHINE},usb=off,vmport=off"),
        *("-accel", accelerator_words(machine.accel)),
        *("-cpu", CPU),
        *("-smp", str(machine.cpus)),
        *("-m", f"{machine.memory_bytes // 1024}k"),
        *("-nodefaults", "-no-user-config", "-no-reboot"),
        *("-display", "none"),
        *(() if machine.firmware is None else ("-bios", machine.firmware)),
        *_kernel(machine),
        *("-chardev", f"file,id=console,path={CONSOLE},append=on"),
        *("-serial", "chardev:console"),
        *("-chardev", "stdio,id=greeting,signal=off", "-mon", "chardev=greeting,mode=control"),
        *("-qmp", f"unix:{QMP_SOCKET},server=on,wait=off"),
        *(_BY_SERIAL if machine.start is not None else _BY_SSH),
        *_disk(machine),
        *(() if machine.start is not None else _FOR_CLOUD_INIT),
        *_network(machine.nic),
        *_root_ports(machine.root_ports),
        *_incoming(machine.incoming),
    ]


_BY_SERIAL = (
    *("-device", "virtio-serial-pci"),
    *("-chardev", f"socket,id=agent,path={AGENT_SOCKET},server=on,wait=off"),
    *("-device", f"virtserialport,chardev=agent,name={AGENT_PORT}"),
)
_BY_SSH = (
    *("-netdev", f"user,id=control,net={CONTROL_NET},restrict=on,hostfwd=tcp:127.0.0.1:0-:22"),
    *("-device", f"virtio-net-pci,netdev=control,mac={CONTROL_MAC},romfile="),
)
"""A card for control alone, on a network that leads nowhere else."""
_FOR_CLOUD_INIT = (
    *("-blockdev", f"driver=vvfat,node-name=cloud-init,dir={CLOUD_INIT},label=CIDATA,read-only=on"),
    *("-device", "virtio-blk-pci,drive=cloud-init"),
)
"""Behind the guest's own disk, which so bears the first name."""


def accelerator_words(accel: str) -> str:
    return "tcg,thread=multi" if accel == "tcg" else accel


def kernel_words(machine: Machine) -> list[str]:
    """The kernel's command line; ``steelyard.*`` is for the guest's first program.

    An emulated timer may be late on a busy machine: the kernel must not take that for a defect.
    """
    if machine.start is None:
        return machine.kernel_words.split()
    words = [
        *("console=ttyS0", "quiet", "panic=-1", "net.ifnames=0", "no_timer_check"),
        "systemd.unit=steelyard.target",
        f"steelyard.start={machine.start}",
        f"steelyard.name={machine.label[-63:].strip('-')}",
        f"steelyard.modules={','.join(modules(machine.nic.model, machine.disk_bus))}",
        f"steelyard.address={machine.address}",
        f"steelyard.gateway={machine.gateway}",
    ]
    return [*words, *machine.kernel_words.split()]


def modules(nic: str, disk_bus: str) -> tuple[str, ...]:
    """What the guest has to load before it finds its disk, its card and its agent's port."""
    return (
        "virtio_pci",
        "virtio_console",
        *_BUSES[disk_bus][2],
        _NICS[nic][1],
        "crc32c_generic",
        "ext4",
    )


def drive_words(node: str, file: str, cache: str) -> str:
    """An image in qcow2 under the name of a node."""
    direct, no_flush, _ = CACHES[cache]
    modes = (f"cache.direct={_on(direct)}", f"cache.no-flush={_on(no_flush)}")
    words = ["driver=qcow2", f"node-name={node}", "file.driver=file", f"file.filename={file}"]
    return ",".join([*words, *modes, *(f"file.{mode}" for mode in modes)])


def join_words(engine: str, folder: str, socket: str) -> list[str]:
    """Joins stdin and stdout to a socket; entered by its folder, as paths of sockets are short."""
    script = 'cd "$1" && exec "$2" join "unix:$3"'
    return ["sh", "-c", script, "sh", folder, engine, socket]


def _on(flag: bool) -> str:
    return "on" if flag else "off"


def _disk(machine: Machine) -> Iterator[str]:
    controllers, disk, _ = _BUSES[machine.disk_bus]
    yield from ("-blockdev", drive_words("root", OVERLAY, machine.disk_cache))
    for controller in controllers:
        yield from ("-device", controller)
    first = "" if machine.kernel else ",bootindex=0"
    yield from ("-device", f"{disk},write-cache={_on(CACHES[machine.disk_cache][2])}{first}")


def _kernel(machine: Machine) -> Iterator[str]:
    if machine.kernel is not None:
        yield from ("-kernel", machine.kernel)
        yield from () if machine.initrd is None else ("-initrd", machine.initrd)
        yield from ("-append", " ".join(kernel_words(machine)))


def _network(nic: Nic) -> Iterator[str]:
    if nic.tap is not None:
        backend = f"tap,id=net,ifname={nic.tap},script=no,downscript=no"
    else:
        forwards = (f",hostfwd=tcp:127.0.0.1:{port}-:{port}" for port in nic.ports)
        backend = "user,id=net" + "".join(forwards)
    yield from ("-netdev", backend)
    yield from ("-device", f"{_NICS[nic.model][0]},netdev=net,mac={nic.mac},romfile=")


def _root_ports(count: int) -> Iterator[str]:
    """Places where disks are attached to the running machine."""
    for number in range(1, count + 1):
        yield from ("-device", f"pcie-root-port,id=port{number},chassis={number},slot={number}")


def _incoming(state: str | None) -> tuple[str, ...]:
    return () if state is None else ("-S", "-incoming", f"exec:cat {state}")
