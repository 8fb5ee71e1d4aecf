"""A machine that carries no agent: a service at an address, and nothing that could be asked.

Nothing is done to it and nothing is read of it. Its host is the machine that would carry it, for
what the controller needs a folder for; ``has_agent`` of an instance keeps what is known of that
machine out of the records of this one.
"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.study.model import Reset
from steelyard.systems.platform import AttachedDisk, Costs, InstanceContext, RawDisk, ResetProof

_NOT_RESET = "nothing was reset"


class External:
    """A system of which only the address of its service is known."""

    def __init__(self, context: InstanceContext) -> None:
        self.context = context

    def up(self) -> None:
        """It is up, or its service is not reached."""

    def down(self) -> None:
        """It stays as it is."""

    def reset(self, strength: Reset) -> ResetProof:
        if strength != "service":
            raise SystemFailure("not_supported", f"nothing there can be reset by `{strength}`")
        return ResetProof(strength, 0, {"reset": _NOT_RESET})

    def pipe(self, argv: Sequence[str]) -> list[str]:
        return self.host().way(argv)

    def host(self) -> Host:
        return self.context.host_machine()

    def folder(self) -> str:
        return self.context.folder

    def address(self) -> str:
        """Of no use: its service has one of its own."""
        return "127.0.0.1"

    def attach(self, disk: RawDisk) -> AttachedDisk:
        raise SystemFailure("not_supported", f"{disk.name} cannot be attached where no agent is")

    def detach(self, disk: AttachedDisk) -> None:
        raise SystemFailure("not_supported", f"{disk.disk.name} is attached nowhere")

    def costs(self) -> Costs:
        return Costs()

    def facts(self) -> dict[str, str | None]:
        return {}
