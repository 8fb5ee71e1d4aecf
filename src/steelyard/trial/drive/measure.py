"""Drives the load on every instance at once while every machine that takes part is sampled."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TypeVar

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError
from steelyard.hosts.clocks import ClockOffset
from steelyard.hosts.host import Host
from steelyard.records.warnings import WarningKind
from steelyard.study.ending import counted
from steelyard.systems.meters import MeterReader, open_meter
from steelyard.systems.platform import Costs, Threads
from steelyard.trial.attempt.attempt import Attempt
from steelyard.trial.attempt.endpoints import server_for
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.drive.background import EndlessLoad, background_cell, repeated, without_end
from steelyard.trial.drive.drivers import Drive, LoadDrive, RunDrive
from steelyard.trial.drive.events import EventDrive, events_of, keep_events
from steelyard.trial.drive.generators import Generator, SharedLoadDrive, width_of
from steelyard.trial.drive.latency_probe import ProbeDrive
from steelyard.trial.drive.sampling import Watch, start_sampling, stop_sampling
from steelyard.trial.drive.search_driver import SearchDrive
from steelyard.trial.observe.devices import STORE
from steelyard.trial.observe.process_ownership import ours_inside, ours_on_host_machine
from steelyard.trial.observe.responses import SERVICE
from steelyard.workloads.load import load_job, longest_run_s, probe_job

_Thing = TypeVar("_Thing")
BARRIER_S = 0.3
"""From the first job sent to the common start: long enough for every agent to have read its own."""
_PROBED_BARRIER_S = 2.0
"""Where a probe or an event starts with the load: a busy machine has one more agent to wake."""
_PROBED_AGAIN_S = 0.6
"""The same of a cell that has been started before: its agents run and their files are in memory."""
_LONGER_S = (2.0, 8.0, 30.0)
"""What a system gets instead whose service took too long to take all connections."""
LATE_START = "late_start"


def measure_all(attempt: Attempt) -> None:
    """Warm-up and window on every instance, started together.

    Raises:
        AgentRefusal, EngineError, TimeoutError: one of them failed, and the others are cancelled;
            or a machine cannot tell what was sampled.
        KeyboardInterrupt: the user asks to stop.
    """
    watches, meter = list(_watches(attempt)), _meter_of(attempt)
    drives = [drive_of(attempt, instance) for instance in (*attempt.working, *attempt.co_located)]
    probes = (
        [probe_of(attempt, instance) for instance in attempt.measured] if is_probed(attempt) else []
    )
    events = events_of(attempt)
    untold: list[AgentRefusal | EngineError] = []
    try:
        for drive in drives:
            drive.warmup()
        start_sampling(watches, attempt.session.study.sample.every_s)
        if meter is not None:
            meter.start()
        _begin(drives, [*probes, *events], _ahead_s(attempt))
        with attempt.session.interrupt.waiting():
            _finish(attempt, drives, probes)
            keep_events(attempt, events)
            attempt.meter = None if meter is None else meter.stop()
        attempt.session.started.add(_place(attempt))
    except BaseException as failure:
        _give_longer(attempt, failure)
        beside = [each.cancel for each in probes] + [each.cancel for each in events]
        for cancel in [each.cancel for each in drives] + beside:
            with suppress(AgentRefusal, EngineError):  # what went wrong first is what is reported
                cancel()
        raise
    finally:
        if meter is not None:
            meter.end()
        attempt.sampled, untold = stop_sampling(watches)
    if untold:
        raise untold[0]
    _note_lost_rows(attempt)


def _meter_of(attempt: Attempt) -> MeterReader | None:
    """What reads the meter of the system, where it has one."""
    spec = attempt.cell.system.meter
    if spec is None:
        return None
    return MeterReader(open_meter(spec), attempt.session.study.sample.every_s)


def drive_of(attempt: Attempt, instance: Instance) -> Drive:
    """What drives one instance, ready to begin."""
    study, cell, tool = attempt.session.study, attempt.cell, instance.tool
    background = cell.scenario and instance not in attempt.measured
    if tool is not None:
        tool = repeated(tool) if background else tool
        clock = clock_of(attempt, tool.host)
        own = study.clock == "system"
        return RunDrive(instance, clock, tool, study.trials.command_s, own_clock=own)
    if attempt.session.study.generator.further and not background:
        return _shared(attempt, instance)
    generator = attempt.generator(instance)
    if background:
        return _endless(attempt, instance, generator)
    cell = replace(cell, workload=instance.workload)
    server = server_for(attempt, instance, generator)
    seed, clock = attempt.seed(instance), clock_of(attempt, generator)
    if cell.find is not None:
        return SearchDrive(instance, generator, clock, cell.study, cell, server, seed)
    job = load_job(study, cell, server, seed)
    return LoadDrive(instance, generator, clock, job, longest_run_s(study, cell.workload))


def _shared(attempt: Attempt, instance: Instance) -> SharedLoadDrive:
    """A load of several generators: of as many as there are users or connections to share."""
    study, cell = attempt.session.study, replace(attempt.cell, workload=instance.workload)
    seed, generators = attempt.seed(instance), []
    named = zip(attempt.generators(instance), study.generator.hosts, strict=True)
    for number, (host, machine) in enumerate(named, start=1):
        server = server_for(attempt, instance, host, number)
        job = load_job(study, cell, server, seed)
        generators.append(Generator(number, machine, host, clock_of(attempt, host), job))
    return SharedLoadDrive(
        instance,
        generators[: width_of(generators[0].job)],
        attempt.session.local(),
        partial(clock_of, attempt),
        longest_run_s(study, cell.workload),
    )


def _endless(attempt: Attempt, instance: Instance, generator: Host) -> Drive:
    """A background load: as long as what is measured, which may have no window."""
    study = attempt.session.study
    cell = background_cell(study, attempt.cell, instance.workload)
    server = server_for(attempt, instance, generator)
    job = load_job(without_end(study), cell, server, attempt.seed(instance))
    longest_s = study.trials.command_s + longest_run_s(study, cell.workload)
    return EndlessLoad(instance, generator, clock_of(attempt, generator), job, longest_s)


def is_probed(attempt: Attempt) -> bool:
    """Whether a latency probe runs: not at a search, whose runs start one after the other."""
    return attempt.cell.study.latency_probe is not None and attempt.cell.find is None


def probe_of(attempt: Attempt, instance: Instance) -> ProbeDrive:
    """The latency probe of one instance, ready to begin."""
    session = attempt.session
    host = session.study.generator.host
    prober = session.machines.prober(instance.number, host, session.pool.network)
    cell = replace(attempt.cell, workload=instance.workload)
    job = probe_job(cell.study, cell, server_for(attempt, instance, prober), attempt.seed(instance))
    open_ended = counted(instance.workload.settings) is not None
    return ProbeDrive(instance, prober, clock_of(attempt, prober), job, open_ended)


def _ahead_s(attempt: Attempt) -> float:
    """From the first job sent to the common start."""
    usual_s = BARRIER_S
    if is_probed(attempt) or attempt.cell.study.events:
        again = _place(attempt) in attempt.session.started
        usual_s = _PROBED_AGAIN_S if again else _PROBED_BARRIER_S
    return max(usual_s, attempt.session.ahead_s.get(attempt.trial.cell.system, 0.0))


def _place(attempt: Attempt) -> str:
    """What one start was like another of: the system and its conditions."""
    return str(attempt.trial.cell)


def _give_longer(attempt: Attempt, failure: BaseException) -> None:
    """The next attempt on this system has a later start if this one was not ready for its own."""
    if isinstance(failure, AgentRefusal) and failure.failure.kind == LATE_START:
        now_s = _ahead_s(attempt)
        longer_s = next((each for each in _LONGER_S if each > now_s), now_s)
        attempt.session.ahead_s[attempt.trial.cell.system] = longer_s


def _begin(drives: list[Drive], beside: Sequence[ProbeDrive | EventDrive], ahead_s: float) -> None:
    together_ns = None
    shared = any(isinstance(drive, SharedLoadDrive) for drive in drives)
    if len(drives) + len(beside) > 1 or shared:
        together_ns = time.monotonic_ns() + round(ahead_s * 1e9)
        for each in beside:
            each.begin(together_ns)
    for drive in drives:
        drive.begin(together_ns)


def _finish(attempt: Attempt, drives: list[Drive], probes: list[ProbeDrive]) -> None:
    longest_s = max(drive.longest_s for drive in drives)
    deadline_ns = time.monotonic_ns() + round((longest_s + _LONGER_S[-1]) * 1e9)
    measured = [drive for drive in drives if drive.instance in attempt.measured]
    for drive in measured:
        drive.finish(deadline_ns)
    for probe in probes:
        probe.finish(deadline_ns)
    for drive in drives:
        if drive not in measured:
            idle_s = drive.end_background()
            if idle_s is not None:
                number = drive.instance.number
                attempt.warn(WarningKind.BACKGROUND_ENDED, instance=number, idle_s=idle_s)


def clock_of(attempt: Attempt, host: Host) -> ClockOffset:
    """The clock of a machine against the controller's."""
    return attempt.session.clock_of(host)


