"""From the verdicts on several systems to their order.

Two systems are distinguished by the verdict on their own pair, or by intervals against the baseline
that do not meet. Pairs that the study did not compare are judged for the order alone, as a family
with a rate of its own. All verdicts of a family are right together with probability
``1 - alpha``, and so is what follows from them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from steelyard.inference.sequential import VerdictWord
from steelyard.judge.analyses.ranking.findings import Neighbours, PlaceFinding, RankingFinding
from steelyard.judge.comparisons.comparison import Judged
from steelyard.judge.findings import ResponseFinding, VerdictFinding
from steelyard.plan.model import Plan
from steelyard.study.model import Level

_FEWEST = 3


def rankings(
    systems: Sequence[str],
    plan: Plan,
    response: ResponseFinding,
    verdicts: Sequence[VerdictFinding],
    beside: Sequence[Judged],
) -> Iterator[RankingFinding]:
    """The order by the primary response over all conditions; none of two systems.

    ``beside`` are the pairs that the study did not ask for. Without any, all pairs were compared
    at each condition, too, and there is an order at each.
    """
    if len(systems) < _FEWEST or response.direction == "none":
        return
    own = [v for v in verdicts if v.response == response.name]
    words = {(j.comparison.pair.baseline, j.comparison.pair.other): j.words for j in beside}
    sign = -1.0 if response.direction == "lower" else 1.0
    places: list[dict[str, Level] | None] = [None]
    places += plan.conditions if len(plan.conditions) > 1 and not beside else []
    for conditions in places:
        here = [v for v in own if v.conditions == conditions]
        if here:
            known = _Order(systems, here, words, sign)
            families = sum(v.alpha for v in here[:1]) + sum(j.comparison.alpha for j in beside[:1])
            yield RankingFinding(
                response=response.name,
                conditions=conditions,
                alpha=families,
                places=tuple(known.places()),
            )


@dataclass(frozen=True)
class _Known:
    """What is known of a system against the baseline; larger is better."""

    system: str
    estimate: float | None
    low: float = -math.inf
    high: float = math.inf


def _known(system: str, verdict: VerdictFinding | None, sign: float) -> _Known:
    """The interval of a verdict that stands; no bounds for one that was withheld."""
    if verdict is None or verdict.estimate_log is None:
        return _Known(system, None)
    estimate = sign * verdict.estimate_log
    if verdict.withheld:
        return _Known(system, estimate)
    low = -math.inf if verdict.low_log is None else verdict.low_log
    high = math.inf if verdict.high_log is None else verdict.high_log
    ends = sorted((sign * low, sign * high))
    return _Known(system, estimate, ends[0], ends[1])


class _Order:
    """Systems from the best to the worst, with all that the verdicts say of any two."""

    def __init__(
        self,
        systems: Sequence[str],
        verdicts: Sequence[VerdictFinding],
        beside: Mapping[tuple[str, str], tuple[VerdictWord, ...]],
        sign: float,
    ) -> None:
        self.sign = sign
        self.margin_log = verdicts[0].margin_log
        of_pair = {(v.baseline, v.other): v for v in verdicts}
        stands = {key: () if v.withheld else v.words for key, v in of_pair.items()}
        self.words = {**beside, **stands}
        first = _Known(systems[0], 0.0, 0.0, 0.0)
        rest = [_known(each, of_pair.get((systems[0], each)), sign) for each in systems[1:]]
        self.order = sorted(
            [first, *rest], key=lambda k: (k.estimate is None, -(k.estimate or 0.0))
        )

    def places(self) -> Iterator[PlaceFinding]:
        for place, each in enumerate(self.order):
            below = self.order[place + 1] if place + 1 < len(self.order) else None
            ends = sorted((self.sign * each.low, self.sign * each.high))
            yield PlaceFinding(
                system=each.system,
                best=1 + sum(self.better(other, each) for other in self.order),
                worst=len(self.order) - sum(self.better(each, other) for other in self.order),
                estimate_log=None if each.estimate is None else self.sign * each.estimate,
                low_log=ends[0] if math.isfinite(ends[0]) else None,
                high_log=ends[1] if math.isfinite(ends[1]) else None,
                next=None if below is None else self.next(each, below),
            )

    def better(self, one: _Known, another: _Known) -> bool:
        """Whether one is known to be better: by their own verdict, or by intervals apart."""
        if VerdictWord.FASTER in self.words.get((another.system, one.system), ()):
            return True
        if VerdictWord.SLOWER in self.words.get((one.system, another.system), ()):
            return True
        return one.low >= another.high and one.low > another.low

    def next(self, one: _Known, below: _Known) -> Neighbours:
        """How a system stands to the one below it."""
        if self.better(one, below) or self.better(below, one):
            return "apart"
        keys = ((one.system, below.system), (below.system, one.system))
        if any(VerdictWord.EQUIVALENT in self.words.get(key, ()) for key in keys):
            return "equivalent"
        within = max(one.high, below.high) - min(one.low, below.low) < self.margin_log
        return "equivalent" if within else "open"
