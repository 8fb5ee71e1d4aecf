"""A run in the forms of programs that keep a history: Bencher, benchstat, github-action-benchmark.

They have a place for medians and for single values, and none for a verdict. What such a program
compares later are figures of different runs, which nothing has randomised against each other.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from steelyard.judge.findings import CellFinding, ResponseFinding, RunFindings
from steelyard.report.view import views
from steelyard.report.vocabulary import response_of

_NS_OF = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}

_Better = Literal["lower", "higher"]
BETTER: dict[str, _Better] = {"smaller": "lower", "bigger": "higher"}
"""Directions by the words of github-action-benchmark."""


class _Row(NamedTuple):
    """One response of one cell that has values; ``place`` names workload, system and conditions."""

    place: dict[str, str]
    response: ResponseFinding
    cell: CellFinding
    median: float

    @property
    def name(self) -> str:
        return "/".join(f"{key}={value}" for key, value in self.place.items())


def bmf_text(run: RunFindings) -> str:
    """Bencher Metric Format: for each cell its responses, as median and interval."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in _rows(run):
        ends = {"lower_value": row.cell.low, "upper_value": row.cell.high}
        known = {key: value for key, value in ends.items() if value is not None}
        measure = "-".join(filter(None, (row.response.name, _word(row.response.unit))))
        found.setdefault(row.name, {})[measure] = {"value": row.median, **known}
    return json.dumps(found, indent=2) + "\n"


def benchfmt_text(run: RunFindings) -> str:
    """The format of Go's benchmarks, which benchstat reads: a line for each trial.

    Times are in nanoseconds, as benchstat expects them; the number of iterations is always 1.
    """
    lines = [f"study: {_one_line(run.study)}", f"run: {_one_line(run.run)}", ""]
    for row in _rows(run):
        place = "/".join(f"{_word(key)}={_word(value)}" for key, value in row.place.items())
        factor = _NS_OF.get(row.response.unit)
        unit = "ns" if factor is not None else _word(row.response.unit) or "count"
        measure = f"{_word(row.response.name)}-{unit}"
        lines += [
            f"BenchmarkTrial/{place} 1 {value * (factor or 1.0)!r} {measure}"
            for value in row.cell.values
        ]
    return "\n".join(lines) + "\n"


def action_text(run: RunFindings, better: _Better) -> str:
    """What github-action-benchmark reads as ``customSmallerIsBetter`` or ``customBiggerIsBetter``.

    Only the responses of that direction.
    """
    rows: list[dict[str, Any]] = [
        {"name": f"{row.name} {row.response.name}", "unit": row.response.unit, "value": row.median}
        | _range(row.cell)
        for row in _rows(run)
        if row.response.direction == better
    ]
    return json.dumps(rows, indent=2) + "\n"


def _range(cell: CellFinding) -> dict[str, str]:
    if cell.low is None or cell.high is None:
        return {}
    return {"range": f"{cell.low:.6g}..{cell.high:.6g}"}


def _rows(run: RunFindings) -> Iterator[_Row]:
    for view in views(run):
        several = len(run.workloads) > 1
        for cell in view.own.cells:
            if cell.median is None:
                continue
            place = {"workload": view.own.name} if several else {}
            place["system"] = cell.cell.system
            place |= {
                factor: run.labels.level(level, factor)
                for factor, level in cell.cell.conditions.items()
            }
            yield _Row(place, response_of(view, cell.response), cell, cell.median)


def _word(text: str) -> str:
    """Without what separates fields and parts of a name."""
    return re.sub(r"[^\w.+%-]+", "_", text).strip("_")


def _one_line(text: str) -> str:
    return " ".join(text.split())
