"""Exim on a machine that has another mail server: Debian's packages exclude each other.

Its files are unpacked into a folder (``.ci/install``) and laid over ``/usr`` in a mount
namespace of the agent's own, with a user of its name; the machine outside sees nothing of it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from steelyard.engine.agent import Agent
from steelyard.engine.locate import find_engine
from steelyard.engine.patience import Patience
from tests.platforms.loops import RELEASE

UNPACKED = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "steelyard" / "exim"
ACCOUNTS = {
    "passwd": "Debian-exim:x:64999:64999::/nonexistent:/usr/sbin/nologin\n",
    "group": "Debian-exim:x:64999:\n",
}
_ENTER = (
    f"{RELEASE}\n"
    """\
set -eu
unpacked=$1 own=$2 engine=$3
mount -t overlay overlay -o "lowerdir=$unpacked/usr:/usr" /usr
mount --bind "$own/passwd" /etc/passwd
mount --bind "$own/group" /etc/group
exec "$engine" agent
"""
)


def exim_agent(own: Path) -> Agent:
    """An agent that sees Exim installed; ``own`` keeps what that needs."""
    if shutil.which("exim4", path="/usr/sbin") is not None:
        return Agent([str(find_engine()), "agent"], Patience())
    if os.geteuid() != 0:
        pytest.skip("exim starts as root only")
    if not (UNPACKED / "usr" / "sbin" / "exim4").exists():
        pytest.skip(f"exim4 is neither installed nor unpacked in {UNPACKED} (.ci/install)")
    for name, line in ACCOUNTS.items():
        known = Path("/etc", name).read_text(encoding="utf-8")
        (own / name).write_text(known + line, encoding="utf-8")
    enter = ["unshare", "--mount", "sh", "-c", _ENTER, "sh"]
    return Agent([*enter, str(UNPACKED), str(own), str(find_engine())], Patience())
