"""govc 0.18, as it answered in front of vcsim, the simulator of its makers."""

from __future__ import annotations

import json

from tests.platforms.standins import ssh
from tests.platforms.standins.world import Refused, World, one, options

_TAKES = {
    "vm.create": {
        "-on": True,
        "-annotation": True,
        "-c": True,
        "-m": True,
        "-g": True,
        "-ds": True,
        "-disk": True,
        "-disk-datastore": True,
        "-disk.controller": True,
        "-net": True,
        "-net.adapter": True,
    },
    "vm.info": {"-json": False},
    "vm.power": {"-on": False, "-off": False},
    "vm.ip": {"-v4": False, "-wait": True},
    "vm.destroy": {},
    "snapshot.create": {"-vm": True, "-m": True},
    "snapshot.revert": {"-vm": True},
    "snapshot.tree": {"-vm": True, "-C": False},
}
Given = dict[str, list[str]]


def tool(world: World, name: str, words: list[str]) -> str | list[str]:
    if name in {"ssh", "scp"}:
        return ssh.ssh(world, words) if name == "ssh" else ssh.scp(world, words)
    match words:
        case ["about"]:
            return "Name:         VMware ESXi\nVersion:      8.0.2\nBuild:        22380479\n"
        case ["version"]:
            return "govc 0.18.0\n"
        case [verb, *rest] if verb in _TAKES:
            unknown = "flag provided but not defined: {}"
            return _VERBS[verb](world, *options(rest, _TAKES[verb], unknown, 2))
    raise Refused(f"govc: unknown command {words}", 2)


def _create(world: World, positional: list[str], given: Given) -> str:
    (label,) = positional
    if one(given, "-ds", "") != "datastore1":
        raise Refused(f"govc: datastore '{given['-ds'][0]}' not found")
    if one(given, "-disk", "") != "base/base.vmdk":
        raise Refused(f"govc: cannot stat '[datastore1] {given['-disk'][0]}': No such file")
    assert given["-on"] == ["false"]
    int(one(given, "-m", ""))
    taken = f"govc: File [datastore1] {label}/{label}.vmx already exists"
    world.create(label, taken, annotation=given["-annotation"][0])
    return ""


def _info(world: World, positional: list[str], _: Given) -> str:
    thing = world.things.get(positional[0])
    if thing is None:
        return '{"VirtualMachines":null}\n'
    config = {"Name": thing["name"], "Annotation": thing["annotation"]}
    machines = [{"Summary": {"Config": config}}]
    return json.dumps({"VirtualMachines": machines}, separators=(",", ":")) + "\n"


def _power(world: World, positional: list[str], given: Given) -> str:
    (label,) = positional
    thing = world.need(label, f"govc: vm '{label}' not found")
    if "-on" in given:
        world.start(thing, _state("poweredOn"))
        return "Powering on VirtualMachine:vm-4... OK\n"
    world.stop(thing, _state("poweredOff"))
    return "Powering off VirtualMachine:vm-4... OK\n"


def _state(state: str) -> str:
    return f"govc: The attempted operation cannot be performed in the current state ({state})."


def _ip(world: World, positional: list[str], given: Given) -> str:
    assert "-v4" in given
    if world.need(positional[0], f"govc: vm '{positional[0]}' not found")["state"] != "running":
        raise Refused("govc: timeout waiting for IP address")
    return f"{ssh.ADDRESS}\n"


def _destroy(world: World, positional: list[str], _: Given) -> str:
    """It switches off first what still runs."""
    (label,) = positional
    world.need(label, f"govc: vm '{label}' not found")
    del world.things[label]
    return ""


def _snapshot(world: World, positional: list[str], given: Given) -> str:
    thing = world.need(one(given, "-vm", ""), "govc: vm not found")
    world.keep(thing, positional[0], "govc: The name already exists")
    return ""


def _revert(world: World, positional: list[str], given: Given) -> str:
    """Its memory was kept, so it goes on."""
    thing = world.need(one(given, "-vm", ""), "govc: vm not found")
    world.revert(thing, positional[0], f"govc: snapshot '{positional[0]}' not found")
    world.start(thing, "")
    return ""


def _tree(world: World, _: list[str], given: Given) -> str:
    assert "-C" in given
    names = list(world.need(one(given, "-vm", ""), "govc: vm not found")["snapshots"])
    return f"{names[-1]}\n" if names else ""


_VERBS = {
    "vm.create": _create,
    "vm.info": _info,
    "vm.power": _power,
    "vm.ip": _ip,
    "vm.destroy": _destroy,
    "snapshot.create": _snapshot,
    "snapshot.revert": _revert,
    "snapshot.tree": _tree,
}


def foreign(world: World, label: str, number: int, folder: str) -> None:
    """Somebody else's machine of this name."""
    world.create(label, "", annotation="production")


SETTINGS = {
    "image": "base/base.vmdk",
    "store": "datastore1",
    "cpus": 2,
    "memory": 2 << 30,
    "network": "VM Network",
    "nic": "vmxnet3",
    "disk_bus": "pvscsi",
    "user": "root",
    "host_key": "steelyard-guest",
}
TOOLS = ["govc", "ssh", "scp"]
ERRORS = {
    "govc: specify an ESX or vCenter URL": "not_supported",
    "govc: File [datastore1] box/box.vmx already exists": "name_taken",
    "govc: *types.FileAlreadyExists": "name_taken",
    "govc: cannot stat '[datastore1] a.vmdk': No such file": "image_missing",
    "govc: network 'X' not found": "not_supported",
    "govc: ServerFaultCode: Cannot complete login due to an incorrect user name": "no_rights",
    "govc: Insufficient disk space on datastore 'datastore1'.": "no_space",
    "govc: Post https://192.0.2.1/sdk: x509: certificate signed by unknown authority": "host_key",
    "govc: Post https://192.0.2.1/sdk: dial tcp: connection refused": "unreachable",
    "Host key verification failed.": "host_key",
}
