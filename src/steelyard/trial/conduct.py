"""The life of one trial, on one screen.

reference kernel → restore → attach disks → configure → start service → make ready → audit →
settle → drop caches → measure (warm-up and window) → collect → check → end services → check disks →
undo. Each is a function of that name, the last three in ``finish``. Whatever happens, ``undo`` runs
and what is known becomes a record.

Where systems stay up, the first trial of each prepares it, the others ``reuse`` what stands, and
only a trial that failed undoes it: of all systems, so that all are prepared anew.
"""

from __future__ import annotations

from collections.abc import Callable

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError
from steelyard.hosts.failures import SystemFailure
from steelyard.plan.model import PlannedTrial
from steelyard.records.schema import Outcome
from steelyard.study.lookup import responses_in, workload_of
from steelyard.study.model import Reset
from steelyard.systems import disks, services
from steelyard.systems.platform import Platform
from steelyard.trial.attempt.attempt import Attempt, AttemptResult, Ending
from steelyard.trial.attempt.gates import (
    check_gates,
    connection_warnings,
    drift_warnings,
    generator_warnings,
    refuse_by_gates,
    refuse_invalid,
    refuse_unsteady_clock,
)
from steelyard.trial.attempt.generator_windows import (
    generator_clock_warnings,
    refuse_windows_apart,
)
from steelyard.trial.attempt.idle_wait import wait_until_idle
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.attempt.outcomes import (
    TrialFailed,
    as_failed,
    not_by_the_user,
    what_ends_the_session,
)
from steelyard.trial.attempt.overlap import overlap_warnings
from steelyard.trial.attempt.prepare import (
    configure_inside,
    configure_outside,
    lay_out_disks,
    refuse_changed_settings,
)
from steelyard.trial.attempt.reference_kernel import reference_kernel_of
from steelyard.trial.attempt.servers_of_disks import refuse_failed_servers, server_failed
from steelyard.trial.attempt.tools import make_tools_ready
from steelyard.trial.attempt.wall_clocks import read_walls, steps
from steelyard.trial.drive.measure import clock_of, measure_all
from steelyard.trial.finish import finish
from steelyard.trial.observe.bottleneck import bottleneck_of, machine_cpu
from steelyard.trial.observe.collect import (
    common_of,
    disturbances,
    of_all_instances,
    seen_of,
    warnings_of_meter,
    warnings_of_probes,
)
from steelyard.trial.observe.cpu_placement import placements
from steelyard.trial.observe.disturbances import incidents_of
from steelyard.trial.observe.guest_cpu import hidden_wait_warnings, reconciled
from steelyard.trial.observe.latencies import distributions_of
from steelyard.trial.observe.latency_patterns import pattern_warnings
from steelyard.trial.observe.responses import SERVICE, measure_responses, wanted_units
from steelyard.trial.preflight import refuse_full_disk
from steelyard.trial.session_state.calibrate import calibration_warnings, cell_key, held_against
from steelyard.trial.session_state.context import SessionContext
from steelyard.trial.session_state.instance_pool import together


def conduct(session: SessionContext, trial: PlannedTrial, number: int) -> AttemptResult:
    """Runs one attempt to its end, good or bad; what went wrong is in the record."""
    attempt = Attempt(session, trial, number)
    ending = None
    try:
        ending = _perform(attempt)
    finally:
        finished = finish(attempt, ending)
    return attempt.result(finished or ending)


def reuse(attempt: Attempt) -> None:
    """Takes the system as the trial before left it."""
    kept = attempt.session.kept[attempt.trial.cell.system]
    attempt.instances = [
        each.again(attempt.cell.workload_of(each.number)) for each in kept.instances
    ]


def run_reference_kernel(attempt: Attempt) -> None:
    """Looks what the machine that carries the system is like just now, where the study says so.

    Before anything of the trial is done to it: what a system changes is no state of the machine.
    """
    attempt.reference_kernel = reference_kernel_of(attempt)


