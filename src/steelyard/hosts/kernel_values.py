"""Values of the kernel below ``/proc/sys`` and ``/sys``, as they are written and as they show."""

from __future__ import annotations

import re

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Failure
from steelyard.hosts.host import Host
from steelyard.hosts.looks import looking

_CHOSEN = re.compile(r"\[([^\]]+)\]")
_READ_TIMEOUT_S = 60.0
_READ_ALL = looking(r"""
find /proc/sys/vm /proc/sys/kernel /proc/sys/fs /proc/sys/net /sys/block/*/queue/ \
  /sys/kernel/mm/transparent_hugepage /sys/kernel/mm/ksm /sys/devices/system/cpu \
  -type f -perm -u=w -perm -u=r ! -path '*/neigh/*' ! -path '*/conf/*' \
  ! -path '*/kernel/random/*' ! -path '*/binfmt_misc/*' ! -path '*/hotplug/*' \
  ! -name stat_refresh -print0 2>/dev/null | LC_ALL=C sort -z | xargs -0 -r grep -sH ''
true
""")
"""Of interfaces there are hundreds, which no profile touches; reading some does something."""

MOVES_BY_ITSELF = {
    "/proc/sys/kernel/ns_last_pid": "the last process id that was given",
    "/proc/sys/kernel/perf_event_max_sample_rate": "the kernel lowers it when interrupts are long",
    "/proc/sys/net/ipv4/tcp_fastopen_key": "the kernel makes it when a program first needs it",
    "/proc/sys/fs/aio-max-nr": "grows with contexts of asynchronous input and output",
}
"""Values that change though no one writes them, and why."""


def shown(content: str) -> str:
    """What a file of the kernel says, without its spacing; of choices the one in brackets.

    Such as ``none`` of ``[none] mq-deadline``, and ``4096 131072 6291456`` of three columns.
    """
    chosen = _CHOSEN.search(content)
    return chosen[1] if chosen else " ".join(content.split())


def same(one: str, other: str) -> bool:
    """Whether two contents say the same value."""
    return shown(one) == shown(other)


def read_values(host: Host) -> dict[str, str]:
    """All that can be written of processors, disks, memory and the kernel, by path.

    Raises:
        AgentRefusal: there is more of it than an agent sends.
    """
    ran = host.run(["sh", "-c", _READ_ALL], timeout_s=_READ_TIMEOUT_S)
    if not ran.succeeded or ran.stdout_truncated:
        message = f"cannot read the values of the kernel: the listing {ran.how_it_ended()}"
        raise AgentRefusal("run", Failure(kind="system", message=message))
    return parse_values(ran.stdout)


def parse_values(listed: str) -> dict[str, str]:
    """From lines ``PATH:VALUE``; a value of several lines has several."""
    values: dict[str, list[str]] = {}
    for line in listed.splitlines():
        path, colon, value = line.partition(":")
        if colon and path.startswith("/"):
            values.setdefault(path, []).append(value)
    return {path: shown("\n".join(lines)) for path, lines in values.items()}


def changed_values(
    before: dict[str, str], after: dict[str, str]
) -> dict[str, tuple[str | None, str | None]]:
    """What is otherwise now, by path: before and after; ``None`` where there was or is none."""
    paths = sorted((before.keys() | after.keys()) - MOVES_BY_ITSELF.keys())
    pairs = {path: (before.get(path), after.get(path)) for path in paths}
    return {path: pair for path, pair in pairs.items() if pair[0] != pair[1]}
