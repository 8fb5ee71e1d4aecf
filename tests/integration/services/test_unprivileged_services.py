"""Services that need no root run as whoever starts them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.engine.agent import Agent
from steelyard.engine.locate import find_engine
from steelyard.engine.patience import Patience
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.systems import services
from tests.integration.servers.engine_load import assert_all_good, load
from tests.integration.services.started import spec_of, started

DROP = ["setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"]


@pytest.fixture
def nobody(folder: Path) -> Iterator[Host]:
    """An agent without root, and the folder its own; where the tests are not root, just theirs."""
    engine = folder / "engine"
    shutil.copy(find_engine(), engine)
    engine.chmod(0o755)
    words: list[str] = []
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody", "nogroup")
        words = DROP
    opened = Host("local", Agent([*words, str(engine), "agent"], Patience()))
    yield opened
    opened.close()


@pytest.mark.parametrize("use", ["nginx", "apache"])
def test_a_web_server_needs_no_root(nobody: Host, folder: Path, use: str) -> None:
    with started(nobody, folder / "trial", use) as service:
        assert_all_good(load(f"http://{service.address}/", operations=20), 20)


def test_dovecot_needs_no_root(nobody: Host, folder: Path) -> None:
    login = ("--user", "user{n}", "--password", "password{n}")
    with started(nobody, folder / "trial", "dovecot", mailboxes=2) as service:
        address = service.listeners["imap"]
        assert_all_good(load(f"imap://{address}", *login, "-c", "2", operations=10), 10)


def test_a_service_that_needs_root_says_so(nobody: Host, folder: Path) -> None:
    with pytest.raises(SystemFailure) as failed:
        services.start(nobody, spec_of("postfix"), str(folder / "trial"), "service")
    if failed.value.kind == "tool_missing":
        pytest.skip(failed.value.message)
    assert failed.value.kind == "no_rights"
    assert "root only" in failed.value.message
