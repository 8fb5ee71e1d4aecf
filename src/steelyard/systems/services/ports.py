"""Ports for servers that cannot say which one they took."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

FIRST_PORT = 10_240
PORTS = 20_000
"""Below the range that the kernel takes ports of outgoing connections from."""

TABLES = ("/proc/net/tcp", "/proc/net/tcp6", "/proc/net/udp", "/proc/net/udp6")


def used_ports(tables: Iterable[str]) -> set[int]:
    """Local ports of every socket in these tables of the kernel (proc(5), ``/proc/net/tcp``)."""
    return {port for table in tables for port in _local_ports(table)}


def _local_ports(table: str) -> Iterator[int]:
    for line in table.splitlines()[1:]:
        words = line.split()
        if len(words) > 1:
            yield int(words[1].rpartition(":")[2], 16)


def free_ports(count: int, used: set[int], folder: str) -> list[int]:
    """So many ports that nobody uses now.

    The search begins where the name of the trial's folder says, so that two services that start
    at the same moment hardly ever choose alike; if they do, one of them fails as
    ``address_in_use`` and is tried again in another folder.
    """
    begin = int.from_bytes(hashlib.sha256(folder.encode()).digest()[:4], "big") % PORTS
    ports = (FIRST_PORT + (begin + step) % PORTS for step in range(PORTS))
    free = [
        port for port, _ in zip((p for p in ports if p not in used), range(count), strict=False)
    ]
    if len(free) < count:
        raise RuntimeError(f"no {count} of {PORTS} ports are free")
    return free
