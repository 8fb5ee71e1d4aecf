"""Drives the load on every instance at once while every machine that takes part is sampled."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import TypeVar

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError
from steelyard.hosts.clocks import ClockOffset
from steelyard.hosts.host import Host
from steelyard.hosts.inverses.files import RemoveTree
from steelyard.hosts.undo import INSIDE
from steelyard.systems.platform import Costs, Threads
from steelyard.trial.disturbances import OURS
from steelyard.trial.driving import Drive, LoadDrive, RunDrive
from steelyard.trial.instance import Instance
from steelyard.trial.responses import STORE
from steelyard.trial.sampling import Watch, start_sampling, stop_sampling
from steelyard.trial.scene import Scene
from steelyard.trial.searching import SearchDrive
from steelyard.workloads.load import load_job, longest_run_s
from steelyard.workloads.operations.model import Server
from steelyard.workloads.runs import RUNS, placed

_Thing = TypeVar("_Thing")
BARRIER_S = 0.3
"""From the last job sent to the common start: long enough for every agent to have read its own."""


def measure_all(scene: Scene) -> None:
    """Warm-up and window on every instance, started together.

    Raises:
        AgentRefusal, EngineError, TimeoutError: one of them failed, and the others are cancelled;
            or a machine cannot tell what was sampled.
        KeyboardInterrupt: the user asks to stop.
    """
    watches = list(_watches(scene))
    drives = [_drive(scene, instance) for instance in scene.working]
    untold: list[AgentRefusal | EngineError] = []
    try:
        start_sampling(watches, scene.stage.study.sample.every_s)
        _begin(drives)
        with scene.stage.interrupt.waiting():
            _finish(scene, drives)
    except BaseException:
        for drive in drives:
            with suppress(AgentRefusal, EngineError):  # what went wrong first is what is told
                drive.cancel()
        raise
    finally:
        scene.sampled, untold = stop_sampling(watches)
    if untold:
        raise untold[0]
    _note_lost_rows(scene)


def _drive(scene: Scene, instance: Instance) -> Drive:
    study, cell = scene.stage.study, scene.cell
    runs = RUNS.get(instance.workload.use)
    if runs is None:
        generator = _generator(scene, instance)
        cell = replace(cell, workload=instance.workload)
        server = _server(scene, instance, generator)
        seed = scene.seed(instance)
        if cell.find is not None:
            clock = clock_of(scene, generator)
            return SearchDrive(instance, generator, clock, study, cell, server, seed)
        job = load_job(study, cell, server, seed)
        return LoadDrive(instance, generator, clock_of(scene, generator), job, longest_run_s(study))
    commands = [
        [*instance.enter(), *placed(words, instance.places())]
        for words in runs.commands(instance.workload.settings)
    ]
    return RunDrive(instance, clock_of(scene, instance.host), commands, study.trials.command_s)


def _begin(drives: list[Drive]) -> None:
    together_ns = None
    if len(drives) > 1:
        together_ns = time.monotonic_ns() + round(BARRIER_S * 1e9)
    for drive in drives:
        drive.begin(together_ns)


def _finish(scene: Scene, drives: list[Drive]) -> None:
    longest_s = max(drive.longest_s for drive in drives)
    deadline_ns = time.monotonic_ns() + round((longest_s + BARRIER_S) * 1e9)
    measured = [drive for drive in drives if drive.instance in scene.measured]
    for drive in measured:
        drive.finish(deadline_ns)
    for drive in drives:
        if drive not in measured:
            idle_s = drive.end_beside()
            if idle_s is not None:
                message = f"what ran beside on instance {drive.instance.number} ended"
                scene.doubt("neighbour_idle", f"{message} {idle_s:.1f} s before the measured one")


def _server(scene: Scene, instance: Instance, generator: Host) -> Server:
    """Where the load goes, with the file that verifies its certificate where the generator is."""
    server, stage = instance.server(), scene.stage
    same_files = generator.boot_id == instance.host.boot_id and not instance.throwaway
    if server.authority is None or same_files:
        return server
    content = instance.host.read_file(server.authority)
    folder = stage.folder_on(generator, f"authority-{instance.number}")
    machine = generator.name if generator.name.startswith(INSIDE) else stage.study.generator.host
    instance.copies.append((generator, stage.undo.plan(machine, RemoveTree(folder))))
    generator.make_directory(folder)
    generator.write_file(f"{folder}/authority.pem", content, create=True)
    return replace(server, authority=f"{folder}/authority.pem")


def _generator(scene: Scene, instance: Instance) -> Host:
    """Where the load on an instance comes from: a machine, or another instance."""
    stage = scene.stage
    other = stage.study.generator.instance
    if other is not None:
        return scene.instances[other - 1].host
    return stage.machines.generator(
        instance.number, stage.study.generator.host, stage.lodging.network
    )


def clock_of(scene: Scene, host: Host) -> ClockOffset:
    """The clock of a machine against the controller's; exactly the same on the same kernel."""
    local = scene.stage.local()
    if host.boot_id is not None and host.boot_id == local.boot_id:
        return ClockOffset(offset_ns=0, uncertainty_ns=0, at_ns=time.monotonic_ns())
    return host.clock_offset()


