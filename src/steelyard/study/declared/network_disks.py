"""The address of a disk that a server on the network offers: ``url`` of a disk. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import SplitResult, unquote, urlsplit

from steelyard.units import UnitError

Protocol = Literal["nbd", "iscsi", "nfs"]
PORTS: dict[Protocol, int] = {"nbd": 10809, "iscsi": 3260, "nfs": 2049}
PATTERN = rf"^({'|'.join(PORTS)})://[^\s/@?#]+/[^\s?#]+$"
"""What an editor may accept; reading says more."""
_FORMS: dict[Protocol, str] = {
    "nbd": "nbd://HOST:PORT/EXPORT",
    "iscsi": "iscsi://HOST:PORT/TARGET/LUN",
    "nfs": "nfs://HOST/EXPORT/FILE",
}
_TARGET = re.compile(r"((?:iqn\.|eui\.|naa\.)[^\s/]+)/([0-9]{1,5})")


@dataclass(frozen=True)
class NetworkDisk:
    """``name`` is an export of NBD, a target of iSCSI, or the whole path of a file by NFS."""

    url: str
    protocol: Protocol
    host: str
    port: int
    name: str
    lun: int = 0


def read_network_disk(url: str) -> NetworkDisk:
    """What a URL names.

    Raises:
        UnitError: it names no disk, or holds a name or a password; these it never repeats.
    """
    scheme, _, rest = url.partition("://")
    if "@" in rest:
        raise UnitError(
            "a URL of a disk holds no user and no password",
            "take what stands before `@` out: it would be in records and in the list of "
            "processes; let the server know this machine by its address",
        )
    protocol = next((each for each in PORTS if each == scheme), None)
    if protocol is None:
        forms = ", ".join(f"`{form}`" for form in _FORMS.values())
        raise UnitError(f"`{url}` is no URL of a disk", f"write one of {forms}")
    form = f"write `{_FORMS[protocol]}`"
    if re.search(r"[\s?#]", url):
        raise UnitError(f"`{url}` has a space, `?` or `#`", form)
    parts = urlsplit(url)
    host, port = _server(parts, protocol, form)
    name, lun = _offered(url, protocol, unquote(parts.path).lstrip("/"), form)
    return NetworkDisk(url, protocol, host, port, name, lun)


def _server(parts: SplitResult, protocol: Protocol, form: str) -> tuple[str, int]:
    url = parts.geturl()
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        raise UnitError(f"the port of `{url}` is none", form) from None
    if not host or port == 0:
        raise UnitError(f"`{url}` names no server", form)
    if protocol == "nfs" and port is not None:
        raise UnitError(f"`{url}` has a port, which QEMU asks the server for", form)
    return host, port or PORTS[protocol]


def _offered(url: str, protocol: Protocol, path: str, form: str) -> tuple[str, int]:
    """The name of what the server offers, and the number of its unit."""
    if not path:
        raise UnitError(f"`{url}` names a server, and nothing that it offers", form)
    if protocol == "nbd":
        return path, 0
    if protocol == "nfs":
        if "/" not in path or path.endswith("/"):
            raise UnitError(f"`{url}` names no file of an export", form)
        return f"/{path}", 0
    target = _TARGET.fullmatch(path)
    if target is None:
        raise UnitError(f"`{url}` names no target with the number of a unit", form)
    return target[1], int(target[2])
