"""Several machines out of one: ssh servers, each with a ``boot_id`` and a lease of its own.

Each stands in a mount namespace, so that it tells another boot than the others and is held by
itself, and another architecture where a test says so. Processors, memory and files are those of
this machine.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.platforms.loops import RELEASE
from tests.platforms.needs import need
from tests.platforms.sshd import NAME, Sshd, need_sshd

from steelyard.hosts import lease

_ENTER = RELEASE + (
    'mount --bind "$1" /proc/sys/kernel/random/boot_id && mount -t tmpfs tmpfs "$2" && '
    'if [ -e "$3" ]; then mount --bind "$3" /proc/sys/kernel/arch || exit; fi && '
    'shift 3 && exec "$@"'
)


@dataclass
class MachineOfItsOwn(Sshd):
    """An ssh server that seems to run on a machine of its own."""

    name: str = NAME
    locks: Path = Path("/nowhere")

    def argv(self) -> list[str]:
        boot = self.folder / "boot_id"
        boot.write_text(f"{uuid.uuid4()}\n", encoding="ascii")
        enter = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _ENTER, "sh"]
        return [*enter, str(boot), str(self.locks), str(self.architecture), *super().argv()]

    @property
    def architecture(self) -> Path:
        """What it tells from its next start on, where the file is there."""
        return self.folder / "arch"


@contextmanager
def machines(
    names: Sequence[str], folder: Path, patch: pytest.MonkeyPatch
) -> Iterator[dict[str, MachineOfItsOwn]]:
    """Servers by name, with an ``ssh`` on the path that finds them; skips where none can run."""
    need("unshare", "mount", root=True)
    locks = folder / "locks"
    locks.mkdir(parents=True)
    found = {name: MachineOfItsOwn(folder / name, name=name, locks=locks) for name in names}
    with reached(found, folder, patch):
        patch.setenv(lease.VARIABLE, str(locks / "lease"))
        yield found


@contextmanager
def reached(servers: Mapping[str, Sshd], folder: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    """With the servers started, and an ``ssh`` on the path that finds each by its name."""
    need_sshd()
    with ExitStack() as stack:
        for each in servers.values():
            each.prepare()
            each.start()
            stack.callback(each.stop)
        config = "".join(
            (each.folder / "config").read_text().replace(f"Host {NAME}", f"Host {name}")
            for name, each in servers.items()
        )
        (folder / "config").write_text(config)
        wrapper = folder / "bin" / "ssh"
        wrapper.parent.mkdir()
        wrapper.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {folder}/config "$@"\n')
        wrapper.chmod(0o755)
        patch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
        yield
