"""Folders that were made."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.hosts.host import Host


@dataclass(frozen=True)
class RemoveTree:
    """A folder that was made is removed with all below it."""

    path: str
    kind: str = "remove_tree"

    def __str__(self) -> str:
        return f"remove the folder {self.path}"

    def apply(self, host: Host) -> None:
        host.remove_tree(self.path)
