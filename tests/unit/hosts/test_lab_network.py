"""Addresses of the lab, and what is said where it cannot be made."""

from __future__ import annotations

import ipaddress
import json
from pathlib import Path
from typing import Any, cast

import pytest

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Failure
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.lab_network import NamespaceNetwork
from steelyard.hosts.subnets import Subnet, free_subnet, routed
from steelyard.hosts.undo.log import UndoLog
from steelyard.records.ledger import Ledger


class Ended:
    """How a tool ended."""

    exit_code = 0
    signal = None
    timed_out = False
    stderr = ""

    def __init__(self, stdout: str) -> None:
        self.stdout = stdout


class Machine:
    """Gives fixed answers, and has no tool but those."""

    name = "local"

    def __init__(self, **answers: str) -> None:
        self.answers = answers

    def run(self, argv: list[str], **_words: Any) -> Ended:
        if argv[0] not in self.answers:
            failure = Failure(kind="not_found", message=f"{argv[0]} is not there")
            raise AgentRefusal("run", failure)
        return Ended(self.answers[argv[0]])


def network(
    machine: Machine, folder: Path, subnet: str | None = "10.64.9.0/24"
) -> NamespaceNetwork:
    undo = UndoLog(Ledger(folder / "ledger.jsonl"))
    return NamespaceNetwork(lambda: cast("Host", machine), undo, "steelyard-7", subnet)


def test_without_root_it_is_said_what_to_do_instead(tmp_path: Path) -> None:
    with pytest.raises(SystemFailure) as refused:
        network(Machine(id="1000"), tmp_path).up()
    assert refused.value.kind == "no_rights"
    assert "network: host" in (refused.value.hint or "")


@pytest.mark.parametrize("missing", ["ip", "nsenter"])
def test_a_missing_tool_is_named(missing: str, tmp_path: Path) -> None:
    answers = {"id": "0", "ip": "", "nsenter": ""}
    del answers[missing]
    with pytest.raises(SystemFailure, match=missing) as refused:
        network(Machine(**answers), tmp_path).up()
    assert refused.value.kind == "tool_missing"


def test_a_label_keeps_its_address_and_no_two_share_one(tmp_path: Path) -> None:
    lab = network(Machine(), tmp_path)
    interfaces = [lab.interface(f"steelyard-7-a-{n}") for n in range(1, 4)]
    assert lab.interface("steelyard-7-a-2") == interfaces[1]
    assert (
        len({interface.address for interface in interfaces})
        == len({interface.mac for interface in interfaces})
        == 3
    )
    assert {interface.gateway for interface in interfaces} == {"10.64.9.1"}


def test_a_subnet_without_room_says_so(tmp_path: Path) -> None:
    lab = network(Machine(), tmp_path, "10.64.9.0/28")
    with pytest.raises(SystemFailure, match="no room"):
        for number in range(20):
            lab.interface(f"steelyard-7-a-{number}")


def test_a_subnet_that_the_machine_routes_is_not_taken() -> None:
    first = free_subnet("steelyard-7", [])
    second = free_subnet("steelyard-7", [first])
    assert not second.overlaps(first)
    assert second.subnet_of(Subnet("10.64.0.0/10"))


def test_where_all_is_routed_there_is_no_subnet() -> None:
    with pytest.raises(SystemFailure, match="no addresses"):
        free_subnet("steelyard-7", [Subnet("10.0.0.0/8")])


def test_routes_are_read_without_the_default_and_without_what_is_no_address() -> None:
    told = json.dumps([{"dst": "default"}, {"dst": "10.64.0.0/16"}, {"dst": "10.65.0.7"}, {}])
    wanted = [ipaddress.IPv4Network("10.64.0.0/16"), ipaddress.IPv4Network("10.65.0.7/32")]
    assert list(routed(told)) == wanted


def test_a_default_by_its_number_covers_nothing() -> None:
    assert list(routed('[{"dst": "0.0.0.0/0"}]')) == []
