"""How far two clocks are apart, from exchanges of four stamps.

The controller stamps a request when it leaves and the reply when it comes; the agent stamps both
at its end. However the two ways share the round trip, the true offset lies within half of it
(D. L. Mills, Network Time Protocol, RFC 5905, section 8): the exchange with the shortest round
trip is the one that knows best.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class ClockExchange:
    """One question and its answer, all on ``CLOCK_MONOTONIC`` of either machine."""

    sent_ns: int
    """Of the controller."""
    received_ns: int
    """Of the machine."""
    replied_ns: int
    """Of the machine."""
    returned_ns: int
    """Of the controller."""

    @property
    def round_trip_ns(self) -> int:
        """Time on the way, both ways, without that spent at the other end."""
        return (self.returned_ns - self.sent_ns) - (self.replied_ns - self.received_ns)


@dataclass(frozen=True)
class ClockOffset:
    """What must be added to the controller's clock to get the machine's."""

    offset_ns: int
    uncertainty_ns: int
    """The true offset is at most this far away, as long as the clocks do not drift meanwhile."""
    at_ns: int
    """When this was so, on the controller's clock."""

    @classmethod
    def of(cls, exchanges: Iterable[ClockExchange]) -> ClockOffset:
        """From the exchange with the shortest round trip.

        Raises:
            ValueError: there is none.
        """
        best = min(exchanges, key=lambda exchange: exchange.round_trip_ns)
        there, back = best.received_ns - best.sent_ns, best.replied_ns - best.returned_ns
        return cls(
            offset_ns=(there + back) // 2,
            # Both halves are rounded: one more covers what that hides.
            uncertainty_ns=abs(best.round_trip_ns) // 2 + 1,
            at_ns=(best.sent_ns + best.returned_ns) // 2,
        )

    def there_ns(self, controller_ns: int) -> int:
        """A time of the controller's clock on the machine's."""
        return controller_ns + self.offset_ns


@dataclass(frozen=True)
class WallOffset:
    """How far the wall clock of a machine is ahead of the controller's; negative: behind it."""

    ahead_ns: int
    uncertainty_ns: int

    @classmethod
    def of(cls, offset: ClockOffset, there_ns: int, here_ns: int) -> WallOffset:
        """``there_ns`` and ``here_ns`` are by how much the wall clock of either is ahead of its
        own monotonic clock, between which ``offset`` lies.
        """
        return cls(offset.offset_ns + there_ns - here_ns, offset.uncertainty_ns)

    def differs_by(self, least_ns: int) -> bool:
        """Whether the two are further apart than this, for certain."""
        return abs(self.ahead_ns) - self.uncertainty_ns > least_ns


def drift_ppm(before: ClockOffset, after: ClockOffset) -> float:
    """How much faster the machine's clock ran than the controller's, in millionths.

    Raises:
        ValueError: both were measured at one instant.
    """
    return (after.offset_ns - before.offset_ns) * 1e6 / _between_ns(before, after)


def drift_uncertainty_ppm(before: ClockOffset, after: ClockOffset) -> float:
    """How far :func:`drift_ppm` may be from the truth."""
    return (after.uncertainty_ns + before.uncertainty_ns) * 1e6 / _between_ns(before, after)


def _between_ns(before: ClockOffset, after: ClockOffset) -> int:
    if after.at_ns <= before.at_ns:
        raise ValueError("the second offset was not measured after the first")
    return after.at_ns - before.at_ns
