"""A machine behind the user's own ``ssh``: their config, jump hosts, agents and known hosts work.

No option given here turns the checking of host keys off. The pipe of the agent is the connection
that further commands share (``ControlMaster``), through a socket in a folder that no one else can
enter.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from steelyard.engine.agent import OTHER_VERSION, Agent
from steelyard.engine.patience import Patience
from steelyard.errors import EngineError
from steelyard.hosts.engine_transfer import carry_engine
from steelyard.hosts.failures import FailureKind, SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.transport import Way

SCHEME = "ssh://"
SSH_FAILED = 255
"""Exit code of ``ssh`` itself; every other one is that of the command over there."""
OPTIONS = (
    "-T",
    "-oBatchMode=yes",
    "-oConnectTimeout=10",
    "-oServerAliveInterval=5",
    "-oServerAliveCountMax=3",
    "-oControlPersist=no",
)
NOT_YET = frozenset({"unreachable", "timed_out", "tool_failed", "no_rights"})
"""What a machine that is starting may answer; ``no_rights`` while only root may log in."""
_ADD_KEY = "connect by hand once and compare the fingerprint, or add the key to known_hosts"
_WORDS: tuple[tuple[str, FailureKind, str, str], ...] = (
    (
        "remote host identification has changed",
        "host_key",
        "its host key is not the one that known_hosts has",
        "find out why before you go on: somebody may be in between. " + _ADD_KEY,
    ),
    ("host key verification failed", "host_key", "its host key is not known here", _ADD_KEY),
    (
        "permission denied",
        "no_rights",
        "it lets no one in with the keys that are offered",
        "try `ssh` by hand; no password is ever asked for",
    ),
    ("could not resolve", "unreachable", "its name has no address", "see `ssh -G`"),
    ("bad configuration option", "tool_failed", "ssh cannot read its config", "fix ~/.ssh/config"),
)


def open_ssh(address: str, patience: Patience | None = None) -> Host:
    """An agent on the machine at ``ssh://[USER@]HOST[:PORT]``, the engine carried there.

    Raises:
        SystemFailure: ``host_key``, ``no_rights``, ``unreachable``, ``engine_unfit`` ...: typed by
            what ``ssh`` says, and by what the agent does.
        EngineError: the engine here is missing.
    """
    socket = _private_folder() / secrets.token_hex(8)
    return open_through(
        address, lambda options: ssh_way(address, options), str(socket), patience or Patience()
    )


def open_through(
    name: str,
    ssh: Callable[[Sequence[str]], Way],
    socket: str,
    patience: Patience,
) -> Host:
    """As :func:`open_ssh`, for a machine that ``ssh`` with further options is the way to.

    ``socket`` is where further commands find the connection of the agent.
    """
    shared = ssh(("-oControlMaster=no", f"-oControlPath={socket}"))
    alone = ssh(("-oControlMaster=no", "-oControlPath=none"))
    master = ssh(("-oControlMaster=yes", f"-oControlPath={socket}"))

    def explain(exit_code: int, said: str) -> SystemFailure:
        return failure(name, exit_code, said)

    engine = carry_engine(alone, name, explain)
    try:
        agent = Agent(master([engine, "agent"]), patience)
    except EngineError as error:
        if error.slug == OTHER_VERSION:
            raise SystemFailure("engine_unfit", f"{name}: {error.message}", error.hint) from error
        if error.slug != "agent-is-lost":
            raise
        raise failure(name, SSH_FAILED, error.message) from error
    return Host(name, agent, shared, engine)


def ssh_way(address: str, options: Sequence[str]) -> Way:
    """The way through ``ssh`` to the machine at an address."""

    def way(argv: Sequence[str]) -> list[str]:
        return ["ssh", *OPTIONS, *options, "--", address, shlex.join(argv)]

    return way


def failure(address: str, exit_code: int, said: str) -> SystemFailure:
    """What it means that ``ssh`` ended so, by its exit code and its words."""
    last = next((line for line in reversed(said.strip().splitlines()) if line.strip()), "nothing")
    if exit_code != SSH_FAILED:
        message = f"{address}: a command there ended with code {exit_code}: {last}"
        return SystemFailure("tool_failed", message, last_words=said[-600:])
    lower = said.lower()
    for words, kind, meaning, hint in _WORDS:
        if words in lower:
            message = f"{address}: {meaning} ({last})"
            return SystemFailure(kind, message, hint, last_words=said[-600:])
    message = f"{address} cannot be reached: {last}"
    return SystemFailure("unreachable", message, "try `ssh` by hand", last_words=said[-600:])


def _private_folder() -> Path:
    """Where control sockets lie: short, since a socket's path is, and no one else's.

    Raises:
        SystemFailure: somebody else has made it, or others can enter.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    base = Path(runtime) if runtime and len(runtime) < 50 else Path("/tmp")  # noqa: S108
    folder = base / f"steelyard-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    seen = folder.lstat()
    mine = stat.S_ISDIR(seen.st_mode) and seen.st_uid == os.getuid()
    if not mine or seen.st_mode & 0o077:
        message = f"{folder} is not a folder that you alone can enter"
        raise SystemFailure("no_rights", message, "remove it; somebody else may have made it")
    return folder
