"""The engine as a part of an initrd of its own, so that no image depends on an engine's build."""

from __future__ import annotations

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.tool import tell
from steelyard.systems.images.recipe import EPOCH_S

_PACK = """set -eu
engine=$1 part=$2 epoch=$3
folder=$(mktemp -d "$(dirname "$part")/engine-XXXXXX")
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/steelyard"
cp "$engine" "$folder/steelyard/steelyard-engine"
chmod 755 "$folder" "$folder/steelyard" "$folder/steelyard/steelyard-engine"
find "$folder" -exec touch -h -d "@$epoch" {} +
(cd "$folder" && printf '%s\\n' steelyard steelyard/steelyard-engine |
  cpio -o -H newc --reproducible --quiet -R 0:0) >"$part.new"
mv "$part.new" "$part"
"""


_FIRST = "/run/steelyard/serve"
"""What ``guest-start.sh`` makes the first program of a guest that has no other."""


def starts_only_us(host: Host) -> bool:
    """Whether this is a guest whose first program starts the agent and nothing else.

    Where the kernel hides that program from the agent, it is another's machine.
    """
    try:
        return _FIRST in host.read_file("/proc/1/cmdline")
    except AgentRefusal:
        return False


def engine_path(host: Host) -> str:
    """Where the engine that serves this machine lies: the binary of the agent itself.

    Raises:
        SystemFailure: ``engine_unfit``: it has been removed while it runs.
    """
    link = f"/proc/{host.agent_pid}/exe"
    path = host.run(["readlink", link], timeout_s=10).stdout.strip()
    if not path.startswith("/") or path.endswith(" (deleted)"):
        message = f"the engine {path or 'of the agent'} is not there any more"
        raise SystemFailure("engine_unfit", message, "begin again: the engine was replaced")
    return path


def pack_engine(host: Host, part: str) -> None:
    """Writes the cpio archive ``part``, to be put behind another initrd.

    Raises:
        SystemFailure: ``tool_failed``, with the words of what failed.
    """
    argv = ["sh", "-c", _PACK, "sh", engine_path(host), part, str(EPOCH_S)]
    ran = host.run(argv, timeout_s=60)
    if not ran.succeeded:
        message = f"the engine could not be packed for the guest: {ran.how_it_ended()}"
        raise SystemFailure("tool_failed", message, last_words=ran.stderr)


def add_engine(host: Host, initrd: str, target: str) -> None:
    """Writes the initrd with the engine behind it.

    Raises:
        SystemFailure: as :func:`pack_engine`, or there is no room.
    """
    part = f"{target}.engine"
    pack_engine(host, part)
    tell(host, ["sh", "-c", 'cat "$1" "$2" >"$3" && rm "$2"', "sh", initrd, part, target])
