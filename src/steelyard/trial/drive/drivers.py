"""What drives one instance: a load of the engine, or a tool."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from steelyard.engine.messages import Ran
from steelyard.hosts.clocks import ClockOffset
from steelyard.hosts.host import Host, read_load, read_ran
from steelyard.records.schema import Outcome
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.attempt.outcomes import TrialFailed
from steelyard.trial.observe.outputs import keep_outputs
from steelyard.workloads.tools.ready import PLAIN_WORDS, ReadyTool
from steelyard.workloads.tools.timed import Timed

_WORDS_KEPT = 2000


class Drive(Protocol):
    """One instance at work. Moments are those of the controller's monotonic clock.

    ``longest_s`` is how long it may take before it counts as hung.
    """

    instance: Instance
    longest_s: float

    def warmup(self) -> None:
        """What has to run before all begin together; most warm up by themselves.

        Raises:
            TrialFailed: it failed.
        """

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

    def end_background(self) -> float | None:
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
    job: dict[str, object]
    longest_s: float
    _answer: Future[dict[str, object]] = field(default_factory=Future)

    def warmup(self) -> None:
        """The engine warms up in the same run."""

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

    def end_background(self) -> float | None:
        """It has the same window as what is measured, and is waited for."""
        self.finish(time.monotonic_ns() + round(self.longest_s * 1e9))
        return None


@dataclass
class RunDrive:
    """A tool that runs for the instance: its commands one after the other, the first at a time.

    What they wrote is kept before it is asked whether they went well.
    """

    instance: Instance
    clock: ClockOffset
    tool: ReadyTool
    longest_s: float
    own_clock: bool = False
    """Whether the machine's own clock says how long its commands took."""
    _first: Future[dict[str, object]] = field(default_factory=Future)
    _began_ns: int = 0

    def warmup(self) -> None:
        if self.tool.warmup:
            ran = self._run(self.tool.warmup, self.longest_s)
            _refuse_failed(ran, self.tool.warmup, self.tool.entry.good_exits)

    def begin(self, at_ns: int | None) -> None:
        self._began_ns = time.monotonic_ns() if at_ns is None else at_ns
        self._first = self.tool.host.submit_run(
            list(self.tool.commands[0]),
            timeout_s=self.longest_s,
            directory=self.tool.folder,
            environment=PLAIN_WORDS,
            start_at_monotonic_ns=None if at_ns is None else at_ns + self.clock.offset_ns,
        )

    def finish(self, deadline_ns: int) -> None:
        ran = read_ran(self._first.result(left_s(deadline_ns)))
        self.instance.began_ns = ran.started_monotonic_ns - self.clock.offset_ns
        self._keep(ran, self._began_ns)
        for words in self.tool.commands[1:]:
            started_ns = time.monotonic_ns()
            self._keep(self._run(words, left_s(deadline_ns)), started_ns)
        warmup_ns = self._own_warmup_ns()
        self.instance.window_ns = (self._began_ns + warmup_ns, time.monotonic_ns())
        ended_ns = self.instance.ran[-1].ran.ended_monotonic_ns - self.clock.offset_ns
        self.instance.work_ns = (self.instance.began_ns + warmup_ns, ended_ns)

    def cancel(self) -> None:
        if not self.tool.host.lost and not self._first.done():
            self.tool.host.cancel_runs()

    def end_background(self) -> float | None:
        if not self._first.done():
            self.tool.host.cancel_runs()
            self._first.result(60)
            return None
        ran = read_ran(self._first.result(0))
        self._refuse_failed(ran, 0)
        ended_ns = ran.ended_monotonic_ns - self.clock.offset_ns
        return (time.monotonic_ns() - ended_ns) / 1e9

    def _run(self, words: Sequence[str], timeout_s: float) -> Ran:
        tool = self.tool
        return tool.host.run(
            list(words), timeout_s=timeout_s, directory=tool.folder, environment=PLAIN_WORDS
        )

    def _own_warmup_ns(self) -> int:
        """What the tool itself drives before it measures."""
        if self.tool.entry.warmup != "itself":
            return 0
        return round(float(self.tool.values["warmup"] or 0) * 1e9)

    def _keep(self, ran: Ran, started_ns: int) -> None:
        span = (started_ns, time.monotonic_ns())
        if self.own_clock:
            span = (ran.started_monotonic_ns, ran.ended_monotonic_ns)
        self.instance.ran.append(Timed(ran, *span))
        if len(self.instance.ran) == 1:
            keep_outputs(self.tool, self.instance)
        self._refuse_failed(ran, len(self.instance.ran) - 1)

    def _refuse_failed(self, ran: Ran, number: int) -> None:
        good = self.tool.entry.good_exits if number == 0 else (0,)
        _refuse_failed(ran, self.tool.commands[number], good)


def left_s(deadline_ns: int) -> float:
    """Seconds until a moment of the controller's clock, none if it has passed."""
    return max(0.0, (deadline_ns - time.monotonic_ns()) / 1e9)


def _refuse_failed(ran: Ran, words: Sequence[str], good: Sequence[int]) -> None:
    if ran.timed_out:
        raise TrialFailed(
            Outcome.TIMED_OUT,
            f"`{words[0]}` did not end in its time",
            "give it more time with `timeout`, which bounds programs where every workload is one",
        )
    if ran.exit_code not in good:
        how = f"exit code {ran.exit_code}" if ran.signal is None else f"signal {ran.signal}"
        said = (ran.stderr or ran.stdout).strip()[-_WORDS_KEPT:]
        raise TrialFailed(
            Outcome.COMMAND_FAILED,
            f"`{words[0]}` ended with {how}: {said or 'it said nothing'}",
            "run the command by hand on the system",
        )
