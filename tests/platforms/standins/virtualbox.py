"""VBoxManage, as chapter 8 of the VirtualBox manual says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.platforms.standins import ssh
from tests.platforms.standins.world import Refused, World, one, options

_SYNTAX = "Syntax error: Invalid option {}"
_CREATE = {"--name": True, "--uuid": True, "--ostype": True, "--basefolder": True} | {
    "--register": False
}
_MODIFY = dict.fromkeys(
    ("--cpus", "--memory", "--rtcuseutc", "--nic1", "--hostonlyadapter1", "--nictype1"), True
)
_CONTROLLER = dict.fromkeys(
    ("--name", "--add", "--controller", "--portcount", "--hostiocache"), True
)
_ATTACH = dict.fromkeys(
    ("--storagectl", "--port", "--device", "--type", "--medium", "--hotpluggable"), True
)
_ADAPTERS = {"virtio", "82540EM", "82543GC", "82545EM", "Am79C973"}
_CHIPS = {("sata", "IntelAhci"), ("virtio", "VirtIO"), ("scsi", "LSILogic"), ("ide", "PIIX4")}


def tool(world: World, name: str, words: list[str]) -> str | list[str]:
    if name == "ssh":
        return ssh.ssh(world, words)
    if name == "scp":
        return ssh.scp(world, words)
    if words == ["--version"]:
        return "7.0.20r163906\n"
    if not words or words[0] not in _VERBS:
        raise Refused(f"Syntax error: Invalid command '{' '.join(words[:1])}'", 2)
    return _VERBS[words[0]](world, words[1:])


def _machine(world: World, name: str) -> dict[str, Any]:
    said = f"VBoxManage: error: Could not find a registered machine named '{name}'"
    return world.need(name, said)


def _idle(thing: dict[str, Any]) -> None:
    if thing["state"] == "running":
        raise Refused(
            f"VBoxManage: error: The machine '{thing['name']}' is already locked for a session"
        )


def _createvm(world: World, words: list[str]) -> str:
    _, given = options(words, _CREATE, _SYNTAX, 2)
    name = one(given, "--name", "Syntax error: Parameter --name is required")
    if "--register" not in given:
        raise Refused("the machine would not be known by its name")
    taken = f"VBoxManage: error: Machine settings file '{name}.vbox' already exists"
    world.create(name, taken, uuid=given["--uuid"][0], ports={}, controller=None)
    return f"Virtual machine '{name}' is created and registered.\nUUID: {given['--uuid'][0]}\n"


def _modifyvm(world: World, words: list[str]) -> str:
    (name,), given = options(words, _MODIFY, _SYNTAX, 2)
    _idle(_machine(world, name))
    int(given["--memory"][0]), int(given["--cpus"][0])
    if given["--nictype1"][0] not in _ADAPTERS:
        raise Refused(f"Syntax error: Invalid NIC type '{given['--nictype1'][0]}'", 2)
    return ""


def _medium(world: World, words: list[str]) -> str:
    kind, *rest = words
    if kind != "disk":
        raise Refused("Syntax error: Invalid device type")
    if rest[0] == "--filename":
        takes = dict.fromkeys(("--filename", "--sizebyte", "--format", "--variant"), True)
        _, given = options(rest, takes, _SYNTAX, 2)
        world.state["volumes"][given["--filename"][0]] = int(given["--sizebyte"][0])
        return "Medium created.\n"
    (source, target), _ = options(rest, {"--format": True}, _SYNTAX, 2)
    if not Path(source).exists():
        said = f"Could not find file for the medium '{source}' (VERR_FILE_NOT_FOUND)"
        raise Refused(f"VBoxManage: error: {said}")
    world.state["volumes"][target] = 1 << 30
    return "Clone medium created in format 'VDI'.\n"


def _closemedium(world: World, words: list[str]) -> str:
    (kind, file), given = options(words, {"--delete": False}, _SYNTAX, 2)
    assert kind == "disk"
    if any(file in thing["ports"].values() for thing in world.things.values()):
        raise Refused(f"VBoxManage: error: Medium '{file}' is locked for writing by another task")
    assert "--delete" in given
    if file not in world.state["volumes"]:
        raise Refused(f"VBoxManage: error: Could not find file for the medium '{file}'")
    del world.state["volumes"][file]
    return ""


def _storagectl(world: World, words: list[str]) -> str:
    (name,), given = options(words, _CONTROLLER, _SYNTAX, 2)
    thing = _machine(world, name)
    _idle(thing)
    if (given["--add"][0], given["--controller"][0]) not in _CHIPS:
        raise Refused("Syntax error: Invalid --controller argument", 2)
    if given["--hostiocache"][0] not in {"on", "off"}:
        raise Refused("Syntax error: Invalid --hostiocache argument", 2)
    thing["controller"] = given["--name"][0]
    return ""


def _storageattach(world: World, words: list[str]) -> str:
    (name,), given = options(words, _ATTACH, _SYNTAX, 2)
    thing = _machine(world, name)
    port, medium = given["--port"][0], given["--medium"][0]
    if given["--storagectl"][0] != thing["controller"]:
        raise Refused("VBoxManage: error: Could not find a storage controller named 'disks'")
    if medium == "none":
        world.detach(thing, port)
        del thing["ports"][port]
        return ""
    if medium not in world.state["volumes"]:
        raise Refused(f"VBoxManage: error: Could not find file for the medium '{medium}'")
    thing["ports"][port] = medium
    if thing["state"] == "running":
        if given.get("--hotpluggable") != ["on"]:
            raise Refused("VBoxManage: error: Controller 'disks' does not support hotplugging")
        world.attach(thing, port, f"sd{chr(97 + int(port))}", world.state["volumes"][medium])
    return ""


def _startvm(world: World, words: list[str]) -> str:
    (name,), _ = options(words, {"--type": True}, _SYNTAX, 2)
    thing = _machine(world, name)
    if "0" not in thing["ports"]:
        raise Refused("the machine has no disk to boot from")
    world.start(thing, f"VBoxManage: error: The machine '{name}' is already locked by a session")
    return f'Waiting for VM "{name}" to power on...\nVM "{name}" has been successfully started.\n'


def _controlvm(world: World, words: list[str]) -> str:
    name, verb = words
    thing = _machine(world, name)
    assert verb == "poweroff"
    world.stop(thing, f"VBoxManage: error: Machine '{name}' is not currently running.")
    return "0%...10%...100%\n"


def _snapshot(world: World, words: list[str]) -> str:
    name, verb, *rest = words
    thing = _machine(world, name)
    missing = f"VBoxManage: error: Could not find a snapshot named '{rest[0]}'"
    if verb == "take":
        (tag,), _ = options(rest, {"--live": False, "--description": True}, _SYNTAX, 2)
        world.keep(thing, tag, "")
        thing["layer"] += 1
    elif verb == "restore":
        _idle(thing)
        world.revert(thing, rest[0], missing)
    elif verb == "list" and rest == ["--machinereadable"]:
        uuid = thing["snapshots"]["steelyard"]["uuid"]
        return f'SnapshotName="steelyard"\nCurrentSnapshotUUID="{uuid}"\n'
    else:
        raise Refused(f"Syntax error: Invalid parameter '{verb}'", 2)
    return ""


def _discardstate(world: World, words: list[str]) -> str:
    thing = _machine(world, words[0])
    if thing["state"] != "saved":
        raise Refused("VBoxManage: error: Machine in invalid state 1 -- powered off")
    thing["state"] = "off"
    return ""


def _unregistervm(world: World, words: list[str]) -> str:
    (name,), given = options(words, {"--delete": False}, _SYNTAX, 2)
    thing = _machine(world, name)
    _idle(thing)
    for file in thing["ports"].values() if "--delete" in given else []:
        del world.state["volumes"][file]
    del world.things[name]
    return ""


def _showvminfo(world: World, words: list[str]) -> str:
    (name,), _ = options(words, {"--machinereadable": False}, _SYNTAX, 2)
    thing = _machine(world, name)
    state = {"off": "poweroff", "saved": "saved", "running": "running"}[thing["state"]]
    disk = f"/Snapshots/{thing['layer']}.vdi" if thing["layer"] else thing["ports"].get("0")
    told = {"name": name, "UUID": thing["uuid"], "VMState": state, "effparavirtprovider": "kvm"}
    lines = [f'{key}="{value}"' for key, value in told.items()]
    return "\n".join([*lines, f'"disks-0-0"="{disk}"']) + "\n"


def _guestproperty(world: World, words: list[str]) -> str:
    verb, name, key = words
    assert verb == "get"
    values = {"/VirtualBox/GuestInfo/Net/0/V4/IP": ssh.ADDRESS}
    values["/VirtualBox/GuestAdd/Version"] = "7.0.20"
    running = _machine(world, name)["state"] == "running"
    return f"Value: {values[key]}\n" if running else "No value set!\n"


_VERBS = {
    "createvm": _createvm,
    "modifyvm": _modifyvm,
    "clonemedium": _medium,
    "createmedium": _medium,
    "closemedium": _closemedium,
    "storagectl": _storagectl,
    "storageattach": _storageattach,
    "startvm": _startvm,
    "controlvm": _controlvm,
    "snapshot": _snapshot,
    "discardstate": _discardstate,
    "unregistervm": _unregistervm,
    "showvminfo": _showvminfo,
    "guestproperty": _guestproperty,
}


def foreign(world: World, label: str, number: int, folder: str) -> None:
    """Somebody else's machine of this name."""
    world.create(label, "", uuid="11111111-2222-3333-4444-555555555555", ports={}, controller="x")


