"""What the generator can do at most: each job shape of a study against the engine's own server.

Before the trials of a session, and once for each shape: the same protocol, users, threads and
messages, on loopback of the generator's machine. The *capacity* is the throughput with every user
asking as fast as answers come; generator and server share the machine, so it is what both can do
together. It is the largest of several short runs, for other work on the machine can only lower
one; they end when the two largest agree (docs/concepts/generator-calibration.md has figures). The
*baseline latency* is the median response time at the load that the study asks for.
A trial that comes close to the capacity may have measured the generator.

Several generators have a server each, on their own machines, and are measured together: the
capacity is that of all, and what each had of it is its own.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import LoadResult
from steelyard.errors import EngineError
from steelyard.hosts.failures import SystemFailure
from steelyard.plan.model import Cell
from steelyard.records.missing import (
    Missing,
    MissingKind,
    NoServerForWorkload,
    Quoted,
    Reason,
)
from steelyard.records.schema import MOST_OF_A_CAPACITY, Calibration, GeneratorRecord
from steelyard.records.warnings import Figures, TrialWarning, WarningKind
from steelyard.study.bind import BoundCell, bind
from steelyard.study.calibration_server import is_its_own_server, sink_for
from steelyard.study.ending import by_the_clock
from steelyard.study.lookup import workload_of
from steelyard.study.model import LoadSpec, ServiceSpec, Study
from steelyard.study.timing import (
    CAPACITY_AGREES_WITHIN,
    CAPACITY_RUNS,
    MOST_CAPACITY_RUNS,
    calibration_window_s,
)
from steelyard.trial.attempt.outcomes import TrialFailed
from steelyard.trial.observe.responses import throughput_of
from steelyard.trial.session_state.calibration_bench import Bench, bench_with
from steelyard.trial.session_state.context import SessionContext

NEAR_CAPACITY = 0.8


def calibrate(session: SessionContext, cells: Iterable[Cell]) -> dict[str, Calibration]:
    """The generator's capacity and baseline latency for each cell, by :func:`cell_key`.

    Cells of one shape share one measurement. What cannot be calibrated says why; nothing that
    goes wrong here ends the session.

    Raises:
        KeyboardInterrupt: the user asks to stop.
    """
    found: dict[str, Calibration] = {}
    shapes: dict[str, Calibration] = {}
    why_none = _why_none(session)
    for cell in cells:
        bound = bind(session.study, cell)
        sink = sink_for(bound.workload, bound.service_of(1), session.study.generator)
        if sink is None or why_none is not None:
            missing = why_none or NoServerForWorkload(workload=bound.workload.use)
            found[cell_key(cell)] = Calibration(not_calibrated=missing)
            continue
        shape = _shape(bound, sink)
        if shape not in shapes:
            session.interrupt.check()
            shapes[shape] = _measured(session, bound, sink)
        found[cell_key(cell)] = shapes[shape]
    return found


def cell_key(cell: Cell) -> str:
    """Names a cell within its study."""
    return json.dumps([cell.system, cell.conditions], sort_keys=True)


def held_against(
    calibration: Calibration | None,
    loads: Sequence[LoadResult],
    generators: Sequence[GeneratorRecord] = (),
) -> Calibration | None:
    """The calibration with the share of the capacity that a trial reached.

    ``loads`` are those of all measured instances: the same generators drive them all. The share is
    not known when one of them has no throughput. ``generators`` are those of all of them.
    """
    if calibration is None or not calibration.capacity_per_s:
        return calibration
    reached = [throughput_of(load) for load in loads]
    known = [each for each in reached if not isinstance(each, MissingKind)]
    ratio = sum(known) / calibration.capacity_per_s if len(known) == len(loads) else None
    ratios = _ratios(calibration.shares_per_s, generators)
    return calibration.model_copy(update={"ratio": ratio, "ratios": ratios})


def _ratios(
    shares_per_s: Sequence[float], generators: Sequence[GeneratorRecord]
) -> tuple[float, ...]:
    """What each generator reached of its own capacity, in the order of their numbers."""
    reached = [0.0] * len(shares_per_s)
    for each in generators:
        if each.throughput_per_s is None or each.generator > len(shares_per_s):
            return ()
        reached[each.generator - 1] += each.throughput_per_s
    return tuple(a / b for a, b in zip(reached, shares_per_s, strict=True) if b)


def calibration_warnings(calibration: Calibration | None) -> list[TrialWarning]:
    """That a trial came close to what the generator can do at most.

    One that exceeds it shows that the calibration is wrong, and nothing about the generator.
    """
    if calibration is None:
        return []
    reached: list[tuple[Figures, float | None]] = [({}, calibration.ratio)]
    reached += [({"generator": number}, each) for number, each in enumerate(calibration.ratios, 1)]
    near = [
        {"capacity_ratio": ratio, **of}
        for of, ratio in reached
        if ratio is not None and NEAR_CAPACITY < ratio <= MOST_OF_A_CAPACITY
    ]
    kind = WarningKind.GENERATOR_NEAR_CAPACITY
    return [TrialWarning(kind=kind, figures=figures) for figures in near]


def _why_none(session: SessionContext) -> Missing | None:
    generator = session.study.generator
    if generator.calibrate is False:
        return Reason(kind="calibration_off")
    if generator.calibrate:
        return None
    every = (bind(session.study, cell) for cell in session.plan.every_cell)
    if all(is_its_own_server(b.workload, b.service_of(1), b.system, generator) for b in every):
        return Reason(kind="calibrates_itself")
    return None


def _measured(session: SessionContext, bound: BoundCell, sink: ServiceSpec) -> Calibration:
    started_ns = time.monotonic_ns()
    try:
        calibration = _on_bench(session, bound, sink)
    except AgentRefusal as refusal:
        calibration = _failed(sink, refusal.failure.message)
    except SystemFailure as failure:
        calibration = _failed(sink, failure.message)
    except EngineError as error:
        for address in session.study.generator.hosts:
            session.machines.lose(address)
        calibration = _failed(sink, error.message)
    except TrialFailed as failed:
        calibration = _failed(sink, failed.message)
    except TimeoutError:
        missing = Reason(kind="calibration_timed_out")
        calibration = Calibration(sink=sink.use, not_calibrated=missing)
    return calibration.model_copy(update={"took_ns": time.monotonic_ns() - started_ns})


def _failed(sink: ServiceSpec, said: str) -> Calibration:
    missing = Quoted(kind="calibration_failed", said=said)
    return Calibration(sink=sink.use, not_calibrated=missing)


def _on_bench(session: SessionContext, bound: BoundCell, sink: ServiceSpec) -> Calibration:
    with bench_with(session, sink) as bench:
        return _figures(bench, bound, sink)


def _figures(bench: Bench, bound: BoundCell, sink: ServiceSpec) -> Calibration:
    study = _short(bench.session.study)
    full, asked = _as_fast_as_it_goes(bound), _with_what_the_sink_has(bound)
    runs = [bench.run(study, full)]
    while not is_enough([run.known_throughput for run in runs]):
        runs.append(bench.run(study, full))
    fast = max(runs, key=lambda run: run.known_throughput)
    capacity = throughput_of(fast.result)
    same_load = (full.load, full.workload) == (asked.load, asked.workload)
    quiet = fast if same_load else bench.run(study, asked)
    response = quiet.result.latency_ns.get("response")
    return Calibration(
        sink=sink.use,
        capacity_per_s=None if isinstance(capacity, MissingKind) else capacity,
        shares_per_s=fast.shares_per_s,
        baseline_latency_ns=None if response is None else response.p50,
        not_calibrated=capacity if isinstance(capacity, MissingKind) else None,
    )


def is_enough(throughputs: Sequence[float]) -> bool:
    """Whether another run would hardly show a larger capacity: the two largest agree."""
    if not CAPACITY_RUNS <= len(throughputs) < MOST_CAPACITY_RUNS:
        return len(throughputs) >= MOST_CAPACITY_RUNS
    second, largest = sorted(throughputs)[-2:]
    return second >= largest * (1 - CAPACITY_AGREES_WITHIN)


def _short(study: Study) -> Study:
    window_s = calibration_window_s(study)
    short = {
        "window_s": window_s,
        "warmup_s": min(study.trials.warmup_s, window_s / 5),
        "drain_s": min(study.trials.drain_s, 1.0),
    }
    return study.model_copy(update={"trials": study.trials.model_copy(update=short)})


def _with_what_the_sink_has(bound: BoundCell, **changes: Any) -> BoundCell:
    how = workload_of(bound.workload).calibration
    instead: Mapping[str, Any] = {} if how is None else how.settings
    instead = {name: value for name, value in instead.items() if name not in LOADS}
    workload = by_the_clock(bound.workload)
    settings = workload.settings | instead | changes
    return replace(bound, workload=workload.model_copy(update={"settings": settings}))


LOADS = ("pace", "user_rate")
"""Settings that hold users back: kept for the baseline latency, taken away for the capacity."""


def _as_fast_as_it_goes(bound: BoundCell) -> BoundCell:
    load = bound.load or LoadSpec()
    width = load.connections if load.mode == "open" else bound.users
    unbound = {name: 0.0 for name in LOADS if bound.workload.settings.get(name)}
    return replace(
        _with_what_the_sink_has(bound, **unbound), load=LoadSpec(), users=width, rate_per_s=None
    )


def _shape(bound: BoundCell, sink: ServiceSpec) -> str:
    workload = bound.workload.model_dump(mode="json")
    load = None if bound.load is None else bound.load.model_dump(mode="json")
    shape = [workload, load, bound.users, bound.rate_per_s, sink.model_dump(mode="json")]
    return json.dumps(shape, sort_keys=True)
