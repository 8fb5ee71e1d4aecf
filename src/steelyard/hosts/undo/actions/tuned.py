"""The profile of a running daemon of tuned."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.command import TOOL_TIMEOUT_S, run_tool
from steelyard.hosts.undo.actions.inverse import refused

_ACTIVE = "Current active profile:"
_NONE = "No current active profile"
_NO_DAEMON = "Cannot talk to"


@dataclass(frozen=True)
class TunedProfile:
    """The profile that was active is active again; an empty one is none."""

    profile: str
    kind: str = "tuned_profile"

    def __str__(self) -> str:
        return f"make {self.profile or 'no profile'} of tuned active again"

    def apply(self, host: Host) -> None:
        active = active_profile(host)
        if active is None:
            raise refused("no daemon of tuned answers", "start it: `systemctl start tuned`")
        if active != self.profile:
            words = ["profile", self.profile] if self.profile else ["off"]
            run_tool(host, ["tuned-adm", *words])


def active_profile(host: Host) -> str | None:
    """Of the daemon: a name, or an empty one; ``None`` where no daemon answers."""
    try:
        ran = host.run(["tuned-adm", "active"], timeout_s=TOOL_TIMEOUT_S)
    except AgentRefusal as refusal:
        if refusal.failure.kind == "not_found":
            return None
        raise
    if _NO_DAEMON in ran.stdout + ran.stderr:
        return None
    for line in ran.stdout.splitlines():
        if line.startswith(_ACTIVE):
            return line.removeprefix(_ACTIVE).strip()
    return "" if _NONE in ran.stdout + ran.stderr else None
