"""An agent, and a folder that other users may enter, for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.hosts.host import Host
from steelyard.hosts.transport import open_local_pipe
from tests.integration.servers.private_server import open_folder
from tests.integration.services.exim_beside import exim_agent


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as made:
        yield made


@pytest.fixture
def host() -> Iterator[Host]:
    opened = Host("local", open_local_pipe())
    yield opened
    opened.close()


@pytest.fixture
def exim_host(tmp_path: Path) -> Iterator[Host]:
    opened = Host("local", exim_agent(tmp_path))
    yield opened
    opened.close()
