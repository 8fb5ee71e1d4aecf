"""How many clients a server really serves at its limit, as pre-flight counts them."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from steelyard.hosts.host import Host
from tests.integration.services.started import started

CLIENTS = 12


def served(address: str) -> int:
    """Of clients that come one after the other and say nothing, how many are let in."""
    host, _, port = address.rpartition(":")
    with ExitStack() as open_together:
        clients = [
            open_together.enter_context(socket.create_connection((host, int(port)), timeout=5))
            for _ in range(CLIENTS)
        ]
        time.sleep(0.5)
        return sum(map(let_in, clients))


def let_in(client: socket.socket) -> bool:
    """Whether the server waits for the client, or greets it, and has not turned it away."""
    client.settimeout(0.05)
    try:
        return client.recv(64).startswith(b"SSH-")
    except TimeoutError:
        return True
    except ConnectionError:
        return False


@pytest.mark.parametrize(
    ("use", "limit", "room"),
    [
        ("nginx", {"workers": 1, "connections": 10}, 8),
        ("samba", {"clients": 5}, 3),
        ("sftp", {"unauthenticated": 5}, 5),
    ],
)
def test_a_server_serves_as_many_as_its_limit_leaves_room_for(
    host: Host, folder: Path, use: str, limit: dict[str, int], room: int
) -> None:
    with started(host, folder, use, **limit) as service:
        assert served(service.address) == room
