"""vzctl and vzlist, as their manual pages of version 4.9 say."""

from __future__ import annotations

from typing import Any

from tests.platforms.standins.world import Refused, World, options

_CREATE = dict.fromkeys(("--ostemplate", "--layout", "--private", "--hostname", "--ipadd"), True)
_SET = {"--cpus": True, "--ram": True, "--swap": True, "--save": False}
_UNKNOWN = "vzctl: unrecognized option '{}'"


def tool(world: World, name: str, words: list[str]) -> str | list[str]:
    if name == "vzlist":
        return _list(world, words)
    if words == ["--version"]:
        return "vzctl version 4.9.4\n"
    verb, number, *rest = words
    if int(number) <= 100:
        raise Refused(f"Invalid CT ID {number}")
    if verb == "create":
        return _create(world, number, rest)
    thing = world.need(number, f"Container config file does not exist: {number}")
    if verb == "exec2":
        return world.shell(thing, rest, "Container is not running")
    if verb not in _VERBS:
        raise Refused(f"Invalid command: {verb}")
    return _VERBS[verb](world, thing, rest)


def _create(world: World, number: str, words: list[str]) -> str:
    rest, given = options(words, _CREATE, _UNKNOWN)
    assert not rest
    if given["--ostemplate"] != ["debian-8.0-x86_64"]:
        raise Refused(f"Cached OS template /vz/template/cache/{given['--ostemplate'][0]} not found")
    world.create(number, "Container private area already exists", private=given["--private"][0])
    world.things[number] |= {"ip": given["--ipadd"][0], "ploop": given["--layout"] == ["ploop"]}
    return "Container private area was created\n"


def _set(world: World, thing: dict[str, Any], words: list[str]) -> str:
    _, given = options(words, _SET, _UNKNOWN)
    int(given["--cpus"][0]), int(given["--ram"][0])
    if "--save" not in given:
        raise Refused("the values would be lost at the next start")
    return ""


def _start(world: World, thing: dict[str, Any], words: list[str]) -> str:
    options(words, {"--wait": False}, _UNKNOWN)
    world.start(thing, "Container is already running")
    return "Container start in progress...\n"


def _stop(world: World, thing: dict[str, Any], words: list[str]) -> str:
    options(words, {"--fast": False}, _UNKNOWN)
    world.stop(thing, "Unable to stop: container is not running")
    return ""


def _snapshot(world: World, thing: dict[str, Any], words: list[str]) -> str:
    _, given = options(words, {"--id": True, "--name": True}, _UNKNOWN)
    if not thing["ploop"]:
        raise Refused("Snapshot feature is only available for ploop-based CTs")
    world.keep(thing, given["--id"][0], "Snapshot exists")
    thing["current"] = given["--id"][0]
    return ""


def _switch(world: World, thing: dict[str, Any], words: list[str]) -> str:
    takes = {"--id": True, "--skip-resume": False, "--must-resume": False}
    _, given = options(words, takes, _UNKNOWN)
    if thing["state"] == "running":
        raise Refused("the container runs; it would be stopped hard")
    tag = given["--id"][0]
    world.switch(thing, tag, f"Snapshot {tag} not found", resume="--skip-resume" not in given)
    return ""


def _snapshots(world: World, thing: dict[str, Any], words: list[str]) -> str:
    assert words == ["-H", "-o", "current,uuid"]
    return "".join(f"{'*' if u == thing['current'] else ' '} {{{u}}}\n" for u in thing["snapshots"])


def _status(world: World, thing: dict[str, Any], words: list[str]) -> str:
    state = "mounted running" if thing["state"] == "running" else "unmounted down"
    return f"CTID {thing['name']} exist {state}\n"


def _destroy(world: World, thing: dict[str, Any], words: list[str]) -> str:
    world.remove(thing, "Container is currently running. Stop it first")
    return "Container private area was destroyed\n"


_VERBS = {
    "set": _set,
    "start": _start,
    "stop": _stop,
    "snapshot": _snapshot,
    "snapshot-switch": _switch,
    "snapshot-list": _snapshots,
    "status": _status,
    "destroy": _destroy,
}


def _list(world: World, words: list[str]) -> str:
    takes = {"--all": False, "--no-header": False, "--output": True}
    (number,), given = options(words, takes, "vzlist: unrecognized option '{}'")
    thing = world.things.get(number)
    if thing is None or (thing["state"] != "running" and "--all" not in given):
        raise Refused("Container(s) not found")
    fields = {"private": thing["private"], "ip": thing["ip"], "ostemplate": "debian-8.0-x86_64"}
    return f"{fields[given['--output'][0]]}\n"


def foreign(world: World, label: str, number: int, folder: str) -> None:
    """Somebody else's container of this number."""
    world.create(str(number), "", private="/vz/private/101", ip="192.168.1.9", ploop=True)


SETTINGS = {
    "image": "debian-8.0-x86_64",
    "cpus": 2,
    "memory": 1 << 30,
    "guest_address": "192.168.1.40",
    "store": "/vz/private",
}
TOOLS = ["vzctl", "vzlist"]
ERRORS = {
    "Unable to open /dev/vzctl: No such file or directory": "no_rights",
    "Cached OS template /vz/template/cache/x.tar.gz not found": "image_missing",
    "Container private area already exists in /vz/private/1": "name_taken",
    "tar: write error: No space left on device": "no_space",
    "Can not suspend container: Invalid argument. Checkpointing failed": "not_supported",
}
