"""Changes that a tool makes and a tool undoes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.inverse import refused

TOOL_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class Command:
    """A tool takes the change back.

    ``says`` is what that does, in words. ``unless`` is a command that succeeds when nothing is
    left to be undone, or when what is there is not ours; it is asked first, so that applying
    the inverse twice does no harm. ``fine`` matches what the tool says where it finds nothing left.
    """

    argv: tuple[str, ...]
    says: str
    unless: tuple[str, ...] = ()
    fine: str | None = None
    kind: str = "command"

    def __str__(self) -> str:
        return self.says

    def apply(self, host: Host) -> None:
        if self.unless and host.run(list(self.unless), timeout_s=TOOL_TIMEOUT_S).succeeded:
            return
        run_tool(host, list(self.argv), fine=self.fine)


def run_tool(
    host: Host, argv: list[str], *, hint: str | None = None, fine: str | None = None
) -> str:
    """What a tool wrote on stdout when it has succeeded, or failed with words that are ``fine``.

    Raises:
        AgentRefusal: it failed; the last it said is in the message.
    """
    ran = host.run(argv, timeout_s=TOOL_TIMEOUT_S)
    if ran.succeeded or (fine is not None and re.search(fine, ran.stderr)):
        return ran.stdout
    raise refused(f"`{' '.join(argv)}` {ran.how_it_ended()}", hint)