def _watches(attempt: Attempt) -> Iterator[Watch]:
    """Each machine once: an agent samples one thing at a time."""
    watched: set[int] = set()
    for instance in filter(lambda each: each.has_agent, attempt.instances):
        watched.add(id(instance.host))
        yield Watch(
            instance.name,
            instance.host,
            clock_of(attempt, instance.host).offset_ns,
            processes={**ours_inside(attempt, instance), **instance.service_processes},
            disks={STORE: instance.data},
            costs=Costs(cgroups=_limited(instance)),
        )
    where = attempt.session.study.sample.where
    generator = attempt.session.study.generator
    seen = any(each.has_agent for each in attempt.instances)
    others = {"host": attempt.host_machine()} if seen else {}
    if generator.instance is None:
        others |= _generators_by_name(attempt)
    for name, host in others.items():
        if name.partition(".")[0] in where and id(host) not in watched:
            watched.add(id(host))
            offset_ns = clock_of(attempt, host).offset_ns
            if host is not attempt.host_machine():
                yield Watch(name, host, offset_ns)
                continue
            costs = {each.column: each.platform.costs() for each in attempt.instances}
            ours = ours_on_host_machine(attempt, costs)
            attempt.apart[name] = ours.apart
            yield Watch(
                name,
                host,
                offset_ns,
                processes=ours.processes,
                disks={STORE: attempt.instances[0].platform.context.folder},
                costs=_together(costs),
            )