def _watches(scene: Scene) -> Iterator[Watch]:
    """Each machine once: an agent samples one thing at a time."""
    watched: set[int] = set()
    for instance in scene.instances:
        watched.add(id(instance.host))
        yield Watch(
            instance.name,
            instance.host,
            clock_of(scene, instance.host).offset_ns,
            processes={**_ours(scene, instance), **_service_processes(instance)},
            disks={STORE: instance.data},
        )
    where = scene.stage.study.sample.where
    generator = scene.stage.study.generator
    others = {"host": scene.carrier()}
    if generator.instance is None:
        others["generator"] = scene.stage.machines.at(generator.host)
    for name, host in others.items():
        if name in where and id(host) not in watched:
            watched.add(id(host))
            costs = _costs(scene) if host is scene.carrier() else Costs()
            yield Watch(name, host, clock_of(scene, host).offset_ns, costs=costs)


def _service_processes(instance: Instance) -> Mapping[str, int]:
    return {} if instance.service is None else instance.service.processes


def _ours(scene: Scene, instance: Instance) -> dict[str, int]:
    """The process tree of all that Steelyard runs where an instance is.

    None where it cannot be told from strangers: in a container, whose kernel counts for the whole
    machine, and on a far machine where another agent generates the load.
    """
    host, local = instance.host, scene.stage.local()
    if instance.carried and host.boot_id == scene.carrier().boot_id:
        return {}
    if host.boot_id == local.boot_id:
        return {OURS: os.getpid()}
    generates = scene.stage.study.generator.host == scene.cell.system.carrier
    return {} if generates and not instance.carried else {OURS: host.agent_pid}


def _costs(scene: Scene) -> Costs:
    """What stands for each instance on the carrier, by its number."""
    processes: dict[str, int] = {}
    threads: dict[str, Threads] = {}
    cgroups: dict[str, str] = {}
    for instance in scene.instances:
        name = instance.column
        costs = instance.platform.costs()
        processes |= _renamed(costs.processes, name)
        threads |= {f"{name}.{kind}": group for kind, group in costs.threads.items()}
        cgroups |= _renamed(costs.cgroups, name)
    return Costs(processes, threads, cgroups)


def _renamed(things: Mapping[str, _Thing], name: str) -> dict[str, _Thing]:
    """What stands for the instance; a platform names the one that matters first."""
    return dict(zip([name], things.values(), strict=False))


def _note_lost_rows(scene: Scene) -> None:
    for name, sampled in scene.sampled.items():
        if sampled.rows_lost:
            message = f"{sampled.rows_lost} samples of {name} were lost: the buffer was full"
            scene.doubt("samples_lost", message)
