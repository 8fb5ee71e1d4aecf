"""Network namespaces that were made."""

from __future__ import annotations

import json
from dataclasses import dataclass

from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.inverse import refused

NETNS_FOLDER = "/run/netns"
_TIMEOUT_S = 30.0
_OURS = frozenset({"bridge", "ifb", "veth", "tun"})
PREFIX = "steelyard-"


def namespace_path(name: str) -> str:
    """Where ``ip netns`` keeps it."""
    return f"{NETNS_FOLDER}/{name}"


@dataclass(frozen=True)
class RemoveNamespace:
    """A network namespace that was made is removed, and with it every interface in it.

    It was not there when this was planned, so what bears the name now was made for it; one that
    holds a device of the machine's own (moved there by somebody since) is refused all the same.
    """

    name: str
    kind: str = "remove_namespace"

    def __str__(self) -> str:
        return f"remove the network namespace {self.name}"

    def apply(self, host: Host) -> None:
        if not host.path_facts(namespace_path(self.name)).exists:
            return
        strange = self._strange_devices(host)
        if strange or not self.name.startswith(PREFIX):
            raise refused(f"{self} was not made by steelyard alone: it holds {strange}")
        ran = host.run(["ip", "netns", "delete", self.name], timeout_s=_TIMEOUT_S)
        if ran.exit_code != 0 and host.path_facts(namespace_path(self.name)).exists:
            raise refused(f"cannot {self}: {ran.stderr.strip()}")

    def _strange_devices(self, host: Host) -> list[str]:
        """Devices that are up and of no kind that the lab makes."""
        argv = ["ip", "-n", self.name, "-json", "-details", "link", "show"]
        ran = host.run(argv, timeout_s=_TIMEOUT_S)
        if ran.exit_code != 0:
            return []  # its mount is gone, only the empty file is left: nothing can be in it
        links = json.loads(ran.stdout or "[]")
        return [link["ifname"] for link in links if _strange(link)]


def _strange(link: dict[str, object]) -> bool:
    info = link.get("linkinfo")
    kind = info.get("info_kind") if isinstance(info, dict) else None
    flags = link.get("flags")
    up = isinstance(flags, list) and "UP" in flags
    return up and link.get("ifname") != "lo" and kind not in _OURS
