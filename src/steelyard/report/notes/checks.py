"""What a reader may check of a study itself: order, drift, carry-over, changed facts."""

from __future__ import annotations

from steelyard.judge.kinds.checks import (
    CarryOverEffect,
    DriftPerVisit,
    FactChanged,
    FactsFollow,
    OrderDrawn,
    ScreeningOrderDrawn,
)
from steelyard.report.effects import interval
from steelyard.report.figures import listed
from steelyard.report.notes.registry import writes

_ORDERS = {
    "big_stick": "big-stick design, tolerance 2",
    "pairs": "pairs of visits, each in random order",
    "double_blocks": "random blocks that hold every system twice",
    "blocks": "random complete blocks",
}


@writes(OrderDrawn)
def _order_drawn(note: OrderDrawn) -> str:
    return f"Random assignment: {_ORDERS[note.design]}, seed {note.seed}"


@writes(ScreeningOrderDrawn)
def _screening_order_drawn(note: ScreeningOrderDrawn) -> str:
    return f"Cells of the screening in random order within each replicate, seed {note.seed}"


@writes(DriftPerVisit)
def _drift_per_visit(note: DriftPerVisit) -> str:
    seen = "no drift seen" if note.low_log <= 0 <= note.high_log else "drift"
    ends = interval(note.low_log, note.high_log, estimate_log=0.0)
    return (
        f"{note.other} against {note.baseline}: {seen}, {ends} per visit (95 % interval, visits "
        "taken as independent)"
    )


@writes(CarryOverEffect)
def _carry_over_effect(note: CarryOverEffect) -> str:
    ends = interval(note.low_log, note.high_log, estimate_log=0.0)
    return (
        f"{note.other} against {note.baseline}: carry-over effect on {note.system} {ends} (95 % "
        "interval)"
    )


@writes(FactChanged)
def _fact_changed(note: FactChanged) -> str:
    return f"The fact {note.fact} changed within a system during the study"


@writes(FactsFollow)
def _facts_follow(note: FactsFollow) -> str:
    return f"Derived from the level of {listed(note.factors)}, as declared: {listed(note.facts)}"
