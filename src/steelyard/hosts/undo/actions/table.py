"""The inverses that exist, by the name that is stored with each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from steelyard.errors import RecordError
from steelyard.hosts.undo.actions.command import Command
from steelyard.hosts.undo.actions.command_line import TakeDown
from steelyard.hosts.undo.actions.files import RemoveTree, RestoreFile, WriteValue
from steelyard.hosts.undo.actions.inverse import Inverse
from steelyard.hosts.undo.actions.network import RemoveNamespace
from steelyard.hosts.undo.actions.podman import RemoveContainer, RemoveImageName
from steelyard.hosts.undo.actions.processes import EndProcess, RemoveCgroup, RemoveCgroupTree
from steelyard.hosts.undo.actions.qemu import EndMachine
from steelyard.hosts.undo.actions.storage import (
    DetachLoop,
    Remount,
    StopArray,
    Unmount,
    WipeSignatures,
)
from steelyard.hosts.undo.actions.tuned import TunedProfile
from steelyard.hosts.undo.actions.values import RestoreValues

INVERSES: dict[str, Callable[..., Inverse]] = {
    "command": Command,
    "detach_loop": DetachLoop,
    "end_machine": EndMachine,
    "end_process": EndProcess,
    "remount": Remount,
    "remove_cgroup": RemoveCgroup,
    "remove_cgroup_tree": RemoveCgroupTree,
    "remove_container": RemoveContainer,
    "remove_image_name": RemoveImageName,
    "remove_namespace": RemoveNamespace,
    "remove_tree": RemoveTree,
    "restore_file": RestoreFile,
    "restore_values": RestoreValues,
    "stop_array": StopArray,
    "take_down": TakeDown,
    "tuned_profile": TunedProfile,
    "unmount": Unmount,
    "wipe_signatures": WipeSignatures,
    "write_value": WriteValue,
}


def read_inverse(fields: dict[str, Any]) -> Inverse:
    """An inverse as it was stored.

    Raises:
        RecordError: another version of steelyard stored it.
    """
    try:
        return INVERSES[fields["kind"]](**{name: _frozen(value) for name, value in fields.items()})
    except (KeyError, TypeError) as error:
        raise RecordError(
            f"the ledger holds an inverse that this version does not know: {fields}",
            hint="take the run's changes back with the version that made it; see its run.json",
            slug="inverse-is-unknown",
        ) from error


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
