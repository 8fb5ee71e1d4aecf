"""A private subnet that means nothing yet on a machine."""

from __future__ import annotations

import contextlib
import hashlib
import ipaddress
import json
from collections.abc import Iterable, Iterator

from steelyard.hosts.failures import SystemFailure

Subnet = ipaddress.IPv4Network
_SPACE = Subnet("10.64.0.0/10")
_PREFIX_LENGTH = 24
_COUNT = 2 ** (_PREFIX_LENGTH - _SPACE.prefixlen)


def routed(told: str) -> Iterator[Subnet]:
    """What the routes of a machine cover, but for the default, from ``ip -json route show``."""
    for route in json.loads(told or "[]"):
        with contextlib.suppress(ValueError):
            subnet = Subnet(route.get("dst", ""), strict=False)
            if subnet.prefixlen:
                yield subnet


def free_subnet(name: str, taken: Iterable[Subnet]) -> Subnet:
    """A /24 of 10.64.0.0/10 that overlaps nothing; the same for the same name and routes.

    Raises:
        SystemFailure: ``no_space``, when all of it is routed.
    """
    covered = [subnet for subnet in taken if subnet.overlaps(_SPACE)]
    first = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
    for step in range(_COUNT):
        candidate = _nth(first + step)
        if not any(candidate.overlaps(subnet) for subnet in covered):
            return candidate
    raise SystemFailure(
        "no_space",
        f"routes of this machine cover all of {_SPACE}, so the lab network finds no addresses",
        "give the systems `network: host`",
    )


def _nth(number: int) -> Subnet:
    size = 2 ** (32 - _PREFIX_LENGTH)
    start = int(_SPACE.network_address) + number % _COUNT * size
    return Subnet((start, _PREFIX_LENGTH))
