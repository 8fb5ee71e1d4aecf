"""Percentiles of response times under every condition, with intervals over trials."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from steelyard.judge.analyses.latency.findings import LatencyFinding, PercentileFinding
from steelyard.report.figures import Scale, percent, scale_for, significant
from steelyard.report.view import NONE, Table, View
from steelyard.report.vocabulary import compared_one
from steelyard.study.labels import Labels

TITLE = "Percentiles of response times"


def percentile_table(view: View) -> Table:
    """A row a cell; percentiles that no cell has get no column."""
    cells = view.own.latency
    shares = [
        each.share
        for place, each in enumerate(cells[0].percentiles if cells else ())
        if any(found.percentiles[place].value_ns is not None for found in cells)
    ]
    known = [p.value_ns for f in cells for p in f.percentiles if p.value_ns is not None]
    scale = scale_for(known, "ns")
    head = (
        compared_one(view.run), "Condition",
        *(f"{percent(share)} within, {scale.unit}" for share in shares), f"Slowest, {scale.unit}",
        "Answered", "Failed", "Trials",
    )  # fmt: skip
    rows = tuple(_row(found, shares, scale, view.run.labels) for found in cells)
    return Table(TITLE, head, rows, frozenset(range(2, len(head))), tuple(_notes(view)))


def _row(
    found: LatencyFinding, shares: list[float], scale: Scale, labels: Labels
) -> tuple[str, ...]:
    return (
        found.cell.system,
        labels.conditions(found.cell.conditions) or "all trials",
        *(_text(each, scale) for each in found.percentiles if each.share in shares),
        significant(found.tail[-1][0] / scale.divisor),
        f"{found.answered:,}",
        f"{found.failed:,}",
        str(found.trials),
    )


def _text(found: PercentileFinding, scale: Scale) -> str:
    if found.value_ns is None:
        return NONE
    value = significant(found.value_ns / scale.divisor)
    if found.low_ns is None or found.high_ns is None:
        return value
    low, high = (significant(end / scale.divisor) for end in (found.low_ns, found.high_ns))
    return f"{value} ({low} to {high})"


def _notes(view: View) -> Iterator[str]:
    cells = view.own.latency
    if not cells:
        return
    level = percent(cells[0].percentiles[0].interval_level)
    yield (
        "Of each trial its percentile, failed operations taken as the slowest; shown is the median "
        f"over the trials with its {level} interval, which needs six trials. Failed operations "
        "are not among the answered ones; some may never have been sent."
    )
    needed = {p.share: p.needed for f in cells for p in f.percentiles if p.value_ns is None}
    if needed:
        wants = ", ".join(f"{percent(share)} {count:,}" for share, count in sorted(needed.items()))
        yield f"Not given without ten operations above it in every trial: {wants} operations."


def flat_percentile_rows(found: LatencyFinding) -> Iterator[dict[str, Any]]:
    """Every percentile, unrounded, for the flat file."""
    levels = {f"condition.{factor}": at for factor, at in found.cell.conditions.items()}
    for each in found.percentiles:
        yield levels | {
            "kind": "percentile",
            "response": f"response time {100 * each.share:g} %",
            "unit": "ns",
            "system": found.cell.system,
            "median": each.value_ns,
            "low": each.low_ns,
            "high": each.high_ns,
            "interval_level": each.interval_level,
            "n": each.trials,
        }
