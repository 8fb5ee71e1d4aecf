"""Real platforms on this machine. What a test makes is gone at its end, or it fails."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.platforms.needs import need

from steelyard.engine.locate import find_engine
from steelyard.hosts.host import Host
from steelyard.hosts.lab_network import NamespaceNetwork
from steelyard.hosts.transport import here, open_local_pipe
from steelyard.hosts.undo.log import UndoLog
from steelyard.records.ledger import Ledger


@pytest.fixture
def host_machine() -> Iterator[Host]:
    host = Host("local", open_local_pipe(), here, str(find_engine()))
    yield host
    host.close()


@pytest.fixture
def undo(tmp_path: Path) -> Iterator[UndoLog]:
    with Ledger(tmp_path / "ledger.jsonl") as ledger:
        yield UndoLog(ledger)


@pytest.fixture
def name() -> str:
    return f"steelyard-t{uuid.uuid4().hex[:8]}"


@pytest.fixture
def network(host_machine: Host, undo: UndoLog, name: str) -> Iterator[NamespaceNetwork]:
    need("ip", "nsenter", root=True)
    made = NamespaceNetwork(lambda: host_machine, undo, name)
    yield made
    made.down()
    assert not [entry for entry in namespaces() if entry.startswith(name)]


def namespaces() -> list[str]:
    """Names of the network namespaces of this machine."""
    folder = Path("/run/netns")
    return sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []
