"""nginx and Apache as services of a study, driven by the engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from steelyard.hosts.host import Host
from tests.integration.servers.engine_load import assert_all_good, load
from tests.integration.servers.private_server import free_port
from tests.integration.services.started import started

BODY = 20_000
FACES = [("nginx", {}), *(("apache", {"mpm": mpm}) for mpm in ("prefork", "worker", "event"))]


@pytest.mark.parametrize(("use", "settings"), FACES, ids=str)
def test_a_web_server_serves_its_page_whole(
    host: Host, folder: Path, use: str, settings: dict[str, Any]
) -> None:
    with started(host, folder, use, body=f"{BODY} B", **settings) as service:
        result = load(f"http://{service.address}/", "-c", "4")
        assert_all_good(result)
        assert result["counts"]["bytes_in"] > 200 * BODY
        assert (folder / "data" / "index.html").stat().st_size == BODY
        assert service.version[0].isdigit()


@pytest.mark.parametrize("use", ["nginx", "apache"])
def test_a_web_server_has_a_certificate_that_holds(host: Host, folder: Path, use: str) -> None:
    with started(host, folder, use, tls="implicit") as service:
        assert service.authority is not None
        trust = ("--cacert", service.authority)
        assert_all_good(load(f"https://{service.address}/", *trust, operations=50), 50)


def test_a_web_server_listens_where_the_study_says(host: Host, folder: Path) -> None:
    port = free_port()
    with started(host, folder, "nginx", port=port) as service:
        assert service.address == f"127.0.0.1:{port}"
        assert service.listeners == {"http": service.address}


def test_requests_are_logged_when_the_study_asks_for_it(host: Host, folder: Path) -> None:
    with started(host, folder, "apache", access_log=True) as service:
        assert_all_good(load(f"http://{service.address}/", operations=20), 20)
    assert len((folder / "access.log").read_text(encoding="utf-8").splitlines()) == 20
