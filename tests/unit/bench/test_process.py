"""Servers are known to be ready without being disturbed."""

from __future__ import annotations

import socket

import pytest
from bench.engine.process import listens


def test_a_port_is_known_to_be_listened_on_without_a_connection() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
        assert not listens(port)
        server.listen()
        assert listens(port)
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
