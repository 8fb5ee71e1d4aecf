"""Which threads of an emulator are the processors of its guest."""

from __future__ import annotations

from steelyard.hosts.host import Host
from steelyard.systems.platform import Threads

_NAME = "CPU "
"""How QEMU calls them where it is told to give its threads names, as libvirt does."""


def vcpus_by_name(carrier: Host, pid: int) -> Threads | None:
    """The threads of process ``pid`` that are named so; ``None`` where it names none."""
    places = carrier.thread_places(pid).threads
    ids = [place.id for place in places if place.process == pid and place.name.startswith(_NAME)]
    return Threads(pid, tuple(ids)) if ids else None
