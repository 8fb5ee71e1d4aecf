"""Real servers, each in a folder of its own, for as long as a test or a module of tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.servers.authority import Authority, new_authority
from tests.integration.servers.private_server import open_folder


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return new_authority(tmp_path_factory.mktemp("authority"), "trusted")


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """An authority that has signed nothing of any server."""
    return new_authority(tmp_path_factory.mktemp("stranger"), "stranger")


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_folder() as made:
        yield made


@pytest.fixture(scope="module")
def shared_folder() -> Iterator[Path]:
    with open_folder() as made:
        yield made
