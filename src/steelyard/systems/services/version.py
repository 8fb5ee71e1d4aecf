"""Which version of a server runs: as its program says, and never guessed."""

from __future__ import annotations

import re

from steelyard.systems.services.prepare import Prepared

_VERSION_S = 20.0


def version_of(service: Prepared) -> str:
    """What the program says of itself; the engine's version for the engine's own servers.

    Words that the pattern of the service file does not fit are quoted, not read.
    """
    asked = service.entry.version
    if asked is None:
        own = service.entry.command[:1] == ("@engine",)
        return service.host.engine_version if own else "not asked for"
    argv = service.filled(asked.run)
    ran = service.host.run(argv, timeout_s=_VERSION_S, directory=service.folder)
    return read_version(asked.pattern, f"{ran.stdout}\n{ran.stderr}")


def read_version(pattern: str, said: str) -> str:
    """The one group of ``pattern`` where it fits first."""
    match = re.search(pattern, said, re.MULTILINE)
    if match is not None and match[1]:
        return match[1]
    first = next((line.strip() for line in said.splitlines() if line.strip()), "nothing")
    return f"not parsed: {first}"