def restore(attempt: Attempt) -> None:
    """Brings every instance back to its declared state, proved, with an empty folder."""
    strength = attempt.cell.system.reset or attempt.session.study.trials.reset
    weakest: Reset = "service" if strength == "none" else strength

    def brought_back(platform: Platform) -> Instance:
        proof = platform.reset(weakest)
        host = platform.host()
        folder = f"{platform.folder()}/{attempt.key}"
        host.remove_tree(folder)
        host.make_directory(folder)
        number = platform.context.instance
        return Instance(number, platform, host, folder, attempt.cell.workload_of(number), proof)

    up = attempt.session.pool.bring_up(attempt.cell.system, beside=attempt.stays_up)
    attempt.instances = together(brought_back, up)


def attach_disks(attempt: Attempt) -> None:
    """Attaches every disk of the study, lays them out, and mounts what is made on them."""
    for instance in attempt.instances:
        lay_out_disks(attempt, instance)


def configure(attempt: Attempt) -> None:
    """Applies settings: of the machine that carries the system, then inside each instance."""
    configure_outside(attempt)
    for instance in attempt.instances:
        configure_inside(attempt, instance)


def start_service(attempt: Attempt) -> None:
    """Starts the service that each instance needs, and waits until it says that it is ready."""
    for instance in attempt.instances:
        spec = attempt.cell.service_of(instance.number)
        if spec is None or instance.service is not None:
            continue
        instance.service = services.start(
            instance.host,
            spec,
            instance.folder,
            f"{SERVICE} of {instance.platform.context.label}",
            address=instance.platform.address(),
            data=instance.data_folder(),
            study=attempt.session.study_folder,
            enter=instance.enter(),
            undo=instance.platform.context.undo,
        )


def make_ready(attempt: Attempt) -> None:
    """Finds the tools of the workload, and does what has to be done before they are measured."""
    make_tools_ready(attempt)


def audit(attempt: Attempt) -> None:
    """Stores what is true of the machines now, and refuses one that cannot hold the trial."""
    for instance in attempt.instances:
        instance.clocks.append(clock_of(attempt, instance.host))
        declared = attempt.system_facts(instance)
        own = instance.host.facts() if instance.has_agent else {}
        attempt.facts[instance.name] = {**own, **declared}
        _refuse_full_disk(instance)
    if any(instance.carried for instance in attempt.instances):
        attempt.facts["host"] = attempt.host_machine().facts()
    attempt.incidents = {host.name: incidents_of(host) for host in attempt.machines()}
    attempt.walls = read_walls(attempt)


def settle(attempt: Attempt) -> None:
    """Waits as long as the study asks, so that what the start stirred up has come to rest."""
    wait_until_idle(attempt)


def drop_caches(attempt: Attempt) -> None:
    """Drops caches where the study says so: inside, and on the machine that carries it."""
    caches = attempt.session.study.caches
    if caches.dropped:
        outside = attempt.host_machine() if "host" in caches.where else None
        for instance in attempt.instances:
            disks.drop_caches(instance.host, outside or instance.host)


def measure(attempt: Attempt) -> None:
    """Drives the load through warm-up and window while the machines are sampled."""
    measure_all(attempt)


def collect(attempt: Attempt) -> None:
    """Turns what was seen in the window into responses."""
    wanted = wanted_units(attempt.cell.study)
    for instance in attempt.measured:
        seen = seen_of(attempt, instance)
        instance.responses = measure_responses(wanted, seen)
        instance.costs = reconciled(seen)
        if seen.driven is not None and workload_of(instance.workload).request_times:
            instance.distributions = distributions_of(seen.driven)
        attempt.bottleneck = attempt.bottleneck or bottleneck_of(seen)
        attempt.cpu_ratios.append(machine_cpu(seen))
    each_one = [each.responses for each in attempt.measured]
    common = [common_of(each) for each in attempt.measured]
    attempt.responses = of_all_instances(
        wanted, each_one, responses_in(attempt.session.study), common
    )
    attempt.responses |= {k: v for each in attempt.measured for k, v in each.found.items()}
    calibration = attempt.session.calibrations.get(cell_key(attempt.trial.cell))
    loads = [each.load.result for each in attempt.measured if each.load is not None]
    if loads:
        generators = [one for each in attempt.measured for one in each.generators]
        attempt.calibration = held_against(calibration, loads, generators)


