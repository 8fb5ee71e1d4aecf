"""Which threads of an emulator are the processors of its guest."""

from __future__ import annotations

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.host import Host
from steelyard.systems.platform import Threads

_NAME = "CPU "
"""How QEMU calls them where it is configured to name its threads, as libvirt does."""


def vcpus_by_name(host_machine: Host, pid: int) -> Threads | None:
    """The threads of process ``pid`` that are named so; ``None`` where it names none.

    A process that is gone has none either: that the guest is gone is reported where it is used.
    """
    try:
        places = host_machine.thread_places(pid).threads
    except AgentRefusal:
        return None
    ids = [place.id for place in places if place.process == pid and place.name.startswith(_NAME)]
    return Threads(pid, tuple(ids)) if ids else None
