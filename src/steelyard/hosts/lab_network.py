"""The network of a run: one namespace with a bridge, where its systems and the generator meet.

Made for the run and removed after it; no interface, address, route or firewall rule of the
machine's own is touched, and no packet leaves the namespace.
"""

from __future__ import annotations

import hashlib
import ipaddress
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.subnets import Subnet, free_subnet, routed
from steelyard.hosts.tool import tell
from steelyard.hosts.undo.actions.network import RemoveNamespace, namespace_path
from steelyard.hosts.undo.log import PendingUndo, UndoLog

BRIDGE = "lab"
_FIRST_ADDRESS = 10


@dataclass(frozen=True)
class Interface:
    """A place on the bridge: what one instance is known by."""

    label: str
    address: str
    prefix_length: int
    gateway: str
    mac: str


class LabNetwork(Protocol):
    """Needs root, and ``ip`` and ``nsenter`` on the machine."""

    def up(self) -> None:
        """Makes namespace and bridge; nothing when they are there."""

    def down(self) -> None:
        """Removes all of it."""

    def enter(self, argv: Sequence[str]) -> list[str]:
        """Words that run ``argv`` inside the namespace, where the bridge can be reached."""

    def interface(self, label: str) -> Interface:
        """The same interface for the same label as long as the run lasts."""

    def tap(self, interface: Interface) -> str:
        """Name of a tap device on the bridge, for a virtual machine started with ``enter``."""

    def namespace(self, interface: Interface) -> str:
        """Path of a namespace of its own, joined to the bridge: ``eth0`` bears the address."""


