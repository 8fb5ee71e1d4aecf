"""Disks that are attached to a running machine and taken off again, by QMP."""

from __future__ import annotations

import contextlib
import functools
import hashlib

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import attempt, tell
from steelyard.systems.platform import AttachedDisk, RawDisk
from steelyard.systems.qemu.command_line import CACHES
from steelyard.systems.qemu.network_disks import (
    failed_requests,
    make_blank,
    no_longer_offered,
    protocol_node,
    refuse_unusable,
)
from steelyard.systems.qemu.qmp import Qmp
from steelyard.systems.qemu.running import RunningMachine
from steelyard.units import format_bytes

_SERIAL_BYTES = 20
_LOOKS = 100
_SEEN_TIMEOUT_S = 120.0
_GONE_TIMEOUT_S = 30.0
_FIND = """for module in $3; do modprobe "$module" 2>/dev/null; done
tries=0
while [ $tries -lt "$2" ]; do
  for disk in /sys/block/*; do
    seen=
    if [ -r "$disk/serial" ]; then
      read -r seen <"$disk/serial"
    elif [ -r "$disk/device/vpd_pg80" ]; then
      seen=$(tr -cd 'A-Za-z0-9._-' <"$disk/device/vpd_pg80")
    fi
    if [ "$seen" = "$1" ]; then echo "/dev/${disk##*/}"; exit 0; fi
  done
  tries=$((tries + 1))
  sleep 0.1
done
exit 9
"""
_MODULES = {"virtio": "virtio_blk", "scsi": "virtio_scsi sd_mod"}


class Disks:
    """The disks of one machine, by name: files in its folder, or disks that a server offers."""

    def __init__(self, running: RunningMachine) -> None:
        self._running = running
        self._ports: dict[str, int] = {}
        self._of_servers: dict[str, RawDisk] = {}

    def attach(self, disk: RawDisk, inside: Host) -> AttachedDisk:
        """An empty disk, found inside by its serial number.

        Raises:
            SystemFailure: ``not_supported``, ``no_space``, ``name_taken``, ``unreachable`` or QEMU
                refuses.
        """
        if disk.name in self._ports:
            raise SystemFailure("name_taken", f"the disk {disk.name} is attached already")
        port = self._free_port()
        self._refuse_cache(disk)
        if disk.offered is None:
            self._make_file(disk)
        else:
            host_machine, anything = self._running.host_machine, disk.anything
            refuse_unusable(host_machine, disk.offered, disk.size_bytes, anything=anything)
        qmp = self._running.qmp()
        qmp.execute("blockdev-add", block_node(disk, self._file(disk.name)))
        try:
            for device in devices(disk, port):
                qmp.execute("device_add", device)
        except SystemFailure:
            qmp.execute("blockdev-del", {"node-name": disk.name})
            raise
        self._ports[disk.name] = port
        if disk.offered is not None:
            self._of_servers[disk.name] = disk
        failed = functools.partial(self._failed, disk)
        return AttachedDisk(disk, self._find(disk, inside), self._caches(disk), failed)

    def detach(self, disk: RawDisk) -> None:
        """Takes it off and removes its file; what a server offers is blank again.

        When it broke off, it goes on where it did.
        """
        if disk.name in self._ports:
            qmp = self._running.qmp()
            for name in reversed(device_names(disk)):
                _remove_device(qmp, name)
            qmp.execute("blockdev-del", {"node-name": disk.name})
            del self._ports[disk.name]
        if disk.offered is None:
            tell(self._running.host_machine, ["rm", "-f", "--", self._file(disk.name)])
        else:
            make_blank(self._running.host_machine, disk.offered, disk.size_bytes)
            del self._of_servers[disk.name]

    def leave_servers(self) -> None:
        """Blanks what a machine that has ended still had of servers, as far as these answer."""
        for disk in self._of_servers.values():
            if disk.offered is not None:
                with contextlib.suppress(SystemFailure, AgentRefusal, EngineError):
                    make_blank(self._running.host_machine, disk.offered, disk.size_bytes)
        self._of_servers.clear()

    def _failed(self, disk: RawDisk) -> str | None:
        """What QEMU has seen fail of a disk of a server; a machine that is gone says nothing."""
        if disk.offered is None or disk.name not in self._of_servers:
            return None
        try:
            stats = self._running.qmp().execute("query-blockstats")
        except (SystemFailure, AgentRefusal, EngineError):
            return None
        counts = failed_requests(stats, disk.name)
        said = ", ".join(f"{count} {words}" for words, count in counts.items())
        if said:
            return f"{disk.offered.url} failed: {said}"
        return no_longer_offered(self._running.host_machine, disk.offered)

    def _free_port(self) -> int:
        taken = set(self._ports.values())
        for port in range(1, self._running.machine.root_ports + 1):
            if port not in taken:
                return port
        message = f"{self._running.machine.label} has no room for another disk"
        raise SystemFailure("not_supported", message, "write the disks into `disks` of the system")

    def _refuse_cache(self, disk: RawDisk) -> None:
        if disk.cache not in CACHES:
            known = ", ".join(CACHES)
            raise SystemFailure("not_supported", f"no cache mode {disk.cache}", f"it has {known}")

    def _make_file(self, disk: RawDisk) -> None:
        host_machine, folder = self._running.host_machine, self._running.machine.folder
        free_bytes = host_machine.path_facts(folder).free_bytes
        if free_bytes is not None and free_bytes < disk.size_bytes:
            message = f"{folder} has {format_bytes(free_bytes)} free: too few for "
            message += f"{disk.name} of {format_bytes(disk.size_bytes)}"
            raise SystemFailure("no_space", message, "make room, or ask for a smaller disk")
        host_machine.make_directory(f"{folder}/disks")
        file = self._file(disk.name)
        tell(host_machine, ["rm", "-f", "--", file])
        tell(host_machine, ["truncate", f"--size={disk.size_bytes}", file])

    def _find(self, disk: RawDisk, inside: Host) -> str:
        words = [serial(disk.name), str(_LOOKS), _MODULES[disk.bus]]
        ran = attempt(inside, ["sh", "-c", _FIND, "sh", *words], timeout_s=_SEEN_TIMEOUT_S)
        if not ran.succeeded:
            message = f"{disk.name} was attached, and the guest has not seen it"
            hint = "its kernel may have no driver for this bus"
            raise SystemFailure("not_ready", message, hint, last_words=self._running.console())
        return ran.stdout.strip()

    def _file(self, name: str) -> str:
        return f"{self._running.machine.folder}/disks/{name}.raw"

    def _caches(self, disk: RawDisk) -> tuple[str, ...]:
        direct, _, write_cache = CACHES[disk.cache]
        below = () if direct else (f"page cache of {self._running.host_machine.name}",)
        if disk.offered is not None:  # the page cache is in no way to it
            below = (f"caches behind {disk.offered.url}",)
        virtual = ("write cache of the virtual disk",) if write_cache else ()
        return ("page cache of the guest", *virtual, *below)


