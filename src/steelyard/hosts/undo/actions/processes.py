"""Processes that were started."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.hosts.host import Host

AGENT = "agent"


@dataclass(frozen=True)
class EndProcess:
    """A process that was started is ended, if it is still the same one.

    ``start_ticks`` is its start in clock ticks since boot: with the pid it names one process.
    """

    pid: int
    start_ticks: int
    what: str = AGENT
    kind: str = "end_process"

    def __str__(self) -> str:
        return f"end the {self.what} with process id {self.pid}"

    def apply(self, host: Host) -> None:
        host.kill_stale(self.pid, self.start_ticks)