def check(attempt: Attempt) -> None:
    """Decides whether the trial counts."""
    refuse_failed_servers(attempt)
    if attempt.outside is not None:
        outside = attempt.outside
        refuse_changed_settings(outside.host, outside.applied, outside.held)
    for instance in attempt.instances:
        _refuse_dead_service(instance)
        refuse_changed_settings(instance.host, instance.applied, instance.held)
        instance.placements = placements(instance)
        attempt.warnings += hidden_wait_warnings(instance.name, instance.costs)
        instance.clocks.append(clock_of(attempt, instance.host))
        attempt.warnings += drift_warnings(instance.name, instance.clocks)
        if instance.generators and instance.load is not None:
            window_ns = instance.load.result.load.window_ns
            attempt.warnings += generator_clock_warnings(instance.generators, window_ns)
    works = [each.work_ns or each.window_ns for each in attempt.measured]
    attempt.warnings += overlap_warnings(works)
    attempt.warnings += steps(attempt)
    attempt.warnings += disturbances(attempt)
    for load in attempt.loads():
        attempt.warnings += generator_warnings(load) + connection_warnings(load)
        attempt.warnings += pattern_warnings(load)
    attempt.warnings += calibration_warnings(attempt.calibration)
    attempt.warnings += warnings_of_probes(attempt)
    attempt.warnings += warnings_of_meter(attempt)
    attempt.gates = check_gates(attempt.cell.study.gates, attempt.responses)
    if attempt.session.study.clock == "system":
        timed_by = {instance.name for instance in attempt.instances}
        refuse_unsteady_clock(
            [each for each in attempt.warnings if each.figures.get("machine") in timed_by]
        )
    refuse_windows_apart(attempt.warnings)
    for load in attempt.loads():
        refuse_invalid(load)
    refuse_by_gates(attempt.gates, list(attempt.loads()))


_PREPARING = (restore, attach_disks, configure, start_service)
_MEASURING = (
    make_ready,
    audit,
    settle,
    drop_caches,
    measure,
    collect,
    check,
)


def _phases(attempt: Attempt) -> tuple[Callable[[Attempt], None], ...]:
    prepared = attempt.trial.cell.system in attempt.session.kept
    return (run_reference_kernel, *((reuse,) if prepared else _PREPARING), *_MEASURING)


def _perform(attempt: Attempt) -> Ending:
    try:
        for phase in _phases(attempt):
            attempt.session.interrupt.check()
            with attempt.timeline.during(phase.__name__), attempt.session.interrupt.cutting():
                phase(attempt)
    except BaseException as error:  # noqa: BLE001 - as_failed raises again what is no trial's
        failed = _closer_cause(attempt, as_failed(error))
        if not attempt.session.interrupt.asked:
            failed = not_by_the_user(failed)
        if attempt.timeline.phase == "restore":
            attempt.session.pool.forget()  # what could not be brought back is made anew
        failure = failed.in_phase(attempt.timeline.phase)
        return Ending(failed.outcome, failure, what_ends_the_session(error, failed))
    return Ending(Outcome.OK, None)


def _refuse_full_disk(instance: Instance) -> None:
    try:
        refuse_full_disk(instance.host, instance.folder)
    except SystemFailure as failure:
        raise TrialFailed(Outcome.DISK_FULL, failure.message, failure.hint) from failure


def _closer_cause(attempt: Attempt, failed: TrialFailed) -> TrialFailed:
    """What explains whatever else went wrong: a disk whose server failed, a service that died."""
    if failed.outcome is Outcome.INTERRUPTED:
        return failed
    of_a_disk = server_failed(attempt)
    if of_a_disk is not None:
        return of_a_disk
    if attempt.timeline.phase != "measure" or failed.outcome is Outcome.AGENT_LOST:
        return failed
    try:
        for instance in attempt.instances:
            _refuse_dead_service(instance)
    except TrialFailed as closer:
        return closer
    except (AgentRefusal, EngineError):
        return failed
    return failed


def _refuse_dead_service(instance: Instance) -> None:
    if instance.service is None:
        return
    died = services.how_it_died(instance.service)
    if died is not None:
        raise TrialFailed(
            Outcome.SERVICE_DIED,
            died,
            "look for the reason in its own log or the kernel log (out of memory?)",
        )
