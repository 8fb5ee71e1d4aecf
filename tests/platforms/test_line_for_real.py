"""The line of a system in a namespace: shaped, measured by a stream, and as before after it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator

import pytest
from tests.platforms.needs import need

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.lab_network import NamespaceNetwork
from steelyard.hosts.undo.log import UndoLog
from steelyard.study.model import Level
from steelyard.systems.settings import Place, apply_settings, revert_settings
from steelyard.systems.settings.line import refuse_unavailable_line

RATE = 20_000_000
HEADERS = 1448 / 1514
"""Payload of a full TCP segment with timestamps, of the Ethernet frame that carries it."""


class Lab:
    """One namespace on the lab network, with an agent inside; iperf3 serves in it."""

    def __init__(self, host_machine: Host, network: NamespaceNetwork, name: str) -> None:
        need("iperf3", "tc", "ip", "nsenter", "unshare", root=True)
        interface = network.interface(f"{name}-a-1")
        self.network, self.address = network, interface.address
        self.path = network.namespace(interface)
        words = ["nsenter", f"--net={self.path}", host_machine.engine, "agent"]
        self.host = Host("inside:a", host_machine.open_agent(words))

    def shown(self) -> list[str]:
        """Every discipline and every device inside."""
        words = ("tc qdisc show", "ip -o link show")
        ran = (self.host.run(line.split(), timeout_s=30).stdout for line in words)
        return [" ".join(line.split()[:5]) for text in ran for line in text.splitlines()]

    def rate_of(self, *options: str) -> float:
        """Bits of payload a second that arrive in 2 s, as iperf3 counts them."""
        serve = ["nsenter", f"--net={self.path}", "iperf3", "--server", "--one-off"]
        server = subprocess.Popen(serve, stdout=subprocess.DEVNULL)
        try:
            self.host.await_listening(timeout_s=30, address=self.address, port=5201)
            client = ["iperf3", "--client", self.address, "--time", "2", "--json", *options]
            told = subprocess.run(self.network.enter(client), capture_output=True, check=True)
            server.wait(timeout=30)
        finally:
            server.kill()
            server.wait()
        return float(json.loads(told.stdout)["end"]["sum_received"]["bits_per_second"])


@pytest.fixture
def lab(host_machine: Host, network: NamespaceNetwork, name: str) -> Iterator[Lab]:
    network.up()
    made = Lab(host_machine, network, name)
    yield made
    made.host.close()


@pytest.mark.parametrize(
    ("key", "options"), [("line.rate", ("--reverse",)), ("line.received_rate", ())]
)
def test_a_rate_is_what_arrives_and_nothing_is_left_after_it(
    lab: Lab, undo: UndoLog, key: str, options: tuple[str, ...]
) -> None:
    before = lab.shown()
    levels: dict[str, Level] = {key: RATE}
    applied = apply_settings(lab.host, levels, undo, Place("steelyard-a", "/"))
    assert "rate 20Mbit" in applied[0].facts[key]
    assert lab.rate_of(*options) == pytest.approx(RATE * HEADERS, rel=0.05)
    revert_settings(lab.host, applied, undo)
    assert lab.shown() == before


def test_delay_and_loss_without_netem_are_named_with_how_to_get_it(lab: Lab, undo: UndoLog) -> None:
    ran = subprocess.run(
        ["unshare", "--net", "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"],
        capture_output=True,
        check=False,
    )
    if ran.returncode == 0:
        pytest.skip("this kernel has netem")
    before = lab.shown()
    for key in ("delay", "loss"):
        with pytest.raises(SystemFailure, match="sch_netem") as caught:
            refuse_unavailable_line(lab.host, key)
        assert caught.value.kind == "not_supported"
        assert "modprobe sch_netem" in (caught.value.hint or "")
    with pytest.raises(SystemFailure, match="sch_netem"):
        levels: dict[str, Level] = {"line.delay": 0.02}
        apply_settings(lab.host, levels, undo, Place("steelyard-a", "/"))
    assert lab.shown() == before
