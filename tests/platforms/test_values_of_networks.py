"""Values that each network namespace has for itself are never written where they do not belong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.platforms.alone import alone_with_the_machine

from steelyard.hosts.host import Host
from steelyard.hosts.kernel_values import read_values
from steelyard.hosts.lab_network import NamespaceNetwork
from steelyard.hosts.networks import within
from steelyard.hosts.undo.actions.files import sha256_of
from steelyard.hosts.undo.actions.network import namespace_path
from steelyard.hosts.undo.actions.values import RestoreValues
from steelyard.hosts.undo.log import UndoLog
from steelyard.systems.settings import Place, apply_settings

BACKLOG = "/proc/sys/net/core/somaxconn"
FOUND, SET = "1111", "2222"


@pytest.fixture
def inside(host_machine: Host, network: NamespaceNetwork) -> Iterator[Host]:
    """This machine by an agent in a namespace of the run's, where the value is another."""
    network.up()
    with alone_with_the_machine(), within(host_machine, namespace_path(network.name)) as host:
        host.write_file(BACKLOG, FOUND)
        yield host


def of_the_machine() -> str:
    return Path(BACKLOG).read_text(encoding="ascii").strip()


def test_a_value_set_in_a_namespace_is_given_back_to_it_by_an_agent_outside(
    host_machine: Host, inside: Host, undo: UndoLog, tmp_path: Path
) -> None:
    machine = of_the_machine()
    place = Place("steelyard-net", str(tmp_path))
    (applied,) = apply_settings(inside, {"sysctl.net.core.somaxconn": SET}, undo, place)
    assert inside.read_file(BACKLOG).strip() == SET
    (pending,) = applied.undos
    undo.apply(host_machine, pending)
    assert (inside.read_file(BACKLOG).strip(), of_the_machine()) == (FOUND, machine)


def test_all_values_are_given_back_each_to_its_own(
    host_machine: Host, inside: Host, tmp_path: Path
) -> None:
    machine = of_the_machine()
    content = json.dumps(read_values(inside))
    (tmp_path / "before.json").write_text(content, encoding="utf-8")
    inverse = RestoreValues(
        f"{tmp_path}/before.json", sha256_of(content), host_machine.boot_id, inside.network
    )
    inside.write_file(BACKLOG, SET)
    inverse.apply(host_machine)
    assert (inside.read_file(BACKLOG).strip(), of_the_machine()) == (FOUND, machine)


def test_what_has_gone_with_its_namespace_needs_nothing(
    host_machine: Host, inside: Host, network: NamespaceNetwork, undo: UndoLog, tmp_path: Path
) -> None:
    machine = of_the_machine()
    place = Place("steelyard-net", str(tmp_path))
    (applied,) = apply_settings(inside, {"sysctl.net.core.somaxconn": SET}, undo, place)
    network.down()
    undo.apply(host_machine, applied.undos[0])
    assert of_the_machine() == machine
