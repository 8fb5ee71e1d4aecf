"""Machines by name, opened when first asked for, and again after one was lost."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from steelyard.engine.locate import find_engine
from steelyard.engine.patience import Patience
from steelyard.errors import HostError
from steelyard.hosts.host import Host
from steelyard.hosts.ssh import SCHEME, open_ssh
from steelyard.hosts.transport import here, open_local_pipe

LOCAL = "local"
Reach = Callable[[str, Patience], Host]
"""Opens the machine of an address."""


class Machines:
    """Ends all agents it opened when its ``with`` ends."""

    def __init__(self) -> None:
        self._open: dict[str, Host] = {}

    def open(self, name: str) -> Host:
        """The machine called ``name``: ``local``, or ``ssh://[USER@]HOST``.

        Raises:
            EngineError: the engine is missing there, or of another version.
            HostError: it cannot be reached, or this version knows no way to such a name.
        """
        known = self._open.get(name)
        if known is not None and not known.lost:
            return known
        if known is not None:
            known.close()
        self._open[name] = open_machine(name)
        return self._open[name]

    def close(self) -> None:
        for host in self._open.values():
            host.close()
        self._open.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_machine(name: str, patience: Patience | None = None) -> Host:
    """A new agent on the machine called ``name``, and the way there.

    Raises:
        EngineError: the engine is missing there, or of another version.
        SystemFailure: a machine behind ``ssh`` cannot be reached, or the engine carried there.
        HostError: this version knows no way to a machine of such a name.
    """
    if name == LOCAL:
        return Host(name, open_local_pipe(patience), here, str(find_engine()))
    if name.startswith(SCHEME):
        return open_ssh(name, patience)
    raise HostError(
        f"this version knows no way to the machine {name}",
        hint="use the version that made the run; see its run.json",
        slug="machine-is-unknown",
    )
