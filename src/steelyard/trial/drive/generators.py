"""Several generators that drive one load: each its share, from one common start, to one result.

Every generator is given the whole job and its number; the engine takes its share of it
(``crates/load/src/plan/mod.rs``), and makes one result of all (``report/merge.rs``). Their clocks
are measured before and after, so that it is known how far apart their windows may lie.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from dataclasses import dataclass, field
from typing import Any

from steelyard.engine.agent import AgentRefusal
from steelyard.errors import EngineError
from steelyard.hosts.clocks import ClockOffset
from steelyard.hosts.host import Host, LoadAnswer, read_load
from steelyard.records.missing import MissingKind
from steelyard.records.schema import ClockRecord, GeneratorRecord, Outcome
from steelyard.trial.attempt.generator_windows import window_error_ns
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.attempt.outcomes import TrialFailed
from steelyard.trial.drive.drivers import left_s
from steelyard.trial.observe.responses import throughput_of

_MOMENTS = (
    "window_start_monotonic_ns",
    "window_end_monotonic_ns",
    "first_sent_monotonic_ns",
)
Document = dict[str, Any]


@dataclass(frozen=True)
class Generator:
    """One of several; ``machine`` as the study names it, ``job`` the whole one with its server."""

    number: int
    machine: str
    host: Host
    clock: ClockOffset
    job: Document

    def __str__(self) -> str:
        return f"generator {self.number} ({self.machine})"


def width_of(job: Document) -> int:
    """Users or connections of a job: the most generators that can share it."""
    mode = job["mode"]
    return int(mode["users"] if mode["kind"] == "closed" else mode["connections"])


@dataclass
class SharedLoad:
    """A load that runs on several generators."""

    generators: Sequence[Generator]
    _answers: list[Future[Document]] = field(default_factory=list)

    def begin(self, at_ns: int) -> None:
        """Asks all for their shares, to start at that moment of the controller's clock."""
        for each in self.generators:
            place = {"number": each.number, "of": len(self.generators)}
            at = {"generator": place, "start_at_monotonic_ns": each.clock.there_ns(at_ns)}
            self._answers.append(each.host.start_load(each.job | at))

    def finish(self, deadline_ns: int) -> list[LoadAnswer]:
        """What each said, in their order, as soon as all have or one has failed.

        Raises:
            AgentRefusal, EngineError, TrialFailed: one failed, which is named.
        """
        wait(self._answers, left_s(deadline_ns), FIRST_EXCEPTION)
        failed = [each.done() and each.exception() is not None for each in self._answers]
        in_order = sorted(range(len(failed)), key=lambda i: not failed[i])
        found = {i: _answer_of(self.generators[i], self._answers[i]) for i in in_order}
        return [found[i] for i in range(len(failed))]

    def cancel(self) -> None:
        """Ends it early on those that answer; nothing if it has ended."""
        for each, answer in zip(self.generators, self._answers, strict=False):
            if not each.host.lost and not answer.done():
                each.host.cancel_load()


def _answer_of(generator: Generator, answer: Future[Document]) -> LoadAnswer:
    try:
        return read_load(answer.result(0))
    except AgentRefusal as refusal:
        said = refusal.failure
        refusal.failure = said.model_copy(update={"message": f"{generator}: {said.message}"})
        raise
    except EngineError as error:
        message = f"{generator}: {error.message}"
        raise EngineError(message, hint=error.hint, slug=error.slug) from error
    except TimeoutError:
        raise TrialFailed(
            Outcome.TIMED_OUT,
            f"{generator}: the load run did not end in its time",
            "look whether the machine was suspended or overloaded",
        ) from None


def merged(
    local: Host, generators: Sequence[Generator], answers: Sequence[LoadAnswer]
) -> LoadAnswer:
    """One result of those of all, with the moments of the controller's clock.

    Raises:
        AgentRefusal: they are not those of one load.
    """
    documents = [
        _by_our_clock(answer.document, each.clock.offset_ns)
        for each, answer in zip(generators, answers, strict=True)
    ]
    return read_load(local.merge_loads(documents))


def _by_our_clock(document: Document, offset_ns: int) -> Document:
    load = document["load"]
    moments = {name: load[name] - offset_ns for name in _MOMENTS if load.get(name) is not None}
    return document | {"load": load | moments}


@dataclass
class SharedLoadDrive:
    """A load that several generators drive at the instance's service.

    ``local`` is the controller's machine, ``clock_of`` measures the clock of another.
    """

    instance: Instance
    generators: Sequence[Generator]
    local: Host
    clock_of: Callable[[Host], ClockOffset]
    longest_s: float
    _load: SharedLoad = field(init=False)

    def __post_init__(self) -> None:
        self._load = SharedLoad(self.generators)

    def warmup(self) -> None:
        """The engine warms up in the same run."""

    def begin(self, at_ns: int | None) -> None:
        if at_ns is None:
            raise RuntimeError("several generators need a common start")
        self._load.begin(at_ns)

    def finish(self, deadline_ns: int) -> None:
        answers = self._load.finish(deadline_ns)
        after = [self.clock_of(each.host) for each in self.generators]
        load = merged(self.local, self.generators, answers)
        window = load.result.load
        self.instance.generator_loads = tuple(answers)
        self.instance.generators = tuple(
            _record(*each) for each in zip(self.generators, after, answers, strict=True)
        )
        self.instance.load = load
        self.instance.began_ns = window.first_sent_monotonic_ns
        self.instance.window_ns = (
            window.window_start_monotonic_ns,
            window.window_end_monotonic_ns,
        )

    def cancel(self) -> None:
        self._load.cancel()

    def end_background(self) -> float | None:
        """It has the same window as what is measured, and is waited for."""
        self.finish(time.monotonic_ns() + round(self.longest_s * 1e9))
        return None


def _record(generator: Generator, after: ClockOffset, answer: LoadAnswer) -> GeneratorRecord:
    sent_ns = answer.result.load.first_sent_monotonic_ns
    throughput = throughput_of(answer.result)
    before = generator.clock
    return GeneratorRecord(
        generator=generator.number,
        machine=generator.machine,
        clocks=tuple(
            ClockRecord(offset_ns=c.offset_ns, uncertainty_ns=c.uncertainty_ns, at_ns=c.at_ns)
            for c in (before, after)
        ),
        window_error_ns=window_error_ns(before, after),
        began_ns=None if sent_ns is None else sent_ns - before.offset_ns,
        throughput_per_s=None if isinstance(throughput, MissingKind) else throughput,
    )
