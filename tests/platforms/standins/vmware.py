"""vmrun, as the reference of VMware Workstation's command line says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.platforms.standins import ssh
from tests.platforms.standins.world import Refused, World


def tool(world: World, name: str, words: list[str]) -> str | list[str]:
    if name == "ssh":
        return ssh.ssh(world, words)
    if name == "scp":
        return ssh.scp(world, words)
    match words:
        case []:
            return "\nvmrun version 1.17.0 build-23775571\n\nUsage: vmrun COMMAND\n"
        case ["-T", "ws", verb, file, *rest] if verb in _VERBS:
            return _VERBS[verb](world, file, rest)
    raise Refused(f"Unrecognized command: {' '.join(words)}", 255)


def _machine(world: World, file: str) -> dict[str, Any]:
    return world.need(file, f"Error: Cannot open VM: {file}, The virtual machine cannot be found")


def _clone(world: World, file: str, rest: list[str]) -> str:
    target, kind, name = rest
    if kind not in {"full", "linked"} or not name.startswith("-cloneName="):
        raise Refused("Invalid arguments for clone", 255)
    if not Path(file).exists():
        raise Refused(f"Error: Cannot open VM: {file}, The virtual machine cannot be found", 255)
    world.create(target, "Error: The file already exists")
    Path(target).parent.mkdir(parents=True)
    Path(target).touch()
    return ""


def _start(world: World, file: str, rest: list[str]) -> str:
    assert rest == ["nogui"]
    world.start(_machine(world, file), "Error: The file is already in use")
    return ""


def _stop(world: World, file: str, rest: list[str]) -> str:
    assert rest == ["hard"]
    world.stop(_machine(world, file), f"Error: The virtual machine is not powered on: {file}")
    return ""


def _revert(world: World, file: str, rest: list[str]) -> str:
    thing = _machine(world, file)
    world.revert(thing, rest[0], "Error: The snapshot does not exist")
    return ""


def _snapshot(world: World, file: str, rest: list[str]) -> str:
    world.keep(_machine(world, file), rest[0], "Error: The name already exists")
    return ""


def _list(world: World, file: str, rest: list[str]) -> str:
    names = list(_machine(world, file)["snapshots"])
    return "\n".join([f"Total snapshots: {len(names)}", *names]) + "\n"


def _delete(world: World, file: str, rest: list[str]) -> str:
    if _machine(world, file)["state"] == "running":
        raise Refused("Error: The virtual machine should be powered off")
    del world.things[file]
    Path(file).unlink()
    return ""


def _address(world: World, file: str, rest: list[str]) -> str:
    if rest not in ([], ["-wait"]):
        raise Refused("Invalid arguments for getGuestIPAddress", 255)
    if _machine(world, file)["state"] != "running":
        raise Refused("Error: The VMware Tools are not running in the virtual machine")
    return f"{ssh.ADDRESS}\n"


def _tools(world: World, file: str, rest: list[str]) -> str:
    return "running\n"


_VERBS = {
    "clone": _clone,
    "start": _start,
    "stop": _stop,
    "revertToSnapshot": _revert,
    "snapshot": _snapshot,
    "listSnapshots": _list,
    "deleteVM": _delete,
    "getGuestIPAddress": _address,
    "checkToolsState": _tools,
}


def foreign(world: World, label: str, number: int, folder: str) -> None:
    """Names are folders of ours here, so what is foreign is one with another machine in it."""
    from steelyard.systems.command_line.render import mark_of  # noqa: PLC0415

    place = Path(folder) / mark_of(label, folder)
    place.mkdir()
    (place / "other.vmx").touch()


SETTINGS = {"image": "FOLDER/image", "user": "root", "host_key": "steelyard-guest"}
TOOLS = ["vmrun", "ssh", "scp"]
ERRORS = {
    "Error: Cannot open VM: /a.vmx, The virtual machine cannot be found": "image_missing",
    "Error: The file already exists": "name_taken",
    "Error: Insufficient permissions in the host operating system": "no_rights",
    "Error: There is not enough space in the file system for the operation": "no_space",
    "Could not open /dev/vmmon: No such file or directory.": "not_supported",
    "Error: The VMware Tools are not running in the virtual machine: /a.vmx": "not_ready",
}
