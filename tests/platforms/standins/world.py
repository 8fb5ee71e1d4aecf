"""The pretended machine behind a stand-in: things with states, snapshots and disks, in a file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def fresh_id() -> str:
    """Something like a UUID; the module of that name takes long to import."""
    digits = os.urandom(16).hex()
    return "-".join([digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]])


class Refused(Exception):  # noqa: N818 - an answer of a pretended tool
    """What the tool says on stderr, and its exit code."""

    def __init__(self, said: str, code: int = 1) -> None:
        super().__init__(said)
        self.said = said
        self.code = code


class World:
    """State in ``folder/state.json``; what an agent inside sees of it lies beside that."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / "state.json"
        empty: dict[str, Any] = {"things": {}, "volumes": {}, "failing": None, "fail_at": None}
        self.state = json.loads(self.file.read_text()) if self.file.exists() else empty

    @property
    def things(self) -> dict[str, dict[str, Any]]:
        things: dict[str, dict[str, Any]] = self.state["things"]
        return things

    def save(self) -> None:
        self.file.write_text(json.dumps(self.state))

    def log(self, words: list[str]) -> None:
        with (self.folder / "log").open("a") as log:
            log.write(json.dumps(words) + "\n")

    def logged(self) -> list[list[str]]:
        file = self.folder / "log"
        return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []

    def fail_if_told(self) -> None:
        """Fails with the words that a test has put there."""
        if self.state["failing"]:
            raise Refused(self.state["failing"])
        if self.state["fail_at"] == len(self.logged()):
            raise Refused("this call fails, as the test wants it")

    def create(self, name: str, taken: str, **facts: Any) -> dict[str, Any]:
        if name in self.things:
            raise Refused(taken)
        thing = {"name": name, "state": "off", "snapshots": {}, "disks": {}, "layer": 0, **facts}
        self.things[name] = thing
        return thing

    def need(self, name: str, missing: str, code: int = 1) -> dict[str, Any]:
        if name not in self.things:
            raise Refused(missing, code)
        return self.things[name]

    def start(self, thing: dict[str, Any], running: str) -> None:
        """Boots it, or lets it go on where its memory was kept."""
        if thing["state"] == "running":
            raise Refused(running)
        if thing["state"] == "off":
            thing["boot_id"] = fresh_id()
            thing["starts"] = thing.get("starts", 0) + 1
        thing["state"] = "running"
        self._show(thing)

    def stop(self, thing: dict[str, Any], stopped: str) -> None:
        if thing["state"] != "running":
            raise Refused(stopped)
        thing["state"] = "off"

    def keep(self, thing: dict[str, Any], tag: str, taken: str) -> None:
        """A snapshot, with the memory if it runs."""
        if tag in thing["snapshots"]:
            raise Refused(taken)
        state = "saved" if thing["state"] == "running" else "off"
        kept = {"state": state, "boot_id": thing.get("boot_id"), "uuid": fresh_id()}
        thing["snapshots"][tag] = kept

    def revert(self, thing: dict[str, Any], tag: str, missing: str) -> None:
        if tag not in thing["snapshots"]:
            raise Refused(missing)
        kept = thing["snapshots"][tag]
        thing.update(state=kept["state"], boot_id=kept["boot_id"], layer=thing["layer"] + 1)

    def switch(self, thing: dict[str, Any], tag: str, missing: str, *, resume: bool) -> None:
        """Reverts a container: it goes on where it was, or is left switched off."""
        self.revert(thing, tag, missing)
        if resume:
            self.start(thing, "")
        else:
            thing["state"] = "off"

    def remove(self, thing: dict[str, Any], running: str, code: int = 1) -> None:
        if thing["state"] == "running":
            raise Refused(running, code)
        del self.things[thing["name"]]

    def shell(self, thing: dict[str, Any], words: list[str], stopped: str) -> list[str]:
        """Words of a tool that has them read by a shell inside."""
        if thing["state"] != "running":
            raise Refused(stopped)
        return ["sh", "-c", " ".join(words)]

    def attach(self, thing: dict[str, Any], slot: str, device: str, size_bytes: int) -> None:
        if slot in thing["disks"]:
            raise Refused(f"{slot} is in use")
        thing["disks"][slot] = {"device": device, "size_bytes": size_bytes}
        self._show(thing)

    def detach(self, thing: dict[str, Any], slot: str) -> None:
        if slot not in thing["disks"]:
            raise Refused(f"{slot} is not in use")
        del thing["disks"][slot]
        self._show(thing)

    def _show(self, thing: dict[str, Any]) -> None:
        """What the agent inside reads: its boot id, its disks, when its first process began."""
        (self.folder / "boot_id").write_text(thing["boot_id"])
        (self.folder / "init_stat").write_text(f"1 (init) S {'0 ' * 18}{thing['starts']} 0\n")
        block = self.folder / "block"
        for file in block.glob("*/size"):
            file.unlink()
            file.parent.rmdir()
        for disk in [{"device": "vda", "size_bytes": 1 << 30}, *thing["disks"].values()]:
            (block / disk["device"]).mkdir(parents=True)
            (block / disk["device"] / "size").write_text(f"{disk['size_bytes'] // 512}\n")


def options(
    words: list[str], takes: dict[str, bool], unknown: str, code: int = 1
) -> tuple[list[str], dict[str, list[str]]]:
    """Positional words and options of a command line; ``takes`` says which have a value.

    An option that is not named is refused with ``unknown``, whose ``{}`` is the option.
    """
    given: dict[str, list[str]] = {}
    rest: list[str] = []
    queue = list(words)
    while queue:
        word = queue.pop(0)
        name, equals, value = word.partition("=")
        if word == "--":
            return [*rest, *queue], given
        if not word.startswith("-") or word == "-":
            rest.append(word)
        elif name not in takes:
            raise Refused(unknown.format(name), code)
        elif takes[name] and not equals:
            if not queue:
                raise Refused(f"{name} needs a value", code)
            given.setdefault(name, []).append(queue.pop(0))
        else:
            given.setdefault(name, []).append(value)
    return rest, given


def one(given: dict[str, list[str]], name: str, missing: str) -> str:
    """The value of an option that must be there."""
    if name not in given:
        raise Refused(missing)
    return given[name][-1]
