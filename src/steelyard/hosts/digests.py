"""Which program it is: digests of the files that a command names."""

from __future__ import annotations

from collections.abc import Sequence
from posixpath import basename

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.host import Host
from steelyard.hosts.looks import looking

_TIMEOUT_S = 60.0
_DIGESTS = looking("""program=$(command -v -- "$1") && sha256sum -- "$program"
shift
for word; do [ -f "$word" ] && sha256sum -- "$word"; done
true""")


def digests_of(host: Host, words: Sequence[str], directory: str | None = None) -> str | None:
    """``python3 HEX, server.py HEX``: of the program and of each file among its words.

    Names stand without their folders, which differ between checkouts. ``None`` where the machine
    has neither shell nor ``sha256sum``, as a container of an empty image, or names no file.
    """
    try:
        argv = ["sh", "-c", _DIGESTS, "sh", *words]
        ran = host.run(argv, timeout_s=_TIMEOUT_S, directory=directory)
    except AgentRefusal:
        return None
    rows = (line.lstrip("\\").partition("  ") for line in ran.stdout.splitlines())
    return ", ".join(f"{basename(path)} {digest}" for digest, _, path in rows) or None
