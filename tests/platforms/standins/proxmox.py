"""qm and pvesm of Proxmox VE 8, as their manual pages say."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.platforms.standins import ssh
from tests.platforms.standins.world import Refused, World, options

_TAKES = {
    "clone": ("--name", "--description", "--full", "--storage"),
    "set": ("--cores", "--memory", "--agent", "--delete"),
    "snapshot": ("--vmstate",),
    "rollback": ("--start",),
    "destroy": ("--purge", "--destroy-unreferenced-disks"),
}


def tool(world: World, name: str, words: list[str]) -> str | list[str]:  # noqa: PLR0911 - one case for each command
    if name in {"ssh", "scp"}:
        return ssh.ssh(world, words) if name == "ssh" else ssh.scp(world, words)
    if name == "cat":
        return "4711\n"
    if name == "pveversion":
        return "pve-manager/8.2.4/faa83925c9641325 (running kernel: 6.8.12-1-pve)\n"
    if name == "pvesm":
        return _pvesm(world, words)
    verb, *rest = words
    if verb == "guest":
        return _guest(world, rest)
    disks = {f"--scsi{n}" for n in range(31)}
    takes = dict.fromkeys((*_TAKES.get(verb, ()), *(disks if verb == "set" else ())), True)
    positional, given = options(rest, takes, "Unknown option: {}\n400 unable to parse option", 255)
    if verb == "clone":
        return _clone(world, positional, given)
    if verb not in _VERBS:
        raise Refused(f"ERROR: unknown command 'qm {verb}'", 255)
    number, *arguments = positional
    said = f"Configuration file 'nodes/pve/qemu-server/{number}.conf' does not exist"
    return _VERBS[verb](world, world.need(number, said, 2), arguments, given)


Given = dict[str, list[str]]


def _clone(world: World, positional: list[str], given: Given) -> str:
    source, number = positional
    if source != "9000":
        raise Refused(f"unable to find configuration file for VM {source} on node 'pve'", 2)
    taken = f"unable to create VM {number}: config file already exists"
    world.create(number, taken, description=given["--description"][0], parent=None)
    return "create full clone of drive scsi0\ntransferred 100.00%\n"


def _set(world: World, thing: dict[str, Any], _: list[str], given: Given) -> str:
    for option, (value, *_more) in given.items():
        if option == "--delete":
            world.detach(thing, value)
        elif option.startswith("--scsi"):
            volume = value.partition(",")[0].partition(":")[2]
            if volume not in world.state["volumes"]:
                raise Refused(f"no such volume '{value}'")
            slot = option.removeprefix("--")
            world.attach(thing, slot, "sdb", world.state["volumes"][volume])
        else:
            int(value)
    return f"update VM {thing['name']}\n"


def _start(world: World, thing: dict[str, Any], _: list[str], given: Given) -> str:
    world.start(thing, f"VM {thing['name']} already running")
    return ""


def _stop(world: World, thing: dict[str, Any], _: list[str], given: Given) -> str:
    thing["state"] = "off"  # stopping what is stopped succeeds
    return ""


def _snapshot(world: World, thing: dict[str, Any], rest: list[str], given: Given) -> str:
    world.keep(thing, rest[0], "snapshot name already used")
    thing["parent"] = rest[0]
    return ""


def _rollback(world: World, thing: dict[str, Any], rest: list[str], given: Given) -> str:
    world.revert(thing, rest[0], f"snapshot '{rest[0]}' does not exist")
    world.start(thing, "")
    return ""


def _config(world: World, thing: dict[str, Any], _: list[str], given: Given) -> str:
    parent = f"parent: {thing['parent']}\n" if thing["parent"] else ""
    return f"cores: 2\ncpu: host\ndescription: {thing['description']}\n{parent}"


def _destroy(world: World, thing: dict[str, Any], _: list[str], given: Given) -> str:
    world.remove(thing, f"VM {thing['name']} is running - destroy failed", 255)
    return ""


_VERBS = {
    "set": _set,
    "start": _start,
    "stop": _stop,
    "snapshot": _snapshot,
    "rollback": _rollback,
    "config": _config,
    "destroy": _destroy,
}


def _guest(world: World, words: list[str]) -> str:
    cmd, number, command = words
    assert (cmd, command) == ("cmd", "network-get-interfaces")
    if world.things[number]["state"] != "running":
        raise Refused("QEMU guest agent is not running", 255)
    told = [
        {"ip-addresses": [{"ip-address": address, "ip-address-type": "ipv4"}]}
        for address in ("127.0.0.1", ssh.ADDRESS)
    ]
    return json.dumps(told, indent=3, separators=(",", " : ")) + "\n"


def _pvesm(world: World, words: list[str]) -> str:
    match words:
        case ["alloc", "local-lvm", number, name, size_kib] if re.fullmatch(
            rf"vm-{number}-[\w-]+", name
        ):
            world.state["volumes"][name] = int(size_kib) * 1024
            return f"successfully created 'local-lvm:{name}'\n"
        case ["free", volume]:
            del world.state["volumes"][volume.partition(":")[2]]
            return ""
    raise Refused(f"400 not enough arguments: {words}", 255)


def foreign(world: World, label: str, number: int, folder: str) -> None:
    """Somebody else's machine of this number."""
    world.create(str(number), "", description="production", parent=None)


SETTINGS = {
    "image": 9000,
    "cpus": 2,
    "memory": 2 << 30,
    "storage": "local-lvm",
    "disk_cache": "none",
    "user": "root",
    "host_key": "steelyard-guest",
}
TOOLS = ["qm", "pvesm", "pveversion", "cat", "ssh", "scp"]
ERRORS = {
    "please run as root": "no_rights",
    "unable to create VM 4711: config file already exists": "name_taken",
    "unable to find configuration file for VM 9000 on node 'pve'": "image_missing",
    "lvcreate: insufficient free space: 0 extents available": "no_space",
    "storage 'x' does not exist": "not_supported",
    "KVM virtualisation configured, but not available.": "not_supported",
    "Host key verification failed.": "host_key",
}
