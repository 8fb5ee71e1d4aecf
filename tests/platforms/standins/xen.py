"""xl and qemu-img, as their manual pages say."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tests.platforms.standins import ssh
from tests.platforms.standins.world import Refused, World, options

_KEYS = {"name", "uuid", "type", "bootloader", "vcpus", "memory", "disk", "vif", "on_poweroff"}
_KEYS |= {"on_reboot", "on_crash"}
_DISK_KEYS = {"format", "vdev", "access", "target"}
_INFO = {"xen_version": "4.17.3", "xen_commandline": "dom0_mem=4G", "xen_scheduler": "credit2"}


def tool(world: World, name: str, words: list[str]) -> str | list[str]:
    if name in {"ssh", "scp"}:
        return ssh.ssh(world, words) if name == "ssh" else ssh.scp(world, words)
    if name == "qemu-img":
        return _overlay(words)
    match words:
        case ["create", "-q", config]:
            return _create(world, Path(config).read_text())
        case ["restore", file]:
            return _restore(world, file)
        case ["info", key]:
            return f"{_INFO[key]}\n"
        case [verb, *_] if verb in {"list", "destroy", "save", "domid", "block-attach"} or (
            verb == "block-detach"
        ):
            return _of_a_domain(world, words)
    raise Refused(f"command not implemented: {' '.join(words)}")


def _overlay(words: list[str]) -> str:
    takes = {"-q": False, "-f": True, "-F": True, "-b": True}
    (_create, target), given = options(words, takes, "qemu-img: unrecognized option '{}'")
    if not Path(given["-b"][0]).exists():
        raise Refused(f"qemu-img: {target}: Could not open '{given['-b'][0]}': No such file")
    Path(target).touch()
    return ""


def _create(world: World, config: str) -> str:
    keys = dict(re.findall(r'(?:^|; )(\w+) = ("[^"]*"|\[[^]]*\]|\d+)', config, re.MULTILINE))
    if set(keys) - _KEYS:
        raise Refused(f"config parsing error: unknown keys {set(keys) - _KEYS}")
    _disk(keys["disk"].strip('[" ]'))
    if keys["type"] not in {'"pvh"', '"pv"', '"hvm"'} or not int(keys["memory"]):
        raise Refused(f"Invalid domain type {keys['type']}")
    name = keys["name"].strip('"')
    thing = world.create(name, f"Domain with name '{name}' already exists.")
    thing |= {"uuid": keys["uuid"].strip('"'), "domid": 0}
    return _run(world, name)


def _run(world: World, name: str) -> str:
    thing = world.things[name]
    world.start(thing, "it runs")
    thing["domid"] = world.state["domid"] = world.state.get("domid", 0) + 1
    return ""


def _disk(text: str) -> dict[str, str]:
    spec = dict(part.strip().split("=", 1) for part in text.split(","))
    if set(spec) - _DISK_KEYS:
        raise Refused(f"disk config: unknown value {text}")
    if not Path(spec["target"]).exists():
        raise Refused(f"libxl: error: failed to stat {spec['target']}: No such file or directory")
    return spec


def _restore(world: World, file: str) -> str:
    name, boot_id, uuid = Path(file).read_text().split()
    world.create(name, f"Domain with name '{name}' already exists.")
    world.things[name] |= {"state": "saved", "boot_id": boot_id, "uuid": uuid, "starts": 1}
    return _run(world, name)


def _of_a_domain(world: World, words: list[str]) -> str:
    rest, _ = options(words, {"--long": False}, "unrecognized option '{}'")
    verb, name, *arguments = rest
    thing = world.need(name, f"{name} is an invalid domain identifier (rc=-6)")
    match verb, arguments:
        case "list", []:
            told = {"domid": thing["domid"], "config": {"c_info": {"uuid": thing["uuid"]}}}
            return json.dumps([told]) + "\n"
        case "domid", []:
            return f"{thing['domid']}\n"
        case "save", [file]:
            Path(file).write_text(f"{name} {thing['boot_id']} {thing['uuid']}")
            del world.things[name]
        case "destroy", []:
            del world.things[name]
        case "block-attach", [text]:
            spec = _disk(text)
            size_bytes = Path(spec["target"]).stat().st_size
            world.attach(thing, spec["vdev"], spec["vdev"], size_bytes)
        case "block-detach", [device]:
            world.detach(thing, device)
        case _:
            raise Refused(f"'xl {verb}' requires other arguments.")
    return ""


def foreign(world: World, label: str, number: int, folder: str) -> None:
    """Somebody else's domain of this name."""
    other = "11111111-2222-3333-4444-555555555555"
    world.create(label, "").update(uuid=other, domid=7, state="running")


SETTINGS = {
    "image": "FOLDER/image",
    "kind": "pvh",
    "cpus": 2,
    "memory": 1 << 30,
    "network": "xenbr0",
    "guest_address": ssh.ADDRESS,
    "user": "root",
    "host_key": "steelyard-guest",
}
TOOLS = ["xl", "qemu-img", "ssh", "scp"]
ERRORS = {
    "xencall: error: Could not obtain handle on privileged command interface: Permission denied": (
        "no_rights"
    ),
    "Domain with name 'a' already exists.": "name_taken",
    "qemu-img: /o: Could not open '/b': No such file or directory": "image_missing",
    "cp: error writing '/a': No space left on device": "no_space",
    "libxl: error: libxl_mem.c: failed to free memory for the domain": "not_supported",
    "qemu-img: /o: Image is not in qcow2 format": "image_unusable",
    "libxl: error: hotplug scripts not working.": "not_supported",
    "Host key verification failed.": "host_key",
}
