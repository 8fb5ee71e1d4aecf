"""Overlays of disk images, and what proves that one is empty and on the right context."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import tell

_IDENTITY = "--format=%d:%i:%s:%.9Y"


@dataclass(frozen=True)
class Backing:
    """A file that overlays stand on; ``identity`` is device, inode, bytes and time of change.

    ``format`` is one of QEMU's.
    """

    path: str
    identity: str
    format: str = "qcow2"


def backing(host: Host, path: str, format_: str = "qcow2") -> Backing:
    """The file as it is now."""
    return Backing(path, tell(host, ["stat", _IDENTITY, "--", path]), format_)


def make_overlay(host: Host, overlay: str, below: Backing) -> dict[str, str]:
    """A new overlay in place of the old one, and what shows that it is one.

    Raises:
        SystemFailure: ``reset_not_proved``: what lies below has changed since, or the overlay
            holds something; ``no_space``.
    """
    context = ["-F", below.format, "-b", below.path]
    create = ["qemu-img", "create", "-q", "-f", "qcow2", *context, overlay]
    tell(host, ["rm", "-f", "--", overlay])
    tell(host, create)
    chain = json.loads(tell(host, [*_INFO, "--backing-chain", overlay]))
    written = json.loads(tell(host, ["qemu-img", "map", "--output=json", overlay]))
    now = backing(host, below.path, below.format)
    proof = {
        "overlay.backing": now.identity,
        "overlay.chain": " < ".join(base_names(chain)),
        "overlay.bytes": str(own_bytes(written)),
    }
    if now != below or own_bytes(written) or files(chain)[1:2] != [below.path]:
        message = f"the overlay {overlay} should stand empty on {below}, but has {proof}"
        raise SystemFailure("reset_not_proved", message)
    return proof


_INFO = ["qemu-img", "info", "--output=json"]


def files(chain: list[dict[str, Any]]) -> list[str]:
    """The files of a backing chain, the overlay first."""
    return [image["filename"] for image in chain]


def base_names(chain: list[dict[str, Any]]) -> list[str]:
    return [path.rpartition("/")[2] for path in files(chain)]


def own_bytes(extents: list[dict[str, Any]]) -> int:
    """How much of the disk comes from the overlay itself: extents of depth 0 that hold data."""
    return sum(
        extent["length"] for extent in extents if extent["depth"] == 0 and extent.get("data")
    )
