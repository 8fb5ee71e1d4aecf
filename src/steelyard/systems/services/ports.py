"""Ports for servers that cannot say which one they took."""

from __future__ import annotations

import hashlib
import ipaddress
import itertools
from collections.abc import Iterable, Iterator

from steelyard.hosts.looks import looking

FIRST_PORT = 10_240
PORTS = 20_000
"""Below the range that the kernel takes ports of outgoing connections from."""

LIST = looking(
    "cat /proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6 2>/dev/null"
    " | grep -E ' 0A | 07 '"
)
"""A shell's words for the sockets that wait to be spoken to (proc(5), ``/proc/net/tcp``).

Connections are left out on the machine: after a load there are megabytes of them.
"""

ALL = "all addresses"


def used_ports(listed: str) -> set[int]:
    """Ports of every socket in the output of :data:`LIST`."""
    return {port for _, port in _sockets(listed)}


def taken(ports: Iterable[int], address: str, listed: str) -> list[int]:
    """Those of the ports that somebody has already, at this IP address or at all of them."""
    found = set(_sockets(listed))
    return [port for port in ports if {(address, port), (ALL, port)} & found]


def _sockets(listed: str) -> Iterator[tuple[str, int]]:
    for line in listed.splitlines():
        host, _, port = line.split()[1].rpartition(":")
        yield _address(host), int(port, 16)


def _address(written: str) -> str:
    """An address of these tables: words of four bytes in the order of the machine."""
    words = [written[i : i + 8] for i in range(0, len(written), 8)]
    octets = b"".join(bytes.fromhex(word)[::-1] for word in words)
    return ALL if not any(octets) else str(ipaddress.ip_address(octets))


def free_ports(count: int, used: set[int], folder: str) -> list[int]:
    """So many ports that no one uses now.

    The search begins where the name of the trial's folder says, so that two services that start
    at the same moment hardly ever choose alike; if they do, one of them fails as
    ``address_in_use`` and is tried again in another folder.
    """
    begin = int.from_bytes(hashlib.sha256(folder.encode()).digest()[:4], "big") % PORTS
    ports = (FIRST_PORT + (begin + step) % PORTS for step in range(PORTS))
    free = list(itertools.islice((port for port in ports if port not in used), count))
    if len(free) < count:
        raise RuntimeError(f"no {count} of {PORTS} ports are free")
    return free
