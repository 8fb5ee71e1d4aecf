"""The tests of one comparison by one interface: re-randomisation, and Welch's for unequal spreads.

All ratios are natural logarithms, other over baseline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.inference import confidence, sequential
from steelyard.inference.confidence import Rejections, Size
from steelyard.inference.estimate import Estimate
from steelyard.inference.machines import estimate_by_machine
from steelyard.inference.sequential import Decision, Memory
from steelyard.inference.stream import Stream


@dataclass(frozen=True)
class Inference:
    """One comparison under test."""

    side: Rejections

    @classmethod
    def of(cls, stream: Stream, memory: Memory | None = None) -> Inference:
        """``memory`` keeps the tests, for who judges more or fewer of the same visits as well."""
        return cls(Rejections(stream, None if memory is None else memory.of(stream)))

    @property
    def stream(self) -> Stream:
        """What is tested."""
        return self.side.stream

    @property
    def mirrored(self) -> Inference:
        """The same with good and bad swapped: what is asked of low ends is then of high ends."""
        return Inference(self.side.mirrored)

    def estimate(self) -> Estimate | None:
        """The size of the effect; ``None`` without visits of both systems."""
        return estimate_by_machine(self.stream)

    def decide(self, margin_log: float, alpha: float) -> Decision:
        """Faster, slower, equivalent, or nothing yet."""
        return sequential.decide(self.side, margin_log, alpha)

    def excluded(self, bound: float, margin_log: float, alpha: float) -> int | None:
        """The look by which every ratio up to ``bound`` was rejected; ``None`` if not yet."""
        return sequential.excluded(self.side, bound, margin_log, alpha)

    def excludes_now(self, bound: float, alpha: float) -> bool:
        """Whether Welch's test rejects every ratio up to ``bound`` at the present look alone."""
        return bool(self.side.lows(alpha)[-1] > bound)

    def sizes(self, margin_log: float, alphas: Sequence[float], estimate_log: float) -> list[Size]:
        """The ratios that are not rejected, with each of the rates at either end."""
        return confidence.sizes(self.side, margin_log, alphas, estimate_log)
