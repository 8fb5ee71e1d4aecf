"""When a service is ready, and where it listens then."""

from __future__ import annotations

import json
from typing import Any

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Failure, Started
from steelyard.study.lookup import ready_timeout_s
from steelyard.systems.services.prepare import Prepared, run

FIRST = ""
"""Among the listeners: the address of a service that does not name its protocols."""


def await_ready(service: Prepared, started: Started, name: str, address: str) -> dict[str, str]:
    """Waits until the service is ready; its addresses by protocol, or by :data:`FIRST`.

    Raises:
        AgentRefusal: it is not ready in time, or has ended.
    """
    entry, values = service.entry, service.values
    most_s = ready_timeout_s(service.spec)
    if entry.ready == "announced":
        said = _announced(started)
        return {FIRST: str(said["listening"])} | (said.get("listeners") or {})
    if entry.ready == "listening":
        for port in entry.listeners.values():
            service.host.await_listening(
                port=int(values[port]),
                address=address,
                timeout_s=most_s,
                unless_ended=name,
            )
    if entry.ready == "command":
        argv = service.filled(entry.ready_command)
        run(service, argv, timeout_s=most_s, does="waits for")
    host = _host(address)
    return {protocol: f"{host}:{values[port]}" for protocol, port in entry.listeners.items()}


def _host(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _announced(started: Started) -> dict[str, Any]:
    try:
        said: dict[str, Any] = json.loads(started.ready_line or "")
        said["listening"]
    except (ValueError, KeyError, TypeError) as error:
        failure = Failure(
            kind="not_ready",
            message=f"the service did not say where it listens, but {started.ready_line!r}",
            hint='a service announces {"listening": "ADDRESS:PORT"} on its first line',
        )
        raise AgentRefusal("start", failure) from error
    return said
