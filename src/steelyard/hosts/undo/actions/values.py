"""All values of the kernel at once, for what writes many of them without telling which."""

from __future__ import annotations

import json
from dataclasses import dataclass

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.host import Host
from steelyard.hosts.kernel_values import changed_values, read_values, shown
from steelyard.hosts.networks import NETWORK_VALUES, within
from steelyard.hosts.undo.actions.files import sha256_of
from steelyard.hosts.undo.actions.inverse import refused

_PASSES = 4


@dataclass(frozen=True)
class RestoreValues:
    """Every value of the kernel is as a file on the machine says that it was.

    Stands in the ledger only while it is not known which values are being changed. Some values
    change others when they are written, so it goes over them until nothing differs any more.
    ``network`` is the path of the network namespace of the run's own in which they were read: what
    each namespace has for itself is written there, or has gone with it.
    """

    path: str
    sha256: str
    boot_id: str | None = None
    network: str | None = None
    kind: str = "restore_values"

    def __str__(self) -> str:
        return f"write all values of the kernel as {self.path} has them"

    def apply(self, host: Host) -> None:
        if self.boot_id is not None and host.boot_id not in (None, self.boot_id):
            return
        before = self._kept(host)
        if self.network is None:
            _write_all(host, before)
            return
        of_network = {p: v for p, v in before.items() if p.startswith(NETWORK_VALUES)}
        if host.path_facts(self.network).exists:
            with within(host, self.network) as inside:
                _write_all(inside, of_network)
        _write_all(host, {path: v for path, v in before.items() if path not in of_network})

    def _kept(self, host: Host) -> dict[str, str]:
        if not host.path_facts(self.path).exists:
            raise refused(f"{self.path}, which says what they were, has gone", "boot the machine")
        kept = host.read_file(self.path)
        if sha256_of(kept) != self.sha256:
            raise refused(f"{self.path}, which says what they were, was changed")
        values: dict[str, str] = json.loads(kept)
        return values


def _write_all(host: Host, before: dict[str, str]) -> None:
    """Raises ``AgentRefusal`` when one does not become what it was."""
    for _ in range(_PASSES):
        left = _differing(before, read_values(host))
        refusals = {path: _refusal(host, path, before[path]) for path in left}
        if not left or all(refusals.values()):
            break
    left = _differing(before, read_values(host))
    if left:
        why = refusals.get(left[0]) or "it does not stay"
        raise refused(f"{left[0]} cannot be {before[left[0]]!r} again: {why}")


def _differing(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """Paths of values that are there and otherwise."""
    pairs = changed_values(before, now).items()
    return [path for path, (old, new) in pairs if old is not None and new is not None]


def _refusal(host: Host, path: str, value: str) -> str | None:
    """Writes one; why it could not be written."""
    try:
        host.write_file(path, shown(value))
    except AgentRefusal as refusal:
        return refusal.failure.message
    return None
