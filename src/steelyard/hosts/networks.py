"""Network namespaces that a run makes, and the values of the kernel that each has for itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Failure
from steelyard.errors import EngineError
from steelyard.hosts.host import Host

NETWORK_VALUES = "/proc/sys/net/"
"""What lies below is that of the namespace in which it is read and written."""


def network_of(host: Host, path: str) -> str | None:
    """The namespace of the run's to which a value belongs; ``None`` for one of the machine."""
    return host.network if path.startswith(NETWORK_VALUES) else None


@contextmanager
def within(host: Host, network: str) -> Iterator[Host]:
    """The same machine by an agent that stands in the namespace with this path.

    Raises:
        AgentRefusal: no agent can be opened there.
    """
    words = host.way(["nsenter", f"--net={network}", host.engine, "agent"])
    try:
        agent = host.open_agent(words)
    except EngineError as error:
        message = f"no agent can be opened in the network namespace {network}: {error.message}"
        raise AgentRefusal("enter", Failure(kind="system", message=message)) from error
    inside = Host(host.name, agent, host.way, host.engine, network)
    try:
        yield inside
    finally:
        inside.close()
