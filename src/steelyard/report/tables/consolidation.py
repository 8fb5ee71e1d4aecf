"""Several instances against one alone, in words and one table."""

from __future__ import annotations

import math

from steelyard.judge.analyses.consolidation.findings import (
    ConsolidationFinding,
    InstancesApart,
    RatioFinding,
)
from steelyard.report import notes as reasons
from steelyard.report.effects import signed_effect
from steelyard.report.figures import fixed, quantity
from steelyard.report.view import NONE, Table, View
from steelyard.study.labels import Labels

TITLE = "Several at once"


def consolidation_table(view: View) -> Table:
    """One row for each system and number of instances."""
    head = ("System", "Condition", "Instances", "Together", "Of one alone", "Each", "Slowest",
            "Slowdown of each", "Slowest over fastest", "Fairness", "As it is",
            "Visits")  # fmt: skip
    rows = tuple(_texts(found, view.run.labels) for found in view.own.consolidation)
    every = (each for found in view.own.consolidation for each in found.missing)
    missing = dict.fromkeys(each for each in every if not isinstance(each, InstancesApart))
    notes = tuple(f"{each}." for each in reasons.texts(missing, view.run.labels))
    return Table(TITLE, head, rows, frozenset({2, 3, 4, 5, 6, 8, 9, 10, 11}), notes)


def _texts(found: ConsolidationFinding, labels: Labels) -> tuple[str, ...]:
    slower = ", ".join(f"{fixed(math.exp(each.slowdown.log), 2)}" for each in found.slowdowns)
    return (
        found.system,
        labels.conditions(found.conditions) or "all trials",
        str(found.instances),
        NONE if found.total is None else quantity(found.total, found.unit),
        NONE if found.scale is None else f"{fixed(math.exp(found.scale.log), 2)} times",
        _size(found.density),
        _size(found.least),
        slower or NONE,
        _size(found.worst_over_best),
        NONE if found.fairness is None else fixed(found.fairness, 4),
        NONE if found.fairness_raw is None else fixed(found.fairness_raw, 4),
        str(found.visits),
    )


def _size(found: RatioFinding | None) -> str:
    return NONE if found is None else signed_effect(found.log)
