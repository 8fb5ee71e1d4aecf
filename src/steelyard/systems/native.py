"""The machine itself, without a layer between.

Reset is a fresh process, an empty folder, and a disk that has written all that the trial before
left to it: as strong as ``reset: service`` says, and no stronger. Page cache, disk layout and
everything else of the machine carry over; the random order of visits is what keeps that from
favouring a system.
"""

from __future__ import annotations

from collections.abc import Callable

from steelyard.hosts.host import Host
from steelyard.study.model import SystemSpec


class Native:
    """A system on the machine that its host names."""

    def __init__(self, spec: SystemSpec, open_host: Callable[[], Host]) -> None:
        self.spec = spec
        self._open_host = open_host

    def up(self) -> Host:
        return self._open_host()

    def reset(self, folder: str) -> None:
        host = self.up()
        host.remove_tree(folder)
        host.make_directory(folder)
        host.sync_filesystem(folder)

    def clear(self, folder: str) -> None:
        self.up().remove_tree(folder)
