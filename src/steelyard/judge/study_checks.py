"""What a reader may check of the study itself: order, drift, carry-over, changing facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import expm1

from steelyard.inference.diagnostics import carry_over, drift_per_visit
from steelyard.judge.comparison import Judged
from steelyard.judge.confounders import varying_facts
from steelyard.plan.model import Plan
from steelyard.records.schema import TrialRecord

_COINS = {
    "big_stick": "big-stick coin, tolerance 2",
    "pairs": "pairs of visits, a coin for each",
    "double_blocks": "random blocks that hold every system twice",
    "blocks": "random complete blocks",
}


def diagnostics(
    plan: Plan, judged: Iterable[Judged], records: Sequence[TrialRecord]
) -> Iterator[str]:
    """One sentence each. ``judged`` are the overall comparisons of the primary response."""
    if plan.visits:
        yield f"Order drawn by {_COINS[plan.design]}, seed {plan.seed}."
    if plan.screen is not None:
        yield f"Cells of the screening in random order within each replicate, seed {plan.seed}."
    for each in judged:
        yield from _of_comparison(each)
    for fact in varying_facts(records):
        yield f"The fact {fact} changed within a system during the study."


def _of_comparison(judged: Judged) -> Iterator[str]:
    series = judged.series.defined()
    if series.problems:
        return
    name = f"{judged.comparison.pair.other} against {judged.comparison.pair.baseline}"
    drift = drift_per_visit(series.values, series.other)
    if drift is not None:
        seen = "no drift seen" if drift[0] <= 0 <= drift[1] else "drift"
        low, high = map(expm1, drift)
        yield (
            f"{name}: {seen}, {low:+.2%}..{high:+.2%} a visit (95 % interval, as if visits were "
            "independent)."
        )
    left = carry_over(series.values, series.other, series.slots, series.before)
    if left is not None:
        low, high = expm1(left.low_log), expm1(left.high_log)
        yield (f"{name}: left behind by the visit before, {low:+.2%}..{high:+.2%} (95 % interval).")