def _generators_by_name(attempt: Attempt) -> dict[str, Host]:
    """The machines that drive the load, as their samples are called: each machine once."""
    hosts: dict[str, Host] = {}
    for number, host in enumerate(attempt.generators(attempt.instances[0]), start=1):
        known = {each.boot_id or each.name for each in hosts.values()}
        if (host.boot_id or host.name) not in known:
            hosts["generator" if number == 1 else f"generator.{number}"] = host
    return hosts


def _limited(instance: Instance) -> dict[str, str]:
    """The control group that limits the processors of the service, where the study sets one."""
    files = [path for one in instance.applied for path in one.watched.get("cgroup.cpus", ())]
    return {SERVICE: files[0].rpartition("/")[0]} if files else {}


def _together(costs: Mapping[str, Costs]) -> Costs:
    """What stands for each instance on the host, by its number."""
    processes: dict[str, int] = {}
    threads: dict[str, Threads] = {}
    cgroups: dict[str, str] = {}
    for name, own in costs.items():
        processes |= _renamed(own.processes, name)
        threads |= {f"{name}.{kind}": group for kind, group in own.threads.items()}
        cgroups |= _renamed(own.cgroups, name)
    return Costs(processes, threads, cgroups)


def _renamed(things: Mapping[str, _Thing], name: str) -> dict[str, _Thing]:
    """What stands for the instance; a platform names the one that matters first."""
    return dict(zip([name], things.values(), strict=False))


def _note_lost_rows(attempt: Attempt) -> None:
    for name, sampled in attempt.sampled.items():
        if sampled.rows_lost:
            attempt.warn(WarningKind.SAMPLES_LOST, machine=name, samples=sampled.rows_lost)
