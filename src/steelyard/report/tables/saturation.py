"""Where throughput peaks, saturates or falls back, in words, rows and one table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from steelyard.judge.analyses.scaling.findings import ScalingFinding
from steelyard.report import notes
from steelyard.report.effects import signed_effect
from steelyard.report.figures import counted, percent, quantity, span
from steelyard.report.sentences.saturation import fall_ends, level_text
from steelyard.report.view import NONE, Table, View
from steelyard.study.labels import Labels

TITLE = "Where it saturates"


def saturation_table(view: View) -> Table:
    """One row for each curve."""
    head = ("System", "Condition", "Peak at", "Interval", "Most", "Knee",
            "Highest load against best before",
            "Noise", "Visits", "Left out, or not stated")  # fmt: skip
    rows = tuple(_texts(found, view.run.labels) for found in view.own.scaling)
    rises = any(found.fall is not None and found.fall.low_log > 0 for found in view.own.scaling)
    note = (f"{head[6]}: above 0, throughput still rises at the highest load.",) if rises else ()
    return Table(TITLE, head, rows, frozenset({2, 3, 4, 5, 6, 7, 8}), note)


def _texts(found: ScalingFinding, labels: Labels) -> tuple[str, ...]:
    peak = found.peak if found.peak_stated else None
    most = max((level.smooth for level in found.levels), default=None)
    left_out = notes.texts([*found.dropped, *found.refusals], labels)
    return (
        found.system,
        labels.conditions(found.conditions) or "all trials",
        NONE if peak is None or peak.at is None else level_text(peak.at),
        NONE if peak is None or peak.at_high is None
        else span(level_text(peak.at_low), level_text(peak.at_high)),
        NONE if most is None else quantity(most, found.unit),
        NONE if found.knee is None else level_text(found.knee.at),
        NONE if found.fall is None
        else signed_effect(found.fall.change_log, beside=fall_ends(found.fall)),
        NONE if found.noise_log is None else percent(found.noise_log),
        counted(found.visits, "visit"),
        "; ".join(left_out) or NONE,
    )  # fmt: skip


def saturation_rows(view: View) -> Iterator[dict[str, Any]]:
    """Rows of the flat table: each capacity, each curve's peak, each level of a typical visit."""
    for capacity in view.own.capacities:
        yield {f"condition.{name}": level for name, level in capacity.conditions.items()} | {
            "kind": "capacity",
            "response": capacity.name,
            "unit": capacity.unit,
            "system": capacity.system,
            "median": capacity.median,
            "low": capacity.low,
            "high": capacity.high,
            "interval_level": capacity.interval_level,
            "n": capacity.searches or len(capacity.values),
            "note": "; ".join(notes.texts(capacity.not_found, view.run.labels)),
        }
    for found in view.own.scaling:
        shared = {"response": found.response, "system": found.system, "n": found.visits}
        places = {f"condition.{name}": level for name, level in found.conditions.items()}
        peak = found.peak
        yield (
            shared
            | places
            | {
                "kind": "peak",
                "unit": found.factor,
                "value": None if peak is None else peak.at,
                "low": None if peak is None else peak.at_low,
                "high": None if peak is None else peak.at_high,
                "interval_level": None if peak is None else peak.interval_level,
                "note": "; ".join(notes.texts(found.refusals, view.run.labels)),
            }
        )
        for level in found.levels:
            yield (
                shared
                | places
                | {
                    "kind": "level",
                    "unit": found.unit,
                    f"condition.{found.factor}": f"{level.level:g}",
                    "value": level.throughput,
                    "n": level.visits,
                }
            )
