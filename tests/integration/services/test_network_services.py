"""iperf3, the RTSP server, and servers that run already."""

from __future__ import annotations

import json
import re
import socket
import subprocess
from pathlib import Path

import pytest

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.systems import services
from tests.integration.servers.private_server import require_program
from tests.integration.services.started import spec_of, started


def test_iperf3_measures_against_its_server(host: Host, folder: Path) -> None:
    client = require_program("iperf3", "iperf3")
    with started(host, folder, "iperf3") as service:
        address, _, port = service.address.partition(":")
        words = [client, "-c", address, "-p", port, "-t", "1", "-J"]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        assert json.loads(done.stdout)["end"]["sum_received"]["bytes"] >= 1_000_000


@pytest.mark.parametrize("transport", [(), ("-u", "-b", "1M")], ids=["tcp", "udp"])
def test_iperf_2_is_answered_on_both_transports(
    host: Host, folder: Path, transport: tuple[str, ...]
) -> None:
    client = require_program("iperf", "iperf")
    with started(host, folder, "iperf2") as service:
        address, _, port = service.address.partition(":")
        words = [client, "-c", address, "-p", port, "-t", "1", *transport]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
        assert ("Server Report" in done.stdout) == bool(transport)
        assert not re.search("failed|WARNING", done.stderr)


def asked(address: str, request: str) -> str:
    """What a server answers; it is read until its headers and their body are whole."""
    host, _, port = address.partition(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(request.encode())
        said = connection.makefile("rb")
        head = b"".join(iter(said.readline, b"\r\n")).decode()
        length = next(
            (int(line[15:]) for line in head.splitlines() if line.startswith("Content-Length")), 0
        )
        return head + said.read(length).decode()


def test_the_video_is_described_with_its_pictures_a_second(host: Host, folder: Path) -> None:
    with started(host, folder, "rtsp", height=120, frames=10) as service:
        url = f"rtsp://{service.address}/video"
        request = f"DESCRIBE {url} RTSP/1.0\r\nCSeq: 1\r\nAccept: application/sdp\r\n\r\n"
        described = asked(service.address, request)
        assert described.startswith("RTSP/1.0 200 OK")
        assert "H264/90000" in described
        assert "a=framerate:10" in described


def test_a_server_that_runs_already_is_reached_and_left_alone(host: Host, folder: Path) -> None:
    with started(host, folder, "sink-mail") as sink:
        address, imap = sink.listeners["smtp"], sink.listeners["imap"]
        where = {"address": address, "speaks": ["smtp", "imap"], "listeners": {"imap": imap}}
        with_external = services.start(host, spec_of("external", **where), "/none", "service-2")
        assert with_external.listeners == {"smtp": address, "imap": imap}
        assert with_external.processes == {}
        assert str(with_external.facts["service.banner"]).startswith("220 ")
        assert with_external.facts["service.reset"] == "nothing was reset"
        assert services.how_it_died(with_external) is None
        services.stop(with_external)
        assert host.status(sink.name).running


def test_a_server_that_is_not_there_is_reported(host: Host) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        spec = spec_of("external", address=f"127.0.0.1:{held.getsockname()[1]}", speaks="smtp")
        with pytest.raises(SystemFailure, match="no one answers") as failed:
            services.start(host, spec, "/none", "service")
    assert failed.value.kind == "unreachable"
