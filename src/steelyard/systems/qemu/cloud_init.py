"""What cloud-init reads in a guest that starts from a disk of the user's own.

QEMU shows the folder as a small disk with the label ``CIDATA``, which cloud-init's data source
NoCloud looks for. A guest without cloud-init never looks at it.
"""

from __future__ import annotations

import json

from steelyard.hosts.host import Host
from steelyard.hosts.tool import tell
from steelyard.systems.qemu.command_line import CLOUD_INIT, CONTROL_MAC

KEY = "key"
"""The private key that is made for an instance, in its folder."""


def prepare(host_machine: Host, folder: str, label: str) -> None:
    """Makes a key for the instance, and the files that let root in with it.

    Raises:
        SystemFailure: ``tool_missing``: the machine has no ``ssh-keygen``.
    """
    key = f"{folder}/{KEY}"
    tell(host_machine, ["rm", "-f", "--", key, f"{key}.pub"])
    tell(host_machine, ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", label, "-f", key])
    public = host_machine.read_file(f"{key}.pub").strip()
    host_machine.make_directory(f"{folder}/{CLOUD_INIT}")
    for name, text in files_of(label, public).items():
        host_machine.write_file(f"{folder}/{CLOUD_INIT}/{name}", text, create=True)


def files_of(label: str, public_key: str) -> dict[str, str]:
    """The files by name. JSON is YAML, which is what cloud-init takes them for."""
    user = {
        "disable_root": False,
        "users": [{"name": "root", "ssh_authorized_keys": [public_key]}],
        "ssh_genkeytypes": ["ed25519"],
        "package_update": False,
        "growpart": {"mode": "off"},
        "resize_rootfs": False,
    }
    network = {
        "version": 2,
        "ethernets": {"control": {"match": {"macaddress": CONTROL_MAC}, "dhcp4": True}},
    }
    return {
        "meta-data": _text({"instance-id": label, "local-hostname": label[-63:].strip("-")}),
        "user-data": f"#cloud-config\n{_text(user)}",
        "network-config": _text(network),
    }


def _text(document: dict[str, object]) -> str:
    return json.dumps(document, indent=1) + "\n"
