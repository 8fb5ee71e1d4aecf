"""A short name for a long folder, for the sake of servers whose socket paths would not fit.

The kernel takes 107 bytes as the path of a unix socket, and the folder of a trial can be longer
than that alone. The short name is a link in a folder of its own below ``/tmp``; its inverse is in
the ledger before it is made. Beside the link is a real folder for the sockets themselves: a server
that asks the kernel where it is (Dovecot's imap does) gets the long name behind the link.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.files import RemoveTree
from steelyard.hosts.undo.log import UndoLog

SOCKET_PATH_BYTES = 107
_MAKE = 'mkdir -m 755 "$1" "$1/s" && ln -s "$2" "$1/f"'
_MAKE_S = 20.0


@dataclass(frozen=True)
class Alias:
    """``path`` leads to the folder, ``sockets`` is one; ``remove`` takes both away again."""

    path: str
    sockets: str
    remove: Callable[[], None]


def shortened(host: Host, folder: str, undo: UndoLog | None) -> Alias:
    """A short path to ``folder``.

    Raises:
        SystemFailure: there is such a path already, or nothing to write the inverse to.
    """
    if undo is None:
        raise SystemFailure(
            "not_supported",
            f"{folder} is too long for the unix sockets of this service (107 bytes)",
            "keep the results in a folder with a shorter name, with --results",
        )
    root = f"/tmp/steelyard-{hashlib.sha256(folder.encode()).hexdigest()[:10]}"  # noqa: S108
    pending = undo.plan(host.name, RemoveTree(root))
    ran = host.run(["sh", "-c", _MAKE, "sh", root, folder], timeout_s=_MAKE_S)
    if ran.exit_code != 0:
        undo.done(pending)
        raise SystemFailure(
            "name_taken",
            f"cannot make {root} on {host.name}: {ran.stderr.strip() or 'no reason told'}",
            "remove it if nothing uses it",
        )
    return Alias(f"{root}/f", f"{root}/s", lambda: undo.apply(host, pending))
