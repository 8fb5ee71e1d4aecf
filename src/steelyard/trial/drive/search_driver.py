"""Drives one instance through the search for the largest load that keeps its limits."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace

from pydantic_core import to_jsonable_python

from steelyard.engine.messages import LoadResult
from steelyard.hosts.clocks import ClockOffset
from steelyard.hosts.host import Host, LoadAnswer, read_load
from steelyard.records.counters import Counters
from steelyard.records.schema import Measured
from steelyard.study.bind import BoundCell
from steelyard.study.ending import by_the_clock
from steelyard.study.model import FindSpec, GateSpec
from steelyard.study.timing import search_window_s, searched_unit
from steelyard.study.workload_study import WorkloadStudy
from steelyard.trial.attempt.gates import check_gates, refuse_invalid
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.drive.drivers import left_s
from steelyard.trial.drive.load_search import (
    BEYOND_THE_STUDY,
    MOST_STEPS,
    Bounds,
    Broken,
    Found,
    Step,
    next_step,
)
from steelyard.trial.observe.responses import Seen, measure_responses
from steelyard.trial.observe.window import WindowSamples
from steelyard.workloads.load import load_job, longest_run_s
from steelyard.workloads.operations.model import Server

PAUSE_S = 0.3
"""Between two runs, for what is queued to drain."""
_LONGEST = 8
"""A run with too few answers for a percentile is made longer, up to so many times."""


@dataclass
class SearchDrive:
    """One run after the other at the load that :mod:`steelyard.trial.drive.load_search` asks for.

    The last run is the window of the trial.
    """

    instance: Instance
    generator: Host
    clock: ClockOffset
    study: WorkloadStudy
    cell: BoundCell
    server: Server
    seed: int
    longest_s: float = field(init=False)
    _answer: Future[dict[str, object]] = field(default_factory=Future)

    def __post_init__(self) -> None:
        self.longest_s = MOST_STEPS * longest_run_s(self.study, by_the_clock(self.cell.workload))

    def warmup(self) -> None:
        """Each run of the engine warms up itself."""

    def begin(self, at_ns: int | None) -> None:
        """The first run starts when it is waited for: nothing else runs beside a search."""

    def finish(self, deadline_ns: int) -> None:
        spec, bounds = _wanted(self.cell), bounds_of(self.study)
        steps: list[Step] = []
        step = next_step(steps, bounds)
        while isinstance(step, Step):
            steps.append(self._tried(step, spec, deadline_ns))
            step = next_step(steps, bounds)
            time.sleep(PAUSE_S)
        self.instance.search = to_jsonable_python(
            {
                "name": spec.name,
                "unit": searched_unit(self.study),
                "bounds": bounds,
                "steps": steps,
                "found": step.load,
                "missing": step.missing,
            }
        )
        self.instance.found = {spec.name: _measured(step, self.study)}

    def cancel(self) -> None:
        if not self.generator.lost and not self._answer.done():
            self.generator.cancel_load()

    def end_background(self) -> float | None:
        raise RuntimeError("a search is what is measured")

    def _tried(self, step: Step, spec: FindSpec, deadline_ns: int) -> Step:
        window_s = self.study.trials.window_s if step.final else search_window_s(self.study)
        for times in (1, 2, 4, _LONGEST):
            load = self._run(step.load, times * window_s, deadline_ns)
            refuse_invalid(load.result)
            broken = broken_limit(load.result, spec.limits)
            if broken is None or broken.missing is None:
                break
        return replace(step, held=broken is None, broken=broken)

    def _run(self, load: float, window_s: float, deadline_ns: int) -> LoadAnswer:
        cell, study = loaded(self.cell, self.study, load), shortened(self.study, window_s)
        job = load_job(study, cell, self.server, self.seed)
        self._answer = self.generator.start_load(job)
        answer = read_load(self._answer.result(left_s(deadline_ns)))
        window = answer.result.load
        self.instance.load = answer
        self.instance.window_ns = (
            window.window_start_monotonic_ns - self.clock.offset_ns,
            window.window_end_monotonic_ns - self.clock.offset_ns,
        )
        return answer


def broken_limit(load: LoadResult, limits: Sequence[GateSpec]) -> Broken | None:
    """The first limit that broke in a run, or that it cannot determine; ``None`` if all held."""
    nothing = WindowSamples(Counters({}), {})
    wanted = {limit.name: limit.unit for limit in limits}
    measured = measure_responses(wanted, Seen(driven=load, window=nothing))
    for checked in check_gates({limit.name: limit for limit in limits}, measured):
        if not checked.held:
            missing = measured[checked.name].missing
            return Broken(checked.name, checked.limit, checked.value, missing)
    return None


def bounds_of(study: WorkloadStudy) -> Bounds:
    """From the smallest load of the study, and well beyond its largest."""
    whole = "load.users" in study.factors
    levels = [float(level) for level in study.factors["load.users" if whole else "load.rate"]]
    least = 1.0 if whole else min(levels) / BEYOND_THE_STUDY
    return Bounds(min(levels), least, BEYOND_THE_STUDY * max(levels), whole)


def loaded(cell: BoundCell, study: WorkloadStudy, load: float) -> BoundCell:
    """The cell of a search at one load; the clock ends each run of it."""
    cell = replace(cell, workload=by_the_clock(cell.workload))
    if "load.users" in study.factors:
        return replace(cell, users=int(load))
    return replace(cell, rate_per_s=load)


def shortened(study: WorkloadStudy, window_s: float) -> WorkloadStudy:
    """The study with a window of its own for one run of a search."""
    changes = {"window_s": window_s, "warmup_s": min(study.trials.warmup_s, window_s)}
    return study.model_copy(update={"trials": study.trials.model_copy(update=changes)})


def _wanted(cell: BoundCell) -> FindSpec:
    if cell.find is None:
        raise ValueError("this cell searches for nothing")
    return cell.find


def _measured(found: Found, study: WorkloadStudy) -> Measured:
    return Measured(value=found.load, unit=searched_unit(study), missing=found.missing)
