"""What is assumed of the noise, and the tests that follow: chosen once, asked by one interface."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Protocol

import numpy as np

from steelyard.inference import confidence, paired_t, sequential
from steelyard.inference.confidence import Interval, Rejections, Size
from steelyard.inference.estimate import Estimate, estimate
from steelyard.inference.robust import Floats
from steelyard.inference.sequential import Decision, Memory, VerdictWord, first_of, look_above
from steelyard.inference.stream import Stream

Engine = Literal["exact", "normal"]
"""The names of the assumptions, as studies give them."""


class Inference(Protocol):
    """One comparison under test. All ratios are natural logarithms, other over baseline."""

    @property
    def stream(self) -> Stream:
        """What is tested."""

    @property
    def welch(self) -> bool:
        """Whether Welch's test is one of them, for arms of unequal spread."""

    @property
    def mirrored(self) -> Inference:
        """The same with good and bad swapped: what is asked of low ends is then of high ends."""

    def estimate(self) -> Estimate | None:
        """The size of the effect; ``None`` without visits of both systems."""

    def decide(self, margin_log: float, alpha: float) -> Decision:
        """Faster, slower, equivalent, or nothing yet."""

    def excluded(self, bound: float, margin_log: float, alpha: float, /) -> int | None:
        """The look by which every ratio up to ``bound`` was rejected; ``None`` if not yet."""

    def sizes(
        self, margin_log: float, alphas: Sequence[float], estimate_log: float, /
    ) -> list[Size]:
        """The ratios that are not rejected, with each of the rates at either end."""


class Assumption(Protocol):
    """What is taken for granted of the noise.

    ``in_pairs``: only whole pairs of visits count. ``by_orders``: the tests rest on the orders
    that might have been drawn. ``extensible``: part of the error rate is kept for an extension of
    the budget. ``adjusts``: covariates of the visits are taken out.
    """

    @property
    def in_pairs(self) -> bool: ...
    @property
    def by_orders(self) -> bool: ...
    @property
    def extensible(self) -> bool: ...
    @property
    def adjusts(self) -> bool: ...

    def tests(self, stream: Stream) -> Inference:
        """The tests of one comparison."""


@dataclass(frozen=True)
class Robust:
    """Nothing of the noise: the re-randomisation test, and Welch's for unequal spreads.

    ``memory`` keeps the tests of the first visits, for who judges again after every visit.
    """

    in_pairs = False
    by_orders = True
    extensible = True
    adjusts = True
    memory: Memory | None = None

    def tests(self, stream: Stream) -> Inference:
        """The tests of one comparison."""
        return RobustInference(Rejections(stream), self.memory)


@dataclass(frozen=True)
class PairedNormal:
    """Differences within pairs that are normal, independent and centred at one ratio."""

    in_pairs = True
    by_orders = False
    extensible = False
    adjusts = False

    def tests(self, stream: Stream) -> Inference:
        """The tests of one comparison."""
        return PairedInference(replace(stream, covariate=None))


def assumption_of(engine: Engine, memory: Memory | None = None) -> Assumption:
    """The assumption that a study names."""
    return Robust(memory) if engine == "exact" else PairedNormal()


@dataclass(frozen=True)
class RobustInference:
    welch = True
    side: Rejections
    memory: Memory | None

    @property
    def stream(self) -> Stream:
        return self.side.stream

    @property
    def mirrored(self) -> Inference:
        return RobustInference(self.side.mirrored, self.memory)

    def estimate(self) -> Estimate | None:
        stream = self.stream
        return estimate(
            stream.values, stream.other, whiten=not stream.once, covariate=stream.covariate
        )

    def decide(self, margin_log: float, alpha: float) -> Decision:
        return sequential.decide(self.side, margin_log, alpha, self.memory)

    def excluded(self, bound: float, margin_log: float, alpha: float) -> int | None:
        return sequential.excluded(self.side, bound, margin_log, alpha)

    def sizes(self, margin_log: float, alphas: Sequence[float], estimate_log: float) -> list[Size]:
        return confidence.sizes(self.side, margin_log, alphas, estimate_log)


class PairedInference:
    """A sequential t test on the differences of pairs: what it rejects is a half-line."""

    welch = False

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self._below: dict[float, Floats] = {}

    @cached_property
    def mirrored(self) -> PairedInference:
        return PairedInference(self.stream.mirrored())

    def estimate(self) -> Estimate | None:
        return paired_t.estimate(self.stream.values, self.stream.other)

    def decide(self, margin_log: float, alpha: float) -> Decision:
        either = [side.rejected_to(-margin_log, alpha) for side in (self, self.mirrored)]
        looks = [look for look in either if look is not None]
        return first_of(
            {
                VerdictWord.FASTER: self.rejected_to(0.0, alpha / 2),
                VerdictWord.SLOWER: self.mirrored.rejected_to(0.0, alpha / 2),
                VerdictWord.EQUIVALENT: max(looks) if len(looks) == len(either) else None,
            }
        )

    def excluded(self, bound: float, _margin_log: float, alpha: float) -> int | None:
        """Here the re-randomisation test of the pairs must have rejected the bound as well."""
        if Rejections(self.stream).looks(np.array([bound]), alpha) == [None]:
            return None
        return self.rejected_to(bound, alpha)

    def sizes(self, _margin_log: float, alphas: Sequence[float], estimate_log: float) -> list[Size]:
        found = []
        for alpha in alphas:
            low, high = self.low_end(alpha), self.mirrored.low_end(alpha)
            constant = Interval.of_ends(low, high)
            found.append(Size(confidence.with_estimate([constant], estimate_log), constant))
        return found

    def rejected_to(self, bound: float, alpha: float) -> int | None:
        """The look by which all ratios up to the bound were rejected."""
        return look_above(self.below(alpha), self.stream, bound)

    def low_end(self, alpha: float) -> float | None:
        low = float(self.below(alpha)[-1])
        return None if math.isinf(low) else low

    def below(self, alpha: float) -> Floats:
        """The ratio below which all are rejected, after each look."""
        stream = self.stream
        if alpha not in self._below:
            self._below[alpha] = paired_t.rejected_below(
                stream.values, stream.other, stream.horizon, alpha
            )
        return self._below[alpha]
