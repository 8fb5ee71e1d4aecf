"""Ports for servers that cannot say which one they took."""

from __future__ import annotations

import hashlib
import ipaddress
from collections.abc import Iterable, Iterator

FIRST_PORT = 10_240
PORTS = 20_000
"""Below the range that the kernel takes ports of outgoing connections from."""

ALL = "all addresses"
_LISTEN = "0A"
TABLES = ("/proc/net/tcp", "/proc/net/tcp6", "/proc/net/udp", "/proc/net/udp6")


def used_ports(tables: Iterable[str]) -> set[int]:
    """Local ports of every socket in these tables of the kernel (proc(5), ``/proc/net/tcp``)."""
    return {port for table in tables for port in _local_ports(table)}


def _local_ports(table: str) -> Iterator[int]:
    for line in table.splitlines()[1:]:
        words = line.split()
        if len(words) > 1:
            yield int(words[1].rpartition(":")[2], 16)


def taken(ports: Iterable[int], address: str, tables: Iterable[str]) -> list[int]:
    """Those of the ports that somebody listens on already, at this IP address or at all of them."""
    listening = {place for table in tables for place in _listeners(table)}
    return [port for port in ports if {(address, port), (ALL, port)} & listening]


def _listeners(table: str) -> Iterator[tuple[str, int]]:
    for line in table.splitlines()[1:]:
        words = line.split()
        if len(words) > 3 and words[3] == _LISTEN:
            host, _, port = words[1].rpartition(":")
            yield _address(host), int(port, 16)


def _address(written: str) -> str:
    """An address of these tables: words of four bytes in the order of the machine."""
    words = [written[i : i + 8] for i in range(0, len(written), 8)]
    octets = b"".join(bytes.fromhex(word)[::-1] for word in words)
    return ALL if not any(octets) else str(ipaddress.ip_address(octets))


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
