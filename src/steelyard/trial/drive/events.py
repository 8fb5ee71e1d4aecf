"""The events of a study, each on its machine at its moment of the window.

The agent of the machine starts the command by its own clock, as it starts a load. What did not
happen as declared ends the trial with an outcome of its own: no dip is judged without its cause.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from steelyard.engine.agent import AgentRefusal
from steelyard.engine.messages import Ran
from steelyard.hosts.clocks import ClockOffset
from steelyard.hosts.host import Host, read_ran
from steelyard.hosts.undo.actions.command import Command
from steelyard.records.schema import EventRecord, Outcome
from steelyard.study.declared.placeholders import Value, fill_known
from steelyard.study.model import EventSpec
from steelyard.trial.attempt.attempt import Attempt
from steelyard.trial.attempt.outcomes import TrialFailed
from steelyard.workloads.load import EVENT_ROWS
from steelyard.workloads.tools.ready import PLAIN_WORDS

_ANSWERED_S = 30.0


@dataclass
class EventDrive:
    """One event of a trial. ``ahead_ns`` is from the common start to its moment."""

    event: EventSpec
    host: Host
    clock: ClockOffset
    words: list[str]
    ahead_ns: int
    _answer: Future[dict[str, Any]] = field(default_factory=Future)

    def begin(self, at_ns: int) -> None:
        """Asks for it; ``at_ns`` is the common start of all loads by the controller's clock."""
        self._answer = self.host.submit_run(
            self.words,
            timeout_s=self.event.within_s,
            environment=PLAIN_WORDS,
            start_at_monotonic_ns=at_ns + self.ahead_ns + self.clock.offset_ns,
        )

    def finish(self) -> EventRecord:
        """When it happened, once the loads are over.

        Raises:
            TrialFailed: ``event_failed``.
            EngineError: the agent of its machine is gone.
        """
        try:
            ran = read_ran(self._answer.result(_ANSWERED_S))
        except AgentRefusal as refusal:
            raise self._failed(f"did not happen: {refusal.failure.message}") from refusal
        if not ran.succeeded:
            raise self._failed(_how(ran, self.event.within_s))
        return EventRecord(
            event=self.event.name,
            machine=self.event.on,
            began_ns=ran.started_monotonic_ns - self.clock.offset_ns,
            ended_ns=ran.ended_monotonic_ns - self.clock.offset_ns,
            uncertainty_ns=self.clock.uncertainty_ns,
        )

    def cancel(self) -> None:
        """Ends it early; nothing if it has ended."""
        if not self.host.lost and not self._answer.done():
            self.host.cancel_runs()

    def _failed(self, how: str) -> TrialFailed:
        message = f"event `{self.event.name}` {how}"
        return TrialFailed(Outcome.EVENT_FAILED, message, "run its command by hand on that machine")


def _how(ran: Ran, within_s: float) -> str:
    return f"took more than {within_s:g} s" if ran.timed_out else ran.how_it_ended()


def events_of(attempt: Attempt) -> list[EventDrive]:
    """Every event of the study, ready to begin; what undoes it is in the ledger."""
    drives = []
    for event in attempt.cell.study.events.values():
        host = _machine(attempt, event.on)
        given = _given(attempt)
        if event.undo:
            words = tuple(fill_known(word, given) for word in event.undo)
            inverse = Command(words, f"run `{' '.join(words)}`")
            machine = attempt.session.machines.address_of(host)
            pending = attempt.session.undo.plan(machine, inverse)
            attempt.instances[0].undos.append((host, pending))
        words_now = [fill_known(word, given) for word in event.command]
        clock = attempt.session.clock_of(host)
        drives.append(EventDrive(event, host, clock, words_now, _ahead_ns(attempt, event)))
    return drives


def _machine(attempt: Attempt, on: str) -> Host:
    first = attempt.instances[0]
    if on == "system":
        return first.host
    if on == "generator":
        return attempt.generator(first)
    return attempt.host_machine() if on == "host" else attempt.session.machines.at(on)


def _given(attempt: Attempt) -> dict[str, Value]:
    """What the words of a command may name: of the first instance."""
    instance = attempt.instances[0]
    given: dict[str, Value] = {
        "system": attempt.trial.cell.system,
        "instance": instance.platform.context.label,
        "folder": instance.folder,
        "data": instance.data,
        "study": attempt.session.study_folder,
    }
    given |= {name: disk.plan.mount_point for name, disk in instance.prepared.items()}
    if instance.service is not None:
        given |= {"pid": next(iter(instance.service.processes.values()), None)}
    return {name: value for name, value in given.items() if value is not None}


def _ahead_ns(attempt: Attempt, event: EventSpec) -> int:
    """The moment declared, and up to one interval of the course later, another in each trial: so
    that the intervals, which all begin at the same moments, favour no length of a dip.
    """
    trials = attempt.session.study.trials
    text = f"{attempt.seed(attempt.instances[0])}:{event.name}"
    drawn = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") / 2**64
    later_s = drawn * trials.window_s / EVENT_ROWS
    return round((trials.warmup_s + event.at_s + later_s) * 1e9)


def keep_events(attempt: Attempt, drives: list[EventDrive]) -> None:
    """Keeps when each event happened, and refuses one that the window does not show.

    Raises:
        TrialFailed: ``event_failed`` or ``event_missed``.
        EngineError: the agent of a machine is gone.
    """
    attempt.events = [drive.finish() for drive in drives]
    for drive, event in zip(drives, attempt.events, strict=True):
        begin_ns, end_ns = attempt.span_ns()
        last_ns = end_ns - round(drive.event.calm_s * 1e9)
        if not begin_ns <= event.began_ns <= last_ns:
            after_s = (event.began_ns - begin_ns) / 1e9
            raise TrialFailed(
                Outcome.EVENT_MISSED,
                f"event `{event.event}` began {after_s:.3f} s after the start of the window, not "
                f"{drive.event.at_s:g} s",
                "look whether its machine was suspended or overloaded",
            )
