"""The life of one trial, on one screen.

restore → start service → audit → settle → measure (warm-up and window) → collect → check → undo.
Each is a function named so. Whatever happens, ``undo`` runs and what is known becomes a record.
"""

from __future__ import annotations

import time

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError
from steelyard.hosts.host import read_load
from steelyard.plan.model import PlannedTrial
from steelyard.records.schema import Outcome
from steelyard.systems import services
from steelyard.trial.calibrate import calibration_doubts, cell_key, held_against
from steelyard.trial.gates import (
    check_gates,
    clock_doubts,
    connection_doubts,
    engine_doubts,
    refuse_by_gates,
    refuse_invalid,
)
from steelyard.trial.limited import limited_by
from steelyard.trial.outcomes import TrialFailed, as_failed
from steelyard.trial.responses import SERVICE, STORE, Seen, measure_responses, wanted_units
from steelyard.trial.scene import Attempted, Ending, Scene
from steelyard.trial.stage import Stage
from steelyard.trial.window import WindowSamples
from steelyard.workloads.load import load_job, longest_run_s

FREE_BYTES_NEEDED = 64 * 1024 * 1024


def conduct(stage: Stage, trial: PlannedTrial, attempt: int) -> Attempted:
    """Runs one attempt to its end, good or bad; what went wrong is in the record."""
    scene = Scene(stage, trial, attempt)
    try:
        ending = _perform(scene)
    finally:
        undoing = _undo(scene)
    return scene.attempted(undoing or ending)


def restore(scene: Scene) -> None:
    """Brings the system back to its declared state: an empty folder, no service."""
    host = scene.host
    host.remove_tree(scene.folder)
    host.make_directory(scene.folder)
    scene.platform.reset(scene.stage.study.trials.reset)


def start_service(scene: Scene) -> None:
    """Starts the service and waits until it says that it is ready."""
    scene.service = services.start(scene.host, scene.cell.service, scene.folder, SERVICE)


def audit(scene: Scene) -> None:
    """Stores what is true of the machine now, and refuses one that cannot hold the trial."""
    scene.clock = scene.host.clock()
    scene.facts["system"] = {**scene.host.facts(), **scene.system_facts()}
    free = scene.host.path_facts(scene.folder).free_bytes
    if free is not None and free < FREE_BYTES_NEEDED:
        raise TrialFailed(
            Outcome.DISK_FULL,
            f"{free // 2**20} MiB are free where trials store their files, 64 MiB are needed",
            "free some space, or keep results on another disk with --results",
        )


def settle(scene: Scene) -> None:
    """Waits as long as the study asks, so that what the start stirred up has come to rest."""
    pause_s = scene.stage.study.trials.settle_s
    if pause_s:
        with scene.stage.interrupt.waiting():
            time.sleep(pause_s)


def measure(scene: Scene) -> None:
    """Drives the load through warm-up and window while the machine is sampled."""
    service = scene.running_service()
    job = load_job(scene.stage.study, scene.cell, scene.server(), scene.seed)
    scene.host.start_sampling(
        interval_s=scene.stage.study.sample.every_s,
        processes={SERVICE: service.pid},
        disks={STORE: scene.folder},
    )
    answer = scene.host.start_load(job)
    try:
        with scene.stage.interrupt.waiting():
            document = answer.result(longest_run_s(scene.stage.study))
    except (KeyboardInterrupt, TimeoutError):
        scene.host.cancel_load()
        raise
    finally:
        scene.keep_samples()
    scene.load = read_load(document)


def collect(scene: Scene) -> None:
    """Turns what was seen in the window into responses."""
    load = scene.measured_load()
    window = WindowSamples.cut(
        scene.samples_frame(),
        scene.missing,
        load.load.window_start_monotonic_ns,
        load.load.window_end_monotonic_ns,
    )
    seen = Seen(load, window)
    scene.responses = measure_responses(wanted_units(scene.stage.study), seen)
    scene.limited = limited_by(seen, scene.cores())
    calibration = scene.stage.calibrations.get(cell_key(scene.trial.cell))
    scene.calibration = held_against(calibration, load)


def check(scene: Scene) -> None:
    """Decides whether the trial counts."""
    load = scene.measured_load()
    _refuse_dead_service(scene)
    scene.doubts += engine_doubts(load) + connection_doubts(load)
    scene.doubts += calibration_doubts(scene.calibration)
    if scene.clock is not None:
        scene.doubts += clock_doubts(scene.clock, scene.host.clock())
    scene.gates = check_gates(scene.stage.study.gates, scene.responses)
    refuse_invalid(load)
    refuse_by_gates(scene.gates, load.errors)


def undo(scene: Scene) -> None:
    """Ends the service and removes what it left."""
    if scene.service is not None:
        try:
            scene.keep_counters(services.stop(scene.service))
        except EngineError:
            scene.stage.lose()  # the service has died with its agent
    scene.platform.host().remove_tree(scene.folder)


_PHASES = (restore, start_service, audit, settle, measure, collect, check)


def _perform(scene: Scene) -> Ending:
    try:
        for phase in _PHASES:
            scene.stage.interrupt.check()
            with scene.timeline.during(phase.__name__):
                phase(scene)
    except BaseException as error:  # noqa: BLE001 - as_failed raises again what is no trial's
        failed = _closer_cause(scene, as_failed(error))
        return Ending(failed.outcome, failed.in_phase(scene.timeline.phase))
    return Ending(Outcome.OK, None)


def _undo(scene: Scene) -> Ending | None:
    try:
        with scene.timeline.during("undo"):
            undo(scene)
    except (AgentRefusal, EngineError) as error:
        failed = as_failed(error)
        return Ending(Outcome.UNDO_FAILED, failed.in_phase("undo"))
    return None


def _closer_cause(scene: Scene, failed: TrialFailed) -> TrialFailed:
    """A service that died explains whatever else went wrong during the load."""
    if scene.timeline.phase != "measure" or failed.outcome in {
        Outcome.INTERRUPTED,
        Outcome.AGENT_LOST,
    }:
        return failed
    try:
        _refuse_dead_service(scene)
    except TrialFailed as closer:
        return closer
    except (AgentRefusal, EngineError):
        return failed
    return failed


def _refuse_dead_service(scene: Scene) -> None:
    service = scene.running_service()
    state = service.host.status(service.name)
    if not state.running:
        raise TrialFailed(
            Outcome.SERVICE_DIED,
            f"the service {state.how_it_ended()}",
            "look for the reason in its own log or the kernel log (out of memory?)",
        )
