"""Conclusions held against the table: each pair of values that a claim speaks of, one by one.

Values that rounding leaves indistinguishable neither support nor contradict a claim. One of which
all values are such is not decided: a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from steelyard.consistency.cells import Cell
from steelyard.consistency.claims_file import Claim, Comparison
from steelyard.consistency.findings import Cause, Finding, Rule, Severity
from steelyard.consistency.making import found
from steelyard.consistency.printed import Interval

Pair = tuple[Cell, Cell]


def check(claims: Sequence[Claim]) -> Iterator[Finding]:
    """One finding for each claim that a pair contradicts, or that no pair decides."""
    for claim in claims:
        answers = [(pair, _answer(claim, *pair)) for pair in claim.pairs]
        against = [pair for pair, answer in answers if answer is False]
        if against:
            yield _contradicted(claim, against)
        elif all(answer is None for _, answer in answers):
            yield _undecided(claim)


def _contradicted(claim: Claim, pairs: Sequence[Pair]) -> Finding:
    cell, other = max(pairs, key=lambda pair: _away(*pair))
    low, high = _bounds(claim, cell, other)
    made = found(Rule.CLAIM, cell, low=low, high=high, others=[other],
                 count=len(pairs), of=len(claim.pairs))  # fmt: skip
    return replace(made, claim=claim.text)


def _undecided(claim: Claim) -> Finding:
    """Without bounds: what was printed may lie on either side of them."""
    cell, other = max(claim.pairs, key=lambda pair: _away(*pair))
    every = len(claim.pairs)
    made = found(Rule.CLAIM, cell, cause=Cause.TIED, others=[other], count=every, of=every)
    return replace(made, claim=claim.text, severity=Severity.WARNING)


def _answer(claim: Claim, cell: Cell, other: Cell) -> bool | None:
    """Whether the pair is as claimed; ``None`` where rounding does not say."""
    low, high = _bounds(claim, cell, other)
    half = other.interval.half_width
    if low is not None and high is not None:
        wanted = Interval(low - half, high + half)
        return None if not _within(cell.interval, wanted) and cell.interval.meets(
            wanted) else cell.interval.meets(wanted)  # fmt: skip
    if low is not None:
        bound = Interval(low - half, low + half)
        return None if cell.interval.meets(bound) else cell.number.value > low
    bound = Interval((high or 0.0) - half, (high or 0.0) + half)
    return None if cell.interval.meets(bound) else cell.number.value < (high or 0.0)


def _within(inner: Interval, outer: Interval) -> bool:
    return outer.low <= inner.low and inner.high <= outer.high


def _bounds(claim: Claim, cell: Cell, other: Cell) -> tuple[float | None, float | None]:
    """What the claim leaves to the value of its subject."""
    value = other.number.value
    if claim.relation is Comparison.EQUAL:
        return value * (1 - claim.by), value * (1 + claim.by)
    upward = {Comparison.HIGHER: True, Comparison.LOWER: False}.get(claim.relation)
    if upward is None:
        better = claim.relation is Comparison.BETTER
        upward = (cell.row.get("direction") == "higher") == better
    return (value * (1 + claim.by), None) if upward else (None, value * (1 - claim.by))


def _away(cell: Cell, other: Cell) -> float:
    value = other.number.value
    return abs(cell.number.value - value) / abs(value) if value else 0.0
