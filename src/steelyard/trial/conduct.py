"""The life of one trial, on one screen.

hear canary → restore → attach disks → configure → start service → make ready → audit → settle →
drop caches → measure (warm-up and window) → collect → check → undo. Each is a function named so.
Whatever happens, ``undo`` runs and what is known becomes a record.
"""

from __future__ import annotations

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError, HostError
from steelyard.hosts.failures import SystemFailure
from steelyard.plan.model import PlannedTrial
from steelyard.records.schema import Outcome
from steelyard.study.lookup import responses_in, workload_of
from steelyard.systems import disks, services
from steelyard.systems.platform import Platform
from steelyard.trial.attempt.attempt import Attempted, Ending, Scene
from steelyard.trial.attempt.gates import (
    check_gates,
    connection_warnings,
    drift_warnings,
    generator_warnings,
    refuse_by_gates,
    refuse_invalid,
    refuse_unsteady_clock,
)
from steelyard.trial.attempt.idle_wait import wait_until_idle
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.attempt.outcomes import TrialFailed, as_failed, as_host_error
from steelyard.trial.attempt.prepare import (
    configure_inside,
    configure_outside,
    lay_out_disks,
    take_back_inside,
    take_back_outside,
)
from steelyard.trial.attempt.reference_kernel import canary_of
from steelyard.trial.attempt.tools import make_tools_ready
from steelyard.trial.drive.measure import clock_of, measure_all
from steelyard.trial.observe.bottleneck import bottleneck_of
from steelyard.trial.observe.collect import (
    common_of,
    disturbances,
    of_all_instances,
    seen_of,
    warnings_of_probes,
)
from steelyard.trial.observe.cpu_placement import placements
from steelyard.trial.observe.distributions import distributions_of
from steelyard.trial.observe.disturbances import incidents_of
from steelyard.trial.observe.guest_cpu import hidden_wait_warnings, reconciled
from steelyard.trial.observe.responses import SERVICE, measure_responses, wanted_units
from steelyard.trial.session_state.calibrate import calibration_warnings, cell_key, held_against
from steelyard.trial.session_state.context import Stage
from steelyard.trial.session_state.instance_pool import together

FREE_BYTES_NEEDED = 64 * 1024 * 1024


def conduct(stage: Stage, trial: PlannedTrial, attempt: int) -> Attempted:
    """Runs one attempt to its end, good or bad; what went wrong is in the record."""
    scene = Scene(stage, trial, attempt)
    try:
        ending = _perform(scene)
    finally:
        undoing = _undo(scene)
    return scene.attempted(undoing or ending)


def run_reference_kernel(scene: Scene) -> None:
    """Looks what the machine that carries the system is like just now, where the study says so.

    Before anything of the trial is done to it: what a system changes is no state of the machine.
    """
    scene.canary = canary_of(scene)


def restore(scene: Scene) -> None:
    """Brings every instance back to its declared state, proved, with an empty folder."""
    strength = scene.cell.system.reset or scene.stage.study.trials.reset

    def brought_back(platform: Platform) -> Instance:
        proof = platform.reset(strength)
        host = platform.host()
        folder = f"{platform.folder()}/{scene.key}"
        host.remove_tree(folder)
        host.make_directory(folder)
        number = platform.context.instance
        return Instance(number, platform, host, folder, scene.cell.workload_of(number), proof)

    scene.instances = together(brought_back, scene.stage.lodging.house(scene.cell.system))


def attach_disks(scene: Scene) -> None:
    """Attaches every disk of the study, lays them out, and mounts what is made on them."""
    for instance in scene.instances:
        lay_out_disks(scene, instance)


def configure(scene: Scene) -> None:
    """Applies settings: of the machine that carries the system, then inside each instance."""
    configure_outside(scene)
    for instance in scene.instances:
        configure_inside(scene, instance)


def start_service(scene: Scene) -> None:
    """Starts the service that each instance needs, and waits until it says that it is ready."""
    for instance in scene.instances:
        spec = scene.cell.service_of(instance.number)
        if spec is None:
            continue
        instance.service = services.start(
            instance.host,
            spec,
            instance.folder,
            SERVICE,
            address=instance.platform.address(),
            data=instance.data_folder(),
            enter=instance.enter(),
            undo=instance.platform.context.undo,
        )


def make_ready(scene: Scene) -> None:
    """Finds the tools of the workload, and does what has to be done before they are measured."""
    make_tools_ready(scene)


def audit(scene: Scene) -> None:
    """Stores what is true of the machines now, and refuses one that cannot hold the trial."""
    for instance in scene.instances:
        instance.clocks.append(clock_of(scene, instance.host))
        instance.walls.append(instance.host.clock())
        declared = scene.system_facts(instance)
        scene.facts[instance.name] = {**instance.host.facts(), **declared}
        _refuse_full_disk(instance)
    if any(instance.carried for instance in scene.instances):
        scene.facts["host"] = scene.carrier().facts()
    scene.incidents = {host.name: incidents_of(host) for host in scene.machines()}