SETTINGS = {
    "image": "FOLDER/image",
    "os_type": "Linux_64",
    "cpus": 2,
    "memory": 1 << 30,
    "nic": "e1000",
    "network": "vboxnet0",
    "disk_bus": "sata",
    "disk_cache": "none",
    "user": "root",
    "host_key": "steelyard-guest",
}
TOOLS = ["VBoxManage", "ssh", "scp"]
ERRORS = {
    "WARNING: The character device /dev/vboxdrv does not exist.": "not_supported",
    "VBoxManage: error: AMD-V is disabled in the BIOS (VERR_SVM_DISABLED)": "not_supported",
    "VBoxManage: error: Failed to open (VERR_ACCESS_DENIED)": "no_rights",
    "VBoxManage: error: Machine settings file '/a/a.vbox' already exists": "name_taken",
    "VBoxManage: error: Could not find file for the medium '/a.vdi' (VERR_FILE_NOT_FOUND)": (
        "image_missing"
    ),
    "VBoxManage: error: Failed to write (VERR_DISK_FULL)": "no_space",
    "VBoxManage: error: Could not get the storage format of the medium '/a' (VERR_NOT_SUPPORTED)": (
        "image_unusable"
    ),
    "VBoxManage: error: Nonexistent host networking interface, name 'vboxnet0' "
    "(VERR_INTERNAL_ERROR)": "not_supported",
}
