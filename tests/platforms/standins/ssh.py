"""ssh and scp to a pretended guest: they reach it while it runs, by the right name of its key."""

from __future__ import annotations

import shlex
import shutil

from tests.platforms.standins.world import Refused, World, options

ADDRESS = "192.168.56.7"
_TAKES = {"-o": True, "-q": False, "-p": False}


def ssh(world: World, words: list[str]) -> list[str]:
    """The words behind the destination are one text, which a shell over there takes apart."""
    at = next(i for i, word in enumerate(words) if "@" in word)
    _reach(world, words[: at + 1])
    return shlex.split(" ".join(words[at + 1 :]))


def scp(world: World, words: list[str]) -> str:
    rest = _reach(world, words)
    source, target = rest
    shutil.copy(source, target.partition(":")[2])
    return ""


def _reach(world: World, words: list[str]) -> list[str]:
    rest, given = options(words, _TAKES, "unknown option -- {}", 255)
    chosen = dict(text.split("=", 1) for text in given["-o"])
    if chosen.get("HostKeyAlias") != "steelyard-guest":
        raise Refused("Host key verification failed.", 255)
    address = rest[-1].partition("@")[2].partition(":")[0]
    running = [thing for thing in world.things.values() if thing["state"] == "running"]
    if address != ADDRESS or not running:
        raise Refused(f"ssh: connect to host {address} port 22: No route to host", 255)
    return rest
