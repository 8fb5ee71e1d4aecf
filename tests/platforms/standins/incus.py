"""incus 6, as its manual pages say."""

from __future__ import annotations

import json
import shutil
from typing import Any

from tests.platforms.standins.world import Refused, World, fresh_id, options

_INIT = {"--profile": True, "--config": True, "--vm": False}
_UNKNOWN = "Error: unknown flag: {}"


def tool(world: World, _name: str, words: list[str]) -> str | list[str]:  # noqa: C901, PLR0911 - one case for each command
    match words:
        case ["init", *rest]:
            return _init(world, rest)
        case ["start", label]:
            world.start(_instance(world, label), "Error: The instance is already running")
            world.things[label]["used"] = fresh_id()
            return ""
        case ["stop", label, "--force"]:
            world.stop(_instance(world, label), "Error: The instance is already stopped")
            return ""
        case ["snapshot", verb, label, tag]:
            return _snapshot(world, verb, label, tag)
        case ["exec", label, *rest]:
            return _exec(world, label, rest)
        case ["file", "push", "--mode", _, source, target]:
            label, _, path = target.partition("/")
            _running(world, label)
            shutil.copy(source, f"/{path}")
            return ""
        case ["config", "get", label, key]:
            return _instance(world, label)["config"].get(key, "") + "\n"
        case ["query", path]:
            return json.dumps(_query(world, path))
        case ["storage", "volume", verb, "pool", *rest]:
            return _volume(world, verb, rest)
        case ["list", pattern, "--format", "csv", "--columns", "4"]:
            label = pattern.strip("^$")
            running = _instance(world, label)["state"] == "running"
            return "10.20.30.7 (eth0)\n" if running else "\n"
        case ["delete", label, "--force"]:
            _instance(world, label)
            del world.things[label]
            return ""
    raise Refused(f'Error: unknown command "{" ".join(words)}" for "incus"')


def _instance(world: World, label: str) -> dict[str, Any]:
    return world.need(label, "Error: Failed to fetch instance: Instance not found")


def _running(world: World, label: str) -> dict[str, Any]:
    thing = _instance(world, label)
    if thing["state"] != "running":
        raise Refused("Error: Instance is not running")
    return thing


def _init(world: World, words: list[str]) -> str:
    (image, label), given = options(words, _INIT, _UNKNOWN)
    if image != "local:debian-12":
        raise Refused(f'Error: Failed getting image: Image "{image}" not found')
    config = dict(text.split("=", 1) for text in given["--config"])
    config["volatile.base_image"] = "ab" * 32
    said = f'Error: Failed creating instance record: Instance "{label}" already exists'
    world.create(label, said, config=config, used="never")
    return f"Creating {label}\n"


def _snapshot(world: World, verb: str, label: str, tag: str) -> str:
    thing = _instance(world, label)
    if verb == "create":
        world.keep(thing, tag, f'Error: Snapshot "{tag}" already exists')
    elif verb == "restore":
        if thing["state"] == "running":
            raise Refused("Error: it would be stopped")
        world.revert(thing, tag, f'Error: Instance snapshot "{tag}" not found')
    else:
        raise Refused(f'Error: unknown command "{verb}" for "incus snapshot"')
    return ""


def _exec(world: World, label: str, words: list[str]) -> list[str]:
    _running(world, label)
    before, inside = words[: words.index("--")], words[words.index("--") + 1 :]
    options(before, {"--force-noninteractive": False}, _UNKNOWN)
    return inside


def _query(world: World, path: str) -> dict[str, Any]:
    if path == "/1.0":
        return {"environment": {"server_version": "6.0.4", "storage": "zfs"}}
    _, _, _, label, *rest = path.split("/")
    thing = _instance(world, label)
    if rest == ["state"]:
        return {"pid": 4711}
    if rest:
        return {"created_at": thing["snapshots"][rest[-1]]["uuid"]}
    return {"last_used_at": thing["used"]}


def _volume(world: World, verb: str, words: list[str]) -> str:
    volumes = world.state["volumes"]
    (name, *rest), given = options(words, {"--type": True}, _UNKNOWN)
    if verb == "create":
        assert given["--type"] == ["block"]
        config = dict(text.split("=", 1) for text in rest)
        volumes[name] = int(config["size"].removesuffix("B"))
    elif verb == "attach":
        label, device = rest
        world.attach(_running(world, label), name, "sdb", volumes[name])
        assert device
    elif verb == "detach":
        world.detach(_running(world, rest[0]), name)
    elif verb == "delete":
        del volumes[name]
    return ""


def foreign(world: World, label: str, number: int, folder: str) -> None:
    """Somebody else's instance of this name."""
    world.create(label, "", config={}, used="today")


SETTINGS = {
    "image": "local:debian-12",
    "kind": "virtual-machine",
    "cpus": 2,
    "memory": 1 << 30,
    "profile": "default",
    "storage": "pool",
}
TOOLS = ["incus"]
ERRORS = {
    "Error: You don't have the needed permissions to talk to the incus daemon": "no_rights",
    "Error: dial unix /var/lib/incus/unix.socket: connect: connection refused": "unreachable",
    'Error: Failed getting image: Image "x" not found': "image_missing",
    'Error: Instance "a" already exists': "name_taken",
    "Error: write /var/lib/incus/x: no space left on device": "no_space",
    "Error: Failed instance creation: KVM support is missing": "not_supported",
}