class NamespaceNetwork:
    """A :class:`LabNetwork` of ``ip`` and ``nsenter``, on the machine that ``host_machine`` opens.

    ``name`` begins with ``steelyard-`` and is the namespace's. Interfaces are given in the order in
    which they are first asked for. ``subnet`` has room for the instances; without one a /24 that
    no route of the machine covers is taken, so that addresses of the lab mean nothing else there.
    ``nsenter`` rather than ``ip netns exec``: the latter mounts a new ``/sys`` without cgroups.
    Safe to use from several threads.
    """

    def __init__(
        self,
        host_machine: Callable[[], Host],
        undo: UndoLog,
        name: str,
        subnet: str | None = None,
    ) -> None:
        self.name = name
        self._host_machine = host_machine
        self._undo = undo
        self._subnet: Subnet | None = None if subnet is None else ipaddress.IPv4Network(subnet)
        self._interfaces: dict[str, Interface] = {}
        self._taps: dict[str, str] = {}
        self._made: dict[str, PendingUndo] = {}
        self._lock = threading.RLock()

    def up(self) -> None:
        """Makes namespace and bridge.

        Raises:
            SystemFailure: ``no_rights`` without root, ``tool_missing`` without the tools,
                ``name_taken`` when a namespace of this name is there already.
        """
        with self._lock:
            if self.name in self._made:
                return
            self._refuse_without_means()
            self._make_namespace(self.name)
            with self._whole(self.name):
                self._batch(
                    self.name,
                    "link set lo up",
                    f"link add {BRIDGE} type bridge forward_delay 0 stp_state 0",
                    f"addr add {self.gateway}/{self.subnet.prefixlen} dev {BRIDGE}",
                    f"link set {BRIDGE} up",
                )

    def down(self) -> None:
        """Removes the namespaces and all that hangs in them, the newest first."""
        with self._lock:
            for name in reversed(list(self._made)):
                self._remove(name)
            self._taps.clear()

    def enter(self, argv: Sequence[str]) -> list[str]:
        return ["nsenter", f"--net={namespace_path(self.name)}", *argv]

    def interface(self, label: str) -> Interface:
        with self._lock:
            if label not in self._interfaces:
                self._interfaces[label] = self._next_interface(label)
            return self._interfaces[label]

    def tap(self, interface: Interface) -> str:
        with self._lock:
            if interface.label not in self._taps:
                device = f"tap{_number(interface, self.subnet)}"
                self._batch(
                    self.name,
                    f"tuntap add dev {device} mode tap",
                    f"link set {device} master {BRIDGE} up",
                )
                self._taps[interface.label] = device
            return self._taps[interface.label]

    def namespace(self, interface: Interface) -> str:
        with self._lock:
            if interface.label not in self._made:
                self._make_namespace(interface.label)
                with self._whole(interface.label):
                    self._join(interface)
            return namespace_path(interface.label)

    @property
    def subnet(self) -> Subnet:
        """The addresses of the lab."""
        with self._lock:
            if self._subnet is None:
                told = tell(
                    self._host_machine(), ["ip", "-json", "-4", "route", "show", "table", "all"]
                )
                self._subnet = free_subnet(self.name, routed(told))
            return self._subnet

    @property
    def gateway(self) -> str:
        """Address of the bridge, which a generator inside the namespace has."""
        return str(self.subnet.network_address + 1)

    def _join(self, interface: Interface) -> None:
        """A pair of interfaces: one end on the bridge, the other the namespace's ``eth0``."""
        end = f"veth{_number(interface, self.subnet)}"
        self._batch(
            self.name,
            f"link add {end} type veth peer name eth0 address {interface.mac} "
            f"netns {interface.label}",
            f"link set {end} master {BRIDGE} up",
        )
        self._batch(
            interface.label,
            "link set lo up",
            f"addr add {interface.address}/{interface.prefix_length} dev eth0",
            "link set eth0 up",
            f"route add default via {interface.gateway}",
        )

    def _make_namespace(self, name: str) -> None:
        host = self._host_machine()
        if host.path_facts(namespace_path(name)).exists:
            raise SystemFailure(
                "name_taken",
                f"on {host.name}: there is a network namespace {name} already",
                "another run may be using it; it was not touched (`ip netns list`)",
            )
        self._made[name] = self._undo.plan(host.name, RemoveNamespace(name))
        with self._whole(name):
            tell(host, ["ip", "netns", "add", name])

    @contextmanager
    def _whole(self, name: str) -> Iterator[None]:
        """A namespace that could not be finished is removed, so that the next try begins anew."""
        try:
            yield
        except (SystemFailure, AgentRefusal):
            self._remove(name)
            raise

    def _remove(self, name: str) -> None:
        self._undo.apply(self._host_machine(), self._made[name])
        del self._made[name]

    def _next_interface(self, label: str) -> Interface:
        number = _FIRST_ADDRESS + len(self._interfaces)
        address = self.subnet.network_address + number
        if address >= self.subnet.broadcast_address:
            message = f"the lab network {self.subnet} has no room for {label}"
            raise SystemFailure("no_space", message, "take a larger subnet")
        return Interface(
            label=label,
            address=str(address),
            prefix_length=self.subnet.prefixlen,
            gateway=self.gateway,
            mac=_mac(self.name, number),
        )

    def _batch(self, namespace: str, *lines: str) -> None:
        argv = ["ip", "-n", namespace, "-batch", "-"]
        tell(self._host_machine(), argv, stdin="".join(f"{line}\n" for line in lines))

    def _refuse_without_means(self) -> None:
        host = self._host_machine()
        if tell(host, ["id", "-u"]) != "0":
            raise SystemFailure(
                "no_rights",
                f"on {host.name}: the lab network needs root",
                "run as root, or give the systems `network: host` or `network: user`",
            )
        for tool in ("ip", "nsenter"):
            tell(host, [tool, "-V"])


def _number(interface: Interface, subnet: Subnet) -> int:
    return int(ipaddress.IPv4Address(interface.address)) - int(subnet.network_address)


def _mac(name: str, number: int) -> str:
    """Locally administered, and the same for the same run and interface."""
    run = hashlib.sha256(name.encode()).digest()[:3].hex(":")
    return f"52:{run}:{number >> 8:02x}:{number & 255:02x}"
