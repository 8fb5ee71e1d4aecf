"""The latency probe: one operation after the other by the clock, while the load runs.

Its agent is one of its own, so that it shares no thread with the load, on the machine of the
generator. It has the warm-up and the window of the load; beside a load that ends by a number of
operations it ends with that, and what it had under way then counts for nothing.
"""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field

from steelyard.engine.agent import AgentRefusal
from steelyard.hosts.clocks import ClockOffset
from steelyard.hosts.host import Host, read_load
from steelyard.records.missing import Quoted
from steelyard.trial.attempt.instance import Instance
from steelyard.trial.drive.drivers import left_s

_ANSWERED_S = 30.0


@dataclass
class ProbeDrive:
    """The probe of one instance. ``open_ended``: it ends with the load, not by itself."""

    instance: Instance
    prober: Host
    clock: ClockOffset
    job: dict[str, object]
    open_ended: bool
    _answer: Future[dict[str, object]] = field(default_factory=Future)

    def begin(self, at_ns: int) -> None:
        """Asks for it, to start with the load at that moment of the controller's clock."""
        at = {"start_at_monotonic_ns": at_ns + self.clock.offset_ns}
        self._answer = self.prober.start_load(self.job | at)

    def finish(self, deadline_ns: int) -> None:
        """Keeps what came of it, once the load is over; a refusal is why there is nothing.

        Raises:
            EngineError, TimeoutError: its agent is gone, or it did not end in time.
        """
        if self.open_ended:
            self.cancel()
        try:
            self.instance.probe = read_load(
                self._answer.result(_ANSWERED_S if self.open_ended else left_s(deadline_ns))
            )
        except AgentRefusal as refusal:
            said = refusal.failure.message
            self.instance.probe_missing = Quoted(kind="probe_refused", said=said)

    def cancel(self) -> None:
        """Ends it early; nothing if it has ended."""
        if not self.prober.lost and not self._answer.done():
            self.prober.cancel_load()
