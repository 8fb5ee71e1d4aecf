"""A server that runs already: it is reached, and nothing else is ever done to it."""

from __future__ import annotations

import socket

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.study.model import ServiceSpec
from steelyard.study.service.entry import ExternalSettings
from steelyard.systems.services.running import RunningService

REACH_S = 5.0
NOT_RESET = "nothing was reset"
GREETING = ("smtp", "lmtp", "imap", "pop3", "ftp")
"""Protocols in which the server speaks first."""

_MOST_BYTES = 512
_ASKED = b"HEAD / HTTP/1.0\r\n\r\n"


def reach(host: Host, spec: ServiceSpec, name: str) -> RunningService:
    """The server at its address, with what it says of itself.

    Raises:
        SystemFailure: ``unreachable``: no server answers there.
    """
    settings = ExternalSettings.of(spec.settings)
    said = banner(settings.address, settings.speaks[0], secure=settings.tls == "implicit")
    return running_at(host, spec, name, said)


def running_at(host: Host, spec: ServiceSpec, name: str, said: str | None) -> RunningService:
    """The server, of which this is ``said``."""
    settings = ExternalSettings.of(spec.settings)
    address, protocol = settings.address, settings.speaks[0]
    return RunningService(
        host=host,
        name=name,
        address=address,
        version=said or "not told",
        listeners={protocol: address, **(settings.listeners or {})},
        facts={
            "service.address": address,
            "service.banner": said,
            "service.reset": NOT_RESET,
        },
    )


def refuse_unserved(spec: ServiceSpec) -> None:
    """For a machine that is up already: what does not answer there has to be started by somebody.

    Raises:
        SystemFailure: ``not_supported``: no server answers.
    """
    settings = ExternalSettings.of(spec.settings)
    try:
        banner(settings.address, settings.speaks[0], secure=settings.tls == "implicit")
    except SystemFailure as failure:
        raise SystemFailure("not_supported", failure.message, failure.hint) from failure


def banner(address: str, protocol: str, *, secure: bool) -> str | None:
    """The first line a server says of itself; ``None`` where it says nothing in clear text.

    Raises:
        SystemFailure: no server answers there.
    """
    host, _, port = address.rpartition(":")
    try:
        connection = socket.create_connection((host.strip("[]"), int(port)), timeout=REACH_S)
    except OSError as error:
        raise SystemFailure(
            "unreachable",
            f"no one answers at {address}: {(error.strerror or str(error)).lower()}",
            "start it, or fix `address` of the service",
        ) from error
    with connection:
        if secure or protocol not in (*GREETING, "http"):
            return None
        try:
            return _said(connection, protocol)
        except OSError:
            return None


def _said(connection: socket.socket, protocol: str) -> str | None:
    if protocol == "http":
        connection.sendall(_ASKED)
    text = connection.recv(_MOST_BYTES).decode(errors="replace")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if protocol == "http":
        lines = [line for line in lines if line.lower().startswith("server:")]
    return lines[0] if lines else None
