"""Tools of the workloads for one attempt: made ready before the window, read after it."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.hosts.failures import SystemFailure
from steelyard.hosts.host import Host
from steelyard.hosts.undo.actions.command import Command
from steelyard.hosts.undo.actions.files import RemoveTree
from steelyard.study.declared.placeholders import Value
from steelyard.study.lookup import workload_of
from steelyard.study.workload.settings import SharedSettings
from steelyard.trial.attempt.attempt import Attempt
from steelyard.trial.attempt.endpoints import server_for
from steelyard.trial.attempt.instance import Instance
from steelyard.workloads.operations.model import Server
from steelyard.workloads.tools.ready import ToolContext, make_ready

ROOT = "root"
_SEEDS = 2**31 - 1
"""Tools take seeds of 31 bits; 0 means something else to most."""


def make_tools_ready(attempt: Attempt) -> None:
    """Finds the tool of every instance that runs one, and does what comes before its window.

    Raises:
        AgentRefusal, SystemFailure: it is not there, or cannot be prepared.
    """
    attempt.co_located = [
        instance.shadow(workload, turn)
        for instance in attempt.instances
        for turn, workload in enumerate(attempt.cell.co_located.get(instance.number, ()), start=1)
    ]
    for instance in (*attempt.instances, *attempt.co_located):
        if workload_of(instance.workload).is_tool:
            instance.tool = make_ready(instance.workload, _ground(attempt, instance))


def _ground(attempt: Attempt, instance: Instance) -> ToolContext:
    entry, study = workload_of(instance.workload), attempt.session.study
    on_system = entry.on == "system"
    host = instance.host if on_system else attempt.generator(instance)
    machine = attempt.session.machines.address_of(host)

    def plan(inverse: Command) -> None:
        instance.undos.append((host, attempt.session.undo.plan(machine, inverse)))

    folder = instance.folder if on_system else _folder(attempt, instance, host, machine)
    trials, mount = study.trials, _mount(instance) if on_system else folder
    given: dict[str, Value] = {
        "folder": folder,
        "study": attempt.session.study_folder,
        "mount": mount,
        "device": _device(host, mount),
        "seed": attempt.seed(instance) % _SEEDS + 1,
        "window": _plain(trials.window_s),
        "warmup": _plain(trials.warmup_s),
        "users": attempt.cell.users,
        "rate": attempt.cell.rate_per_s,
    }
    if on_system:
        given |= {name: disk.plan.mount_point for name, disk in instance.prepared.items()}
    if entry.speaks and instance.service is not None:
        given |= _served(server_for(attempt, instance, host), entry.speaks)
    enter = instance.enter() if on_system else ()
    rehearsed = attempt.session.rehearsed
    return ToolContext(host, folder, given, plan, trials.command_s, enter, rehearsed)


def _mount(instance: Instance) -> str:
    """Where the disk is that is measured: the first of the study, or the one that `on` names."""
    on = SharedSettings.of(instance.workload.settings).on
    if on is None:
        return instance.data
    if on == ROOT:
        return instance.folder
    disk = instance.prepared.get(on)
    if disk is None:
        known = ", ".join((ROOT, *instance.prepared))
        message = f"the system has no disk `{on}` for the workload"
        raise SystemFailure("not_supported", message, f"`on` can be: {known}")
    return disk.plan.mount_point


def _plain(duration_s: float) -> Value:
    return int(duration_s) if duration_s == int(duration_s) else duration_s


def _folder(attempt: Attempt, instance: Instance, host: Host, machine: str) -> str:
    """A folder of the tool's own on the generator, removed after the trial."""
    folder = attempt.session.folder_on(host, f"tool-{attempt.key}-{instance.number}")
    instance.undos.append((host, attempt.session.undo.plan(machine, RemoveTree(folder))))
    host.make_directory(folder)
    return folder


def _device(host: Host, folder: str) -> str | None:
    """The block device that a folder lies on, if it lies on one."""
    device = host.path_facts(folder).device
    return None if device is None else f"/dev/{device.removeprefix('/dev/')}"


def _served(server: Server, speaks: tuple[str, ...]) -> Mapping[str, Value]:
    served: dict[str, Value] = {}
    for protocol in reversed(speaks):
        address, _, port = server.speaking(protocol).rpartition(":")
        address = address.strip("[]")
        served |= {"address": address, "port": port}
        served |= {f"{protocol}_address": address, f"{protocol}_port": port}
    if server.authority is not None:
        served["authority"] = server.authority
    return served
