"""How the variation divides, in whole percent that sum to 100."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.judge.analyses.factors.findings import InfluenceFinding
from steelyard.report.sentences.influence import name_of

MOST_NAMED = 4
OTHER, NOISE = "other terms", "noise"
_LEAST = 0.01


@dataclass(frozen=True)
class Part:
    """One part of all variation; ``colour`` is its place among the colours, ``None`` of noise."""

    name: str
    percent: int
    colour: int | None


def divided(found: InfluenceFinding) -> list[Part]:
    """The largest terms, all others together, and noise; empty where there are no shares."""
    if not found.shares:
        return []
    terms = sorted((s for s in found.shares if s.kind != NOISE), key=lambda s: -s.share)
    named = [s for s in terms if s.kind == "effect" and s.share >= _LEAST][:MOST_NAMED]
    noise = sum(s.share for s in found.shares if s.kind == NOISE)
    rest = sum(s.share for s in terms if s not in named)
    parts = [(name_of(each.factors), each.share) for each in named]
    parts += [(OTHER, rest), (NOISE, noise)]
    whole = whole_percents([share for _, share in parts])
    return [
        Part(name, percent, None if name == NOISE else place)
        for place, ((name, _), percent) in enumerate(zip(parts, whole, strict=True))
        if percent
    ]


def whole_percents(shares: Sequence[float]) -> list[int]:
    """Rounded so that they sum to 100: what rounding down leaves goes to the largest remainders."""
    total = sum(shares)
    if total <= 0:
        return [0 for _ in shares]
    exact = [100 * share / total for share in shares]
    whole = [int(each) for each in exact]
    by_rest = sorted(range(len(exact)), key=lambda place: whole[place] - exact[place])
    for place in by_rest[: 100 - sum(whole)]:
        whole[place] += 1
    return whole
