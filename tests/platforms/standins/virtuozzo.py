"""prlctl of Virtuozzo Hybrid Server 7, as its command line reference says."""

from __future__ import annotations

from typing import Any

from tests.platforms.standins.world import Refused, World, fresh_id, options

_CREATE = dict.fromkeys(("--vmtype", "--ostemplate", "--uuid"), True)
_SET = dict.fromkeys(("--cpus", "--memsize", "--ipadd"), True)
_UNKNOWN = "unrecognized option '{}'"


def tool(world: World, _name: str, words: list[str]) -> str | list[str]:
    if words == ["--version"]:
        return "prlctl version 7.5.412\n"
    verb, *rest = words
    if verb == "list":
        return _list(world, rest)
    label, *rest = rest
    if verb == "create":
        return _create(world, label, rest)
    thing = _container(world, label)
    if verb == "exec":
        return world.shell(thing, rest, "Unable to execute: the container is not running")
    if verb not in _VERBS:
        raise Refused(f"Unknown action: {verb}")
    return _VERBS[verb](world, thing, rest)


def _container(world: World, label: str) -> dict[str, Any]:
    said = "Failed to get VM config: The virtual machine could not be found."
    return world.need(label, f"{said} The virtual environment {label} is not registered")


def _create(world: World, label: str, words: list[str]) -> str:
    _, given = options(words, _CREATE, _UNKNOWN)
    if given["--vmtype"] != ["ct"] or given["--ostemplate"] != ["debian-12-x86_64"]:
        raise Refused(f"The OS template {given['--ostemplate'][0]} is not installed")
    taken = f"Failed to create the container: {label} already exists"
    world.create(label, taken, uuid=given["--uuid"][0], ip=None, current=None)
    return "The Container has been successfully created.\n"


def _set(world: World, thing: dict[str, Any], words: list[str]) -> str:
    _, given = options(words, _SET, _UNKNOWN)
    assert given["--memsize"][0].endswith("M")
    thing["ip"] = given["--ipadd"][0]
    return "The Container has been successfully configured.\n"


def _start(world: World, thing: dict[str, Any], words: list[str]) -> str:
    assert not words
    world.start(thing, "Failed to start the CT: the container is already running")
    return "The CT has been successfully started.\n"


def _stop(world: World, thing: dict[str, Any], words: list[str]) -> str:
    assert words == ["--kill"]
    world.stop(thing, "Failed to stop the CT: the container is already stopped")
    return ""


def _snapshot(world: World, thing: dict[str, Any], words: list[str]) -> str:
    options(words, {"--name": True}, _UNKNOWN)
    thing["current"] = f"{{{fresh_id()}}}"
    world.keep(thing, thing["current"], "")
    return f"The snapshot with ID {thing['current']} has been successfully created.\n"


def _switch(world: World, thing: dict[str, Any], words: list[str]) -> str:
    _, given = options(words, {"--id": True, "--skip-resume": False}, _UNKNOWN)
    resume = "--skip-resume" not in given
    world.switch(thing, given["--id"][0], "The snapshot was not found", resume=resume)
    return "The snapshot has been successfully switched.\n"


def _snapshots(world: World, thing: dict[str, Any], words: list[str]) -> str:
    assert words == ["--no-header"]
    return "".join(f"                                        *{u}\n" for u in thing["snapshots"])


def _status(world: World, thing: dict[str, Any], words: list[str]) -> str:
    state = "running" if thing["state"] == "running" else "stopped"
    return f"CT {thing['name']} exist {state}\n"


def _delete(world: World, thing: dict[str, Any], words: list[str]) -> str:
    world.remove(thing, "Failed to remove the CT: it is running")
    return "The Container has been successfully removed.\n"


_VERBS = {
    "set": _set,
    "start": _start,
    "stop": _stop,
    "snapshot": _snapshot,
    "snapshot-switch": _switch,
    "snapshot-list": _snapshots,
    "status": _status,
    "delete": _delete,
}


def _list(world: World, words: list[str]) -> str:
    takes = {"--all": False, "--no-header": False, "--output": True}
    (label,), given = options(words, takes, _UNKNOWN)
    thing = _container(world, label)
    if thing["state"] != "running" and "--all" not in given:
        return ""
    return {"uuid": f"{{{thing['uuid']}}}", "ip": thing["ip"]}[given["--output"][0]] + "\n"


def foreign(world: World, label: str, number: int, folder: str) -> None:
    """Somebody else's container of this name."""
    world.create(label, "", uuid="11111111-2222-3333-4444-555555555555", ip="192.168.1.9")


SETTINGS = {
    "image": "debian-12-x86_64",
    "cpus": 2,
    "memory": 1 << 30,
    "guest_address": "192.168.1.40",
}
TOOLS = ["prlctl"]
ERRORS = {
    "Permission denied. You do not have enough rights.": "no_rights",
    "Unable to connect to Parallels Service: dispatcher does not run": "unreachable",
    "The OS template x is not installed": "image_missing",
    "Failed to create the container: a already exists": "name_taken",
    "There is not enough disk space": "no_space",
    "The license does not allow more containers": "not_supported",
}
