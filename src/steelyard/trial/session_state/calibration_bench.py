"""Where generators are calibrated: a server of the engine's own beside each, on its machine."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from steelyard.engine.messages import LoadResult
from steelyard.hosts.host import Host, read_load
from steelyard.hosts.undo.actions.files import RemoveTree
from steelyard.records.missing import MissingKind
from steelyard.study.bind import BoundCell
from steelyard.study.model import ServiceSpec, Study
from steelyard.systems import services
from steelyard.trial.drive.generators import Generator, SharedLoad, merged, width_of
from steelyard.trial.observe.responses import throughput_of
from steelyard.trial.session_state.context import SessionContext
from steelyard.workloads.load import load_job, longest_run_s
from steelyard.workloads.operations.model import Document, Server

SINK = "calibration"
_AHEAD_NS = 300_000_000
"""From the first job sent to the common start of several generators."""


@dataclass(frozen=True)
class BenchRun:
    """One short run, and what each of several generators had of its throughput."""

    result: LoadResult
    shares_per_s: tuple[float, ...] = ()

    @property
    def known_throughput(self) -> float:
        return _known_throughput(self.result)


@dataclass(frozen=True)
class Bench:
    """Servers of the engine's own that are ready, and who asks each: a machine asks its own."""

    session: SessionContext
    places: Sequence[tuple[Host, Server]]

    def run(self, study: Study, bound: BoundCell) -> BenchRun:
        """One short run.

        Raises:
            AgentRefusal: the engine cannot run it.
            SystemFailure: it is of another version.
            TimeoutError, TrialFailed: it did not end in its time.
        """
        seed, longest_s = self.session.plan.seed, longest_run_s(study, bound.workload)
        jobs = [load_job(study, bound, server, seed) for _, server in self.places]
        if len(jobs) == 1:
            return BenchRun(self._alone(self.places[0][0], jobs[0], longest_s))
        return self._together(jobs, longest_s)

    def _alone(self, host: Host, job: Document, longest_s: float) -> LoadResult:
        answer = host.start_load(job)
        try:
            with self.session.interrupt.waiting():
                return read_load(answer.result(longest_s)).result
        except (KeyboardInterrupt, TimeoutError):
            host.cancel_load()
            raise

    def _together(self, jobs: Sequence[Document], longest_s: float) -> BenchRun:
        machines = self.session.study.generator.hosts
        generators = [
            Generator(number, machine, host, self.session.clock_of(host), job)
            for number, (machine, (host, _), job) in enumerate(
                zip(machines, self.places, jobs, strict=True), start=1
            )
        ][: width_of(jobs[0])]
        load = SharedLoad(generators)
        try:
            load.begin(time.monotonic_ns() + _AHEAD_NS)
            with self.session.interrupt.waiting():
                answers = load.finish(time.monotonic_ns() + round(longest_s * 1e9))
        except BaseException:
            load.cancel()
            raise
        whole = merged(self.session.local(), generators, answers).result
        return BenchRun(whole, tuple(_known_throughput(answer.result) for answer in answers))


@contextmanager
def bench_with(session: SessionContext, sink: ServiceSpec) -> Iterator[Bench]:
    """A bench of all generators of the study, taken away at its end."""
    with ExitStack() as stack:
        yield Bench(
            session,
            [
                stack.enter_context(_served(session, sink, address, place))
                for place, address in enumerate(session.study.generator.hosts, start=1)
            ],
        )


@contextmanager
def _served(
    session: SessionContext, sink: ServiceSpec, address: str, place: int
) -> Iterator[tuple[Host, Server]]:
    """A generator with the server beside it."""
    host = session.machines.generator(1, address, None, place)
    folder = session.folder_on(host, SINK if place == 1 else f"{SINK}-{place}")
    pending = session.undo.plan(address, RemoveTree(folder))
    try:
        host.make_directory(folder)
        running = services.start(host, sink, folder, SINK)
        try:
            yield host, Server(running.address, running.listeners, running.authority)
        finally:
            if not host.lost:
                services.stop(running)
    finally:
        if host.lost:
            session.apply_by_a_new_agent(pending)
        else:
            session.undo.apply(host, pending)


def _known_throughput(load: LoadResult) -> float:
    found = throughput_of(load)
    return 0.0 if isinstance(found, MissingKind) else found
