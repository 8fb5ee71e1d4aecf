"""A service listens at the address of its system, in a network of its own, and certifies that."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from steelyard.engine.agent import Agent
from steelyard.engine.locate import find_engine
from steelyard.engine.patience import Patience
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.systems import services
from tests.integration.servers.private_server import require_program
from tests.integration.services.started import spec_of

ADDRESS = "10.77.0.1"
ENTER = 'ip link set lo up && ip addr add "$1/32" dev lo && exec "$0" agent'
LOGIN = ["--user", "user{n}", "--password", "password{n}"]
ANYBODY = ["--user", "anonymous", "--password", "a@b.test"]
DRIVEN = {
    "sink-http": ("http", "https://{}/", []),
    "nginx": ("http", "https://{}/", []),
    "apache": ("http", "https://{}/", []),
    "dovecot": ("imap", "imaps://{}", LOGIN),
    "vsftpd": ("ftp", "ftps://{}/bytes/10000000", ANYBODY),
}


@pytest.fixture
def elsewhere() -> Iterator[Host]:
    """An agent in a network namespace of its own, which ends with it."""
    require_program("ip", "iproute2")
    if os.geteuid() != 0:
        pytest.skip("only root makes network namespaces")
    enter = ["unshare", "--net", "sh", "-c", ENTER, str(find_engine()), ADDRESS]
    opened = Host("local", Agent(enter, Patience()))
    yield opened
    opened.close()


@pytest.mark.parametrize("use", DRIVEN)
def test_a_service_listens_at_its_systems_address(elsewhere: Host, folder: Path, use: str) -> None:
    protocol, url, login = DRIVEN[use]
    spec = spec_of(use, tls="implicit")
    try:
        running = services.start(elsewhere, spec, str(folder), "service", address=ADDRESS)
    except SystemFailure as failure:
        pytest.skip(f"{failure.message}; {failure.hint}")
    where = running.listeners.get(protocol, running.address)
    assert where.startswith(f"{ADDRESS}:")
    words = [url.format(where), "-n", "4", "--cacert", str(running.authority), "--json", *login]
    ran = elsewhere.run(["@engine", "load", *words], timeout_s=60)
    services.stop(running)
    result = json.loads(ran.stdout)
    assert result["counts"]["ok"] == 4, ran.stderr
    assert result["tls"]["verified"] is True
