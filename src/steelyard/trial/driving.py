"""What drives one instance: a load from outside, or commands on the system itself."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Protocol

from steelyard.engine.messages import Ran
from steelyard.hosts.clocks import ClockOffset
from steelyard.hosts.host import Host, read_load, read_ran
from steelyard.records.schema import Outcome
from steelyard.trial.instance import Instance
from steelyard.trial.outcomes import TrialFailed
from steelyard.workloads.runs import Timed

_WORDS_KEPT = 2000


class Drive(Protocol):
    """One instance at work. Moments are those of the controller's monotonic clock.

    ``longest_s`` is how long it may take before it counts as hung.
    """

    instance: Instance
    longest_s: float

    def begin(self, at_ns: int | None) -> None:
        """Asks for it, to start at that moment, or at once."""

    def finish(self, deadline_ns: int) -> None:
        """Waits for its end and keeps what came of it.

        Raises:
            AgentRefusal, EngineError, TimeoutError: it could not be done, or not in time.
            TrialFailed: a command failed.
        """

    def cancel(self) -> None:
        """Ends it early; nothing if it has ended."""

    def end_beside(self) -> float | None:
        """Ends what ran beside; seconds that it had been idle for by then, ``None`` if not.

        Raises:
            TrialFailed: it had failed by then.
        """


@dataclass
class LoadDrive:
    """A load that a generator drives at the instance's service."""

    instance: Instance
    generator: Host
    clock: ClockOffset
    job: dict[str, Any]
    longest_s: float
    _answer: Future[dict[str, Any]] = field(default_factory=Future)

    def begin(self, at_ns: int | None) -> None:
        at = {} if at_ns is None else {"start_at_monotonic_ns": at_ns + self.clock.offset_ns}
        self._answer = self.generator.start_load(self.job | at)

    def finish(self, deadline_ns: int) -> None:
        load = read_load(self._answer.result(left_s(deadline_ns)))
        window = load.result.load
        self.instance.load = load
        sent_ns = window.first_sent_monotonic_ns
        self.instance.began_ns = None if sent_ns is None else sent_ns - self.clock.offset_ns
        self.instance.window_ns = (
            window.window_start_monotonic_ns - self.clock.offset_ns,
            window.window_end_monotonic_ns - self.clock.offset_ns,
        )

    def cancel(self) -> None:
        if not self.generator.lost and not self._answer.done():
            self.generator.cancel_load()

    def end_beside(self) -> float | None:
        """It has the same window as what is measured, and is waited for."""
        self.finish(time.monotonic_ns() + round(self.longest_s * 1e9))
        return None


@dataclass
class RunDrive:
    """Commands that run on the instance, one after the other; all but the first start at once."""

    instance: Instance
    clock: ClockOffset
    commands: Sequence[Sequence[str]]
    longest_s: float
    _first: Future[dict[str, Any]] = field(default_factory=Future)
    _began_ns: int = 0

    def begin(self, at_ns: int | None) -> None:
        self._began_ns = time.monotonic_ns() if at_ns is None else at_ns
        self._first = self.instance.host.submit_run(
            list(self.commands[0]),
            timeout_s=self.longest_s,
            directory=self.instance.folder,
            start_at_monotonic_ns=None if at_ns is None else at_ns + self.clock.offset_ns,
        )

    def finish(self, deadline_ns: int) -> None:
        ran = read_ran(self._first.result(left_s(deadline_ns)))
        self.instance.began_ns = ran.started_monotonic_ns - self.clock.offset_ns
        self._keep(ran, self._began_ns)
        for words in self.commands[1:]:
            started_ns = time.monotonic_ns()
            remaining_s = left_s(deadline_ns)
            ran = self.instance.host.run(
                list(words), timeout_s=remaining_s, directory=self.instance.folder
            )
            self._keep(ran, started_ns)
        self.instance.window_ns = (self._began_ns, time.monotonic_ns())

    def cancel(self) -> None:
        if not self.instance.host.lost and not self._first.done():
            self.instance.host.cancel_runs()

    def end_beside(self) -> float | None:
        if not self._first.done():
            self.instance.host.cancel_runs()
            self._first.result(60)
            return None
        ran = read_ran(self._first.result(0))
        _refuse_failed(ran, self.commands[0])
        ended_ns = ran.ended_monotonic_ns - self.clock.offset_ns
        return (time.monotonic_ns() - ended_ns) / 1e9

    def _keep(self, ran: Ran, started_ns: int) -> None:
        _refuse_failed(ran, self.commands[len(self.instance.ran)])
        self.instance.ran.append(Timed(ran, started_ns, time.monotonic_ns()))


def left_s(deadline_ns: int) -> float:
    """Seconds until a moment of the controller's clock, none if it has passed."""
    return max(0.0, (deadline_ns - time.monotonic_ns()) / 1e9)


def _refuse_failed(ran: Ran, words: Sequence[str]) -> None:
    if ran.timed_out:
        raise TrialFailed(
            Outcome.TIMED_OUT,
            f"`{words[0]}` did not end in its time",
            "give the trial more time with `timeout`",
        )
    if ran.exit_code != 0:
        how = f"exit code {ran.exit_code}" if ran.signal is None else f"signal {ran.signal}"
        said = (ran.stderr or ran.stdout).strip()[-_WORDS_KEPT:]
        raise TrialFailed(
            Outcome.COMMAND_FAILED,
            f"`{words[0]}` ended with {how}: {said or 'it said nothing'}",
            "run the command by hand on the system",
        )
