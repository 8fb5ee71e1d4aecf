"""What on a machine bears the name of a run: namespaces, containers, mounts, loops, processes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.host import Host

_NAMES: dict[str, Sequence[str]] = {
    "network namespace": ("ip", "netns", "list"),
    "container": ("podman", "ps", "--all", "--format={{.Names}}"),
    "image": ("podman", "images", "--format={{.Repository}}"),
    "loop device": ("losetup", "--list", "--noheadings", "--output=NAME,BACK-FILE"),
    "mount": ("cat", "/proc/self/mounts"),
    "process": ("ps", "-eww", "-o", "pid=,args="),
    "domain": ("virsh", "list", "--all", "--name"),
}
_TIMEOUT_S = 30.0


def traces(host: Host, run: str) -> list[str]:
    """Lines of the machine's own lists that name the run; what cannot be listed has none."""
    return [
        f"{noun} {line.strip()}"
        for noun, argv in _NAMES.items()
        for line in _lines(host, argv)
        if run in line
    ]


def _lines(host: Host, argv: Sequence[str]) -> Iterator[str]:
    try:
        ran = host.run(list(argv), timeout_s=_TIMEOUT_S)
    except AgentRefusal as refusal:
        if refusal.failure.kind != "not_found":
            raise
        return
    yield from ran.stdout.splitlines()
