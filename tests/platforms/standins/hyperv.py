"""A Windows machine behind ssh: takes PowerShell's scripts apart as far as these platforms need.

Parameters are refused unless the cmdlet has them; strings must be literals in single quotes.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from pathlib import PureWindowsPath
from typing import Any

from tests.platforms.standins import ssh
from tests.platforms.standins.world import Refused, World

HOST = "admin@winbox"
_PREAMBLE = "$ErrorActionPreference = 'Stop'; $ProgressPreference = 'SilentlyContinue'\n"
_SWITCHES = {"Differencing", "Dynamic", "TurnOff", "Force", "StaticMemory"}
_PARAMETERS: dict[str, set[str]] = {
    "New-VHD": {"Path", "ParentPath", "Differencing", "SizeBytes", "Dynamic"},
    "New-VM": {"Name", "Path", "Generation", "MemoryStartupBytes", "SwitchName", "VHDPath"},
    "Set-VM": {"Name", "ProcessorCount", "StaticMemory", "CheckpointType"}
    | {"AutomaticCheckpointsEnabled"},
    "Set-VMFirmware": {"VMName", "EnableSecureBoot"},
    "Start-VM": {"Name"},
    "Stop-VM": {"Name", "TurnOff", "Force", "WarningAction"},
    "Checkpoint-VM": {"Name", "SnapshotName"},
    "Restore-VMSnapshot": {"VMName", "Name", "Confirm"},
    "Remove-VM": {"Name", "Force"},
    "Add-VMHardDiskDrive": {"VMName", "ControllerType", "ControllerNumber", "ControllerLocation"}
    | {"Path"},
    "Remove-VMHardDiskDrive": {"VMName", "ControllerType", "ControllerNumber"}
    | {"ControllerLocation"},
}
_READS = {
    r"\(Get-VMNetworkAdapter -VMName '([^']+)'\).IPAddresses": lambda _: ssh.ADDRESS,
    r"\(Get-VMHardDiskDrive -VMName '([^']+)' -ControllerLocation 0\).Path": lambda thing: (
        f"C:\\disks\\system_{thing['layer']}.avhdx"
    ),
    r"\[Environment\]::OSVersion.VersionString": lambda _: "Microsoft Windows NT 10.0.20348.0",
    r"\(Get-VM -Name '([^']+)'\).Version": lambda _: "10.0",
    r"\(Get-VM -Name '([^']+)'\).IntegrationServicesVersion": lambda _: "10.0.20348",
}


def tool(world: World, name: str, words: list[str]) -> str | list[str]:
    if name == "scp":
        return ssh.scp(world, words)
    if HOST not in words:
        return ssh.ssh(world, words)
    far = words[words.index(HOST) + 1 :]
    if far[:5] != ["powershell", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text"]:
        raise Refused(f"'{far[0]}' is not recognized as an internal or external command")
    return _Session(world).run(decoded(far[-1]))


def decoded(word: str) -> str:
    script = base64.b64decode(word).decode("utf-16-le")
    if not script.startswith(_PREAMBLE):
        raise Refused("errors would not end the script")
    return script.removeprefix(_PREAMBLE).strip()


def readable(line: str) -> str:
    """A line of the log with its script in clear."""
    start, encoded, word = line.partition("-EncodedCommand ")
    return start + encoded + repr(decoded(word)) if encoded else line


class _Session:
    def __init__(self, world: World) -> None:
        self.world = world
        self.variables: dict[str, str] = {}

    def run(self, script: str) -> str:
        if script.startswith("$vm = Get-VM | Where-Object Name -eq"):
            return self._exists(script)
        return "".join(self._statement(line) for line in script.splitlines())

    def _exists(self, script: str) -> str:
        name = re.findall(r"-eq '([^']+)'\n", script)[0]
        assert script.endswith('if ($vm) { "path=$($vm.Path)" } else { "absent" }')
        thing = self.world.things.get(name)
        return "absent\n" if thing is None else f"path={thing['path']}\n"

    def _statement(self, line: str) -> str:
        line = line.removesuffix(" | Out-Null")
        for pattern, value in _READS.items():
            if match := re.fullmatch(pattern, line):
                thing = self._vm(match[1]) if match.groups() else {}
                return f"{value(thing)}\n"
        if match := re.fullmatch(r"\$(\w+) = (.+)", line):
            self.variables[match[1]] = self._value(match[2])
            return ""
        if line.startswith(
            "if (Test-Path -LiteralPath $folder) { Remove-Item -LiteralPath $folder"
        ):
            return self._remove_below(self.variables["folder"])
        if line == "Remove-Item -LiteralPath $file":
            del self.world.state["volumes"][self.variables["file"]]
            return ""
        if line == "New-Item -ItemType Directory -Path $folder":
            return ""
        cmdlet, _, rest = line.partition(" ")
        if cmdlet not in _PARAMETERS:
            raise Refused(f"The term '{cmdlet}' is not recognized as the name of a cmdlet")
        _CMDLETS[cmdlet](self, self._parameters(cmdlet, rest))
        return ""

    def _remove_below(self, folder: str) -> str:
        volumes = self.world.state["volumes"]
        for file in [
            name for name in volumes if PureWindowsPath(folder) in PureWindowsPath(name).parents
        ]:
            del volumes[file]
        return ""

    def _parameters(self, cmdlet: str, text: str) -> dict[str, str]:
        found: dict[str, str] = {}
        pattern = r"-(\w+)(?:[ :](\((?:[^()]|\([^()]*\))*\)|'[^']*'|\$\w+|[^\s-][^\s]*))?"
        for name, value in re.findall(pattern, text):
            if name not in _PARAMETERS[cmdlet]:
                raise Refused(f"A parameter cannot be found that matches parameter name '{name}'.")
            if bool(value) == (name in _SWITCHES):
                raise Refused(f"Missing an argument for parameter '{name}'.")
            found[name] = self._value(value) if value else "true"
        return found

    def _value(self, text: str) -> str:
        if match := re.fullmatch(r"\(?Join-Path (\(.+\)|\S+) (\(.+\)|\S+?)\)?", text):
            return str(PureWindowsPath(self._value(match[1]), self._value(match[2])))
        if match := re.fullmatch(r"\('([^']+)' \+ '([^']+)'\)", text):
            return match[1] + match[2]
        if text.startswith("$"):
            return self.variables.get(text[1:], text)
        return text.strip("'")

    def _vm(self, name: str) -> dict[str, Any]:
        said = f'Hyper-V was unable to find a virtual machine with name "{name}".'
        return self.world.need(name, said)

    def new_vhd(self, given: dict[str, str]) -> None:
        if "ParentPath" in given and not given["ParentPath"].endswith("guest.vhdx"):
            raise Refused("The system cannot find the file specified. (0x80070002)")
        self.world.state["volumes"][given["Path"]] = int(given.get("SizeBytes", 1 << 30))

    def new_vm(self, given: dict[str, str]) -> None:
        if given["VHDPath"] not in self.world.state["volumes"]:
            raise Refused("The system cannot find the file specified. (0x80070002)")
        int(given["MemoryStartupBytes"])
        name = given["Name"]
        self.world.create(name, "already exists", path=f"{given['Path']}\\{name}")

    def set_vm(self, given: dict[str, str]) -> None:
        if self._vm(given["Name"])["state"] == "running":
            raise Refused("The operation cannot be performed while the virtual machine is running")

    def start(self, given: dict[str, str]) -> None:
        self.world.start(self._vm(given["Name"]), "it runs already")

    def stop(self, given: dict[str, str]) -> None:
        thing = self._vm(given["Name"])
        if thing["state"] == "running":  # a machine that is off is a warning, no error
            self.world.stop(thing, "")

    def checkpoint(self, given: dict[str, str]) -> None:
        self.world.keep(self._vm(given["Name"]), given["SnapshotName"], "already exists")

    def restore(self, given: dict[str, str]) -> None:
        if given["Confirm"] != "$false":
            raise Refused("Windows PowerShell is in NonInteractive mode.")
        self.world.revert(self._vm(given["VMName"]), given["Name"], "unable to find a checkpoint")

    def remove(self, given: dict[str, str]) -> None:
        if self._vm(given["Name"])["state"] == "running":
            raise Refused("The virtual machine cannot be removed while it is running")
        del self.world.things[given["Name"]]

    def add_disk(self, given: dict[str, str]) -> None:
        size_bytes = self.world.state["volumes"][given["Path"]]
        slot = given["ControllerLocation"]
        self.world.attach(self._vm(given["VMName"]), slot, f"sd{chr(97 + int(slot))}", size_bytes)

    def remove_disk(self, given: dict[str, str]) -> None:
        self.world.detach(self._vm(given["VMName"]), given["ControllerLocation"])


_CMDLETS: dict[str, Callable[[_Session, dict[str, str]], None]] = {
    "New-VHD": _Session.new_vhd,
    "New-VM": _Session.new_vm,
    "Set-VM": _Session.set_vm,
    "Set-VMFirmware": lambda session, given: session.set_vm({"Name": given["VMName"]}),
    "Start-VM": _Session.start,
    "Stop-VM": _Session.stop,
    "Checkpoint-VM": _Session.checkpoint,
    "Restore-VMSnapshot": _Session.restore,
    "Remove-VM": _Session.remove,
    "Add-VMHardDiskDrive": _Session.add_disk,
    "Remove-VMHardDiskDrive": _Session.remove_disk,
}


def foreign(world: World, label: str, number: int, folder: str) -> None:
    """Somebody else's machine of this name."""
    world.create(label, "", path=f"C:\\VMs\\{label}")


SETTINGS = {
    "host": HOST,
    "image": "D:\\images\\guest.vhdx",
    "store": "C:\\ProgramData\\steelyard",
    "cpus": 2,
    "memory": 2 << 30,
    "network": "Default Switch",
    "user": "root",
    "host_key": "steelyard-guest",
}
TOOLS = ["ssh", "scp"]
ERRORS = {
    "Get-VM : You do not have the required permission to complete this task.": "no_rights",
    "The term 'Get-VM' is not recognized as the name of a cmdlet": "tool_missing",
    "There is not enough space on the disk. (0x80070070)": "no_space",
    "New-VHD : The system cannot find the file specified. (0x80070002)": "image_missing",
    "The file 'C:\\a.vhdx' already exists (0x80070050)": "name_taken",
    'Hyper-V was unable to find a virtual switch with name "x".': "not_supported",
    "Not enough memory in the system to start the virtual machine a. (0x8007000E)": "not_supported",
    "Host key verification failed.": "host_key",
    "ssh: connect to host winbox port 22: Connection refused": "unreachable",
    "admin@winbox: Permission denied (publickey,password).": "no_rights",
}
