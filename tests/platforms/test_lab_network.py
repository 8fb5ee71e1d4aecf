"""The network of a run, made of real namespaces."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.platforms.conftest import namespaces
from tests.platforms.needs import need

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.lab_network import NamespaceNetwork
from steelyard.hosts.undo.actions.network import RemoveNamespace, namespace_path
from steelyard.hosts.undo.log import UndoLog


def told(host: Host, *argv: str) -> str:
    ran = host.run(list(argv), timeout_s=60)
    assert ran.exit_code == 0, ran.stderr
    return str(ran.stdout)


def inside(host: Host, path: str, *argv: str) -> str:
    return told(host, "nsenter", f"--net={path}", *argv)


def test_two_addresses_reach_each_other_and_the_bridge(
    network: NamespaceNetwork, host_machine: Host, name: str
) -> None:
    network.up()
    one, two = network.interface(f"{name}-a-1"), network.interface(f"{name}-a-2")
    path, other = network.namespace(one), network.namespace(two)
    told_listening = inside(host_machine, other, "ip", "-json", "-4", "addr", "show", "dev", "eth0")
    assert json.loads(told_listening)[0]["addr_info"][0]["local"] == two.address
    for target in (two.address, network.gateway):
        assert answers(path, other if target == two.address else None, target, network)


def answers(source: str, listener: str | None, address: str, network: NamespaceNetwork) -> bool:
    """Whether a connection from one namespace is taken in another; by default of the lab's own."""
    enter = network.enter([]) if listener is None else ["nsenter", f"--net={listener}"]
    script = "import socket,sys; s=socket.create_server((sys.argv[1],0)); print(s.getsockname()[1],flush=True); s.accept()"  # noqa: E501
    server = subprocess.Popen(
        [*enter, "python3", "-c", script, address], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        connect = "import socket,sys; socket.create_connection((sys.argv[1],int(sys.argv[2])),5)"
        words = ["nsenter", f"--net={source}", "python3", "-c", connect, address, port]
        return subprocess.run(words, check=False, timeout=120).returncode == 0
    finally:
        server.kill()
        server.communicate()


def test_a_tap_hangs_on_the_bridge(
    network: NamespaceNetwork, host_machine: Host, name: str
) -> None:
    network.up()
    device = network.tap(network.interface(f"{name}-a-1"))
    link = json.loads(told(host_machine, *network.enter(["ip", "-json", "link", "show", device])))[
        0
    ]
    assert link["master"] == "lab"
    assert network.tap(network.interface(f"{name}-a-1")) == device


def test_no_interface_and_no_route_of_the_machine_changes(
    network: NamespaceNetwork, host_machine: Host, name: str
) -> None:
    def seen() -> list[str]:
        commands = (
            ["ip", "-o", "link"],
            ["ip", "-brief", "addr"],  # lifetimes of addresses count down
            ["ip", "route", "show", "table", "all"],
        )
        return [told(host_machine, *words) for words in commands]

    before = seen()
    network.up()
    network.namespace(network.interface(f"{name}-a-1"))
    network.tap(network.interface(f"{name}-a-2"))
    assert seen() == before


def test_down_removes_all_of_it_and_up_makes_it_again(network: NamespaceNetwork, name: str) -> None:
    network.up()
    network.up()
    network.namespace(network.interface(f"{name}-a-1"))
    network.down()
    assert not [entry for entry in namespaces() if entry.startswith(name)]
    network.up()
    assert name in namespaces()


def test_what_a_killed_controller_left_is_found_in_the_ledger_and_removed(
    network: NamespaceNetwork, host_machine: Host, undo: UndoLog, name: str
) -> None:
    network.up()
    network.namespace(network.interface(f"{name}-a-1"))
    for pending in undo.pending():
        undo.apply(host_machine, pending)
    assert not [entry for entry in namespaces() if entry.startswith(name)]
    assert undo.pending() == []


def test_a_namespace_of_the_same_name_is_refused_and_left_alone(
    network: NamespaceNetwork, host_machine: Host, undo: UndoLog, name: str
) -> None:
    told(host_machine, "ip", "netns", "add", name)
    try:
        with pytest.raises(SystemFailure) as refused:
            network.up()
        assert refused.value.kind == "name_taken"
        assert undo.pending() == []
        network.down()
        assert name in namespaces()
    finally:
        told(host_machine, "ip", "netns", "delete", name)


VXLAN = ("type", "vxlan", "id", "5", "dstport", "0")
"""A kind of device that no lab makes."""


def test_a_namespace_that_holds_a_strange_device_is_not_removed(
    host_machine: Host, name: str
) -> None:
    need("ip", root=True)
    told(host_machine, "ip", "netns", "add", name)
    try:
        told(host_machine, "ip", "-n", name, "link", "add", "mine", *VXLAN)
        told(host_machine, "ip", "-n", name, "link", "set", "mine", "up")
        with pytest.raises(AgentRefusal, match="mine"):
            RemoveNamespace(name).apply(host_machine)
        assert Path(namespace_path(name)).exists()
    finally:
        told(host_machine, "ip", "netns", "delete", name)
