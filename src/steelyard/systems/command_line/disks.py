"""Which device a disk became inside: what was not there before, of the right size."""

from __future__ import annotations

import time

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host

_SECTOR_BYTES = 512
"""``/sys/block/*/size`` counts these, whatever the disk's own sectors are."""
_PAUSE_S = 0.1
_TIMEOUT_S = 30.0


def block_devices(host: Host) -> set[str]:
    """Names of all block devices that a machine has now."""
    ran = host.run(["ls", "/sys/block"], timeout_s=_TIMEOUT_S)
    return set(ran.stdout.split())


def appeared(host: Host, before: set[str], size_bytes: int, within_s: float) -> str:
    """The device that is new and has this size, as ``/dev/vdb``.

    Raises:
        SystemFailure: ``timed_out``: none came.
    """
    deadline_ns = time.monotonic_ns() + round(within_s * 1e9)
    while True:
        for name in sorted(block_devices(host) - before):
            if _size_bytes(host, name) == size_bytes:
                return f"/dev/{name}"
        if time.monotonic_ns() >= deadline_ns:
            message = f"no new disk of {size_bytes} B was seen inside for {within_s:g} s"
            raise SystemFailure("timed_out", message, "does the guest take disks while it runs?")
        time.sleep(_PAUSE_S)


def disappeared(host: Host, device: str, within_s: float) -> None:
    """Waits until a device is gone.

    Raises:
        SystemFailure: ``timed_out``: it stayed.
    """
    deadline_ns = time.monotonic_ns() + round(within_s * 1e9)
    while device.removeprefix("/dev/") in block_devices(host):
        if time.monotonic_ns() >= deadline_ns:
            message = f"{device} was taken off {within_s:g} s ago and is still seen inside"
            raise SystemFailure("timed_out", message, "is it still mounted inside?")
        time.sleep(_PAUSE_S)


def _size_bytes(host: Host, name: str) -> int | None:
    try:
        return int(host.read_file(f"/sys/block/{name}/size")) * _SECTOR_BYTES
    except (AgentRefusal, ValueError):
        return None