def settle(scene: Scene) -> None:
    """Waits as long as the study asks, so that what the start stirred up has come to rest."""
    wait_until_idle(scene)


def drop_caches(scene: Scene) -> None:
    """Drops caches where the study says so: inside, and on the machine that carries it."""
    caches = scene.stage.study.caches
    if caches.dropped:
        outside = scene.carrier() if "host" in caches.where else None
        for instance in scene.instances:
            disks.drop_caches(instance.host, outside or instance.host)


def measure(scene: Scene) -> None:
    """Drives the load through warm-up and window while the machines are sampled."""
    measure_all(scene)


def collect(scene: Scene) -> None:
    """Turns what was seen in the window into responses."""
    wanted = wanted_units(scene.cell.study)
    for instance in scene.measured:
        seen = seen_of(scene, instance)
        instance.responses = measure_responses(wanted, seen)
        instance.costs = reconciled(seen)
        if seen.driven is not None and workload_of(instance.workload).request_times:
            instance.distributions = distributions_of(seen.driven)
        scene.bottleneck = scene.bottleneck or bottleneck_of(seen, scene.cores())
    each_one = [each.responses for each in scene.measured]
    common = [common_of(each) for each in scene.measured]
    scene.responses = of_all_instances(wanted, each_one, responses_in(scene.stage.study), common)
    scene.responses |= {k: v for each in scene.measured for k, v in each.found.items()}
    calibration = scene.stage.calibrations.get(cell_key(scene.trial.cell))
    loads = [each.load.result for each in scene.measured if each.load is not None]
    if loads:
        scene.calibration = held_against(calibration, loads)


def check(scene: Scene) -> None:
    """Decides whether the trial counts."""
    for instance in scene.instances:
        _refuse_dead_service(instance)
        instance.placements = placements(instance)
        scene.warnings += hidden_wait_warnings(instance.name, instance.costs)
        instance.clocks.append(clock_of(scene, instance.host))
        instance.walls.append(instance.host.clock())
        scene.warnings += drift_warnings(instance.name, instance.clocks, instance.walls)
    scene.warnings += disturbances(scene)
    for load in scene.loads():
        scene.warnings += generator_warnings(load) + connection_warnings(load)
    scene.warnings += calibration_warnings(scene.calibration)
    scene.warnings += warnings_of_probes(scene)
    scene.gates = check_gates(scene.cell.study.gates, scene.responses)
    if scene.stage.study.clock == "system":
        refuse_unsteady_clock(scene.warnings)
    for load in scene.loads():
        refuse_invalid(load)
    refuse_by_gates(scene.gates, *(load.errors for load in scene.loads()))


def undo(scene: Scene) -> None:
    """Ends what was started and takes back what was changed, in reverse."""
    for instance in reversed(scene.instances):
        if instance.service is not None and not instance.host.lost:
            hurried = scene.stage.interrupt.hurried
            scene.keep_counters(instance, services.stop(instance.service, hurried=hurried))
        take_back_inside(scene, instance)
    take_back_outside(scene)


_PHASES = (
    run_reference_kernel,
    restore,
    attach_disks,
    configure,
    start_service,
    make_ready,
    audit,
    settle,
    drop_caches,
    measure,
    collect,
    check,
)


def _perform(scene: Scene) -> Ending:
    try:
        for phase in _PHASES:
            scene.stage.interrupt.check()
            with scene.timeline.during(phase.__name__), scene.stage.interrupt.cutting():
                phase(scene)
    except BaseException as error:  # noqa: BLE001 - as_failed raises again what is no trial's
        failed = _closer_cause(scene, as_failed(error))
        if scene.timeline.phase == "restore":
            scene.stage.lodging.forget()  # what could not be brought back is made anew
        failure = failed.in_phase(scene.timeline.phase)
        return Ending(failed.outcome, failure, _for_the_operator(error))
    return Ending(Outcome.OK, None)


def _undo(scene: Scene) -> Ending | None:
    try:
        with scene.timeline.during("undo"):
            undo(scene)
    except (AgentRefusal, EngineError, SystemFailure) as error:
        failed = as_failed(error)
        scene.stage.lodging.forget()
        return Ending(Outcome.UNDO_FAILED, failed.in_phase("undo"))
    return None


def _for_the_operator(error: BaseException) -> HostError | None:
    if not isinstance(error, SystemFailure) or not error.for_operator:
        return None
    return as_host_error(error)


def _refuse_full_disk(instance: Instance) -> None:
    free = instance.host.path_facts(instance.data).free_bytes
    if free is not None and free < FREE_BYTES_NEEDED:
        raise TrialFailed(
            Outcome.DISK_FULL,
            f"{free // 2**20} MiB are free where trials store their files, 64 MiB are needed",
            "free some space, or keep results on another disk with --results",
        )


def _closer_cause(scene: Scene, failed: TrialFailed) -> TrialFailed:
    """A service that died explains whatever else went wrong during the load."""
    if scene.timeline.phase != "measure" or failed.outcome in {
        Outcome.INTERRUPTED,
        Outcome.AGENT_LOST,
    }:
        return failed
    try:
        for instance in scene.instances:
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