def serial(name: str) -> str:
    """The serial number that a disk of this name has; virtio disks have room for 20 letters."""
    if len(name) <= _SERIAL_BYTES:
        return name
    return f"{name[:11]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def block_node(disk: RawDisk, file: str) -> dict[str, object]:
    """Arguments of ``blockdev-add``; of a disk that a server offers the beginning is used."""
    direct, no_flush, _ = CACHES[disk.cache]
    cache = {"direct": direct, "no-flush": no_flush}
    node: dict[str, object] = {"driver": "raw", "node-name": disk.name, "cache": cache}
    if disk.offered is None:
        return {**node, "file": {"driver": "file", "filename": file, "cache": cache}}
    below = {**protocol_node(disk.offered), "cache": cache}
    return {**node, "size": disk.size_bytes, "file": below}


def devices(disk: RawDisk, port: int) -> list[dict[str, object]]:
    """Arguments of ``device_add``: the controller where there is one, then the disk.

    Raises:
        SystemFailure: ``not_supported``: nothing can be attached to this bus while it runs.
    """
    cached = "on" if CACHES[disk.cache][2] else "off"
    common = {"drive": disk.name, "serial": serial(disk.name), "write-cache": cached}
    if disk.offered is not None:  # also when the server has no room: the guest would stand still
        common |= {"werror": "report", "rerror": "report"}
    names = device_names(disk)
    if disk.bus == "virtio":
        return [{"driver": "virtio-blk-pci", "id": names[0], "bus": f"port{port}", **common}]
    if disk.bus == "scsi":
        controller = {"driver": "virtio-scsi-pci", "id": names[0], "bus": f"port{port}"}
        return [
            dict(controller),
            {"driver": "scsi-hd", "id": names[1], "bus": f"{names[0]}.0", **common},
        ]
    message = f"the disk {disk.name} cannot be attached to a bus {disk.bus} while the guest runs"
    raise SystemFailure("not_supported", message, "take virtio or scsi")


def device_names(disk: RawDisk) -> list[str]:
    """Ids of what :func:`devices` makes, in its order."""
    return (
        [f"bus-{disk.name}", f"disk-{disk.name}"] if disk.bus == "scsi" else [f"disk-{disk.name}"]
    )


def _remove_device(qmp: Qmp, name: str) -> None:
    qmp.execute("device_del", {"id": name})
    qmp.await_event("DEVICE_DELETED", timeout_s=_GONE_TIMEOUT_S, device=name)
