"""A disk that a server offers by NBD, iSCSI or NFS: what QEMU opens, and looks from outside.

Looks and writes here are of the machine that carries the guest, by ``qemu-img`` and ``qemu-io``,
while no guest has the disk.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.engine.messages import Ran, complaint
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.looks import looking
from steelyard.hosts.tool import attempt
from steelyard.study.declared.network_disks import NetworkDisk

ANSWER_TIMEOUT_S = 20.0
_INITIATOR = "iqn.2008-11.org.linux-kvm:steelyard"
_ISCSI_TIMEOUT_S = 30
_EDGE_BYTES = 1 << 20
"""Where filesystems, arrays and partition tables have their signatures: at both ends."""
_NO_DRIVER = ("unknown driver", "unknown protocol", "does not accept value")
_OTHER_DATA = "pattern verification failed"
_SIGNATURE = looking("""\
head=$(mktemp) && trap 'rm -f "$head"' EXIT &&
  qemu-img dd -O raw bs=1048576 count=1 "if=$1" "of=$head" > /dev/null &&
  blkid --probe --output export "$head" | sed -n 's/^\\(PT\\)\\?TYPE=//p'
""")
_FAILURES = {
    "failed_rd_operations": "reads",
    "failed_wr_operations": "writes",
    "failed_flush_operations": "flushes",
}


def protocol_node(disk: NetworkDisk) -> dict[str, object]:
    """The node of ``blockdev-add`` that speaks with the server."""
    match disk.protocol:
        case "nbd":
            server = {"type": "inet", "host": disk.host, "port": str(disk.port)}
            return {"driver": "nbd", "server": server, "export": disk.name}
        case "iscsi":
            return {
                "driver": "iscsi",
                "transport": "tcp",
                "portal": _portal(disk),
                "target": disk.name,
                "lun": disk.lun,
                "initiator-name": _INITIATOR,
                "timeout": _ISCSI_TIMEOUT_S,
            }
        case "nfs":
            server = {"type": "inet", "host": disk.host}
            return {"driver": "nfs", "server": server, "path": disk.name}


def refuse_unusable(host: Host, disk: NetworkDisk, size_bytes: int, *, anything: bool) -> None:
    """Looks whether the server offers the disk, with room enough, and blank unless told otherwise.

    Raises:
        SystemFailure: ``unreachable``: nothing answers, or it does not offer that;
            ``tool_missing``, ``no_space``; ``name_taken``: it is not blank.
    """
    offered_bytes = _size_bytes(host, disk)
    if offered_bytes < size_bytes:
        message = f"{disk.url} has {offered_bytes} bytes, not {size_bytes}"
        raise SystemFailure("no_space", message, "ask for less `size`, or for a larger disk")
    if not anything:
        _refuse_data(host, disk, size_bytes)


def make_blank(host: Host, disk: NetworkDisk, size_bytes: int) -> None:
    """Writes zeros to both ends of what was used, so that the next one finds it blank.

    Raises:
        SystemFailure: the server did not take them.
    """
    orders = [f"write -z {at} {length}" for at, length in _ends(size_bytes)]
    argv = ["qemu-io", *_each([*orders, "flush"]), _image(disk)]
    ran = attempt(host, argv, timeout_s=ANSWER_TIMEOUT_S)
    if ran.exit_code != 0:
        raise _unreachable(host, disk, ran)


def failed_requests(stats: Sequence[Mapping[str, Any]], node: str) -> dict[str, int]:
    """From the answer to ``query-blockstats``: failed requests to a disk, by kind."""
    seen: Mapping[str, Any] = next(
        (each["stats"] for each in stats if each.get("node-name") == node), {}
    )
    counts = {words: int(seen.get(name, 0)) for name, words in _FAILURES.items()}
    return {words: count for words, count in counts.items() if count}


def no_longer_offered(host: Host, disk: NetworkDisk) -> str | None:
    """Why, where a server is asked anew: clients of iSCSI and NFS wait for one that is gone.

    One of NBD is not asked: its client fails at once, and some of its servers take one at a time.
    """
    if disk.protocol == "nbd":
        return None
    try:
        _size_bytes(host, disk)
    except SystemFailure as failure:
        return failure.message
    return None


def _size_bytes(host: Host, disk: NetworkDisk) -> int:
    argv = ["qemu-img", "info", "--output=json", _image(disk)]
    ran = attempt(host, argv, timeout_s=ANSWER_TIMEOUT_S)
    if ran.exit_code != 0:
        raise _unreachable(host, disk, ran)
    return int(json.loads(ran.stdout)["virtual-size"])


def _refuse_data(host: Host, disk: NetworkDisk, size_bytes: int) -> None:
    orders = [" ".join(map(str, ("read -P 0", *end))) for end in _ends(size_bytes)]
    argv = ["qemu-io", "-r", *_each(orders), _image(disk)]
    ran = attempt(host, argv, timeout_s=ANSWER_TIMEOUT_S)
    if _OTHER_DATA in (ran.stdout + ran.stderr).lower():
        message = f"{disk.url} is not blank: it holds {_what_lies_there(host, disk)}"
        hint = "take another disk; `overwrite: anything` makes a filesystem over what lies there"
        raise SystemFailure("name_taken", message, hint)
    if ran.exit_code != 0:
        raise _unreachable(host, disk, ran)


def _what_lies_there(host: Host, disk: NetworkDisk) -> str:
    """By its signature; where none is known, data all the same."""
    words = ["sh", "-c", _SIGNATURE, "sh", _image(disk)]
    found = attempt(host, words, timeout_s=2 * ANSWER_TIMEOUT_S).stdout.split()
    return " and ".join(found) if found else "data without a known signature"


def _unreachable(host: Host, disk: NetworkDisk, ran: Ran) -> SystemFailure:
    said = complaint(ran.stderr, ran.stdout)
    if any(words in said.lower() for words in _NO_DRIVER):
        message = f"on {host.name}: QEMU has no driver for {disk.protocol}"
        return SystemFailure("tool_missing", message, "on Debian: apt install qemu-block-extra")
    why = (said.strip().splitlines() or ["nothing was said"])[-1].rpartition("}': ")[2]
    return SystemFailure(
        "unreachable",
        f"from {host.name}: {disk.url} cannot be used: {why}",
        "start the server, look at what it offers and to whom; qemu-nbd needs `--persistent`",
    )


def _ends(size_bytes: int) -> list[tuple[int, int]]:
    """Offset and length of the parts that bear signatures."""
    length = min(_EDGE_BYTES, size_bytes)
    return [(0, length), (size_bytes - length, length)]


def _each(orders: list[str]) -> list[str]:
    return [word for order in orders for word in ("-c", order)]


def _image(disk: NetworkDisk) -> str:
    """What ``qemu-img`` and ``qemu-io`` open; nothing probes its format."""
    return "json:" + json.dumps({"driver": "raw", "file": protocol_node(disk)})


def _portal(disk: NetworkDisk) -> str:
    host = f"[{disk.host}]" if ":" in disk.host else disk.host
    return f"{host}:{disk.port}"
